#include "git/source.h"

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "git/git_tree.h"
#include "git/pypi.h"
#include "tree/archive_tree.h"
#include "tree/directory_tree.h"
#include "tree/installed_tree.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// Both PATH and REV may contain '@' ("a@b@HEAD@{1}"): the longest path that exists counts.
size_t revision_sign(const std::string& spec) {
  for (size_t at = spec.rfind('@'); at != std::string::npos && at > 0; at = spec.rfind('@', at - 1)) {
    if (is_folder(spec.substr(0, at))) return at;
  }
  return std::string::npos;
}

std::string default_cache_dir() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
    return std::string(cache) + "/assay";
  const char* home = std::getenv("HOME");
  return std::string(home ? home : "/tmp") + "/.cache/assay";
}

Expected<std::unique_ptr<Tree>> open_path(const std::string& spec) {
  if (is_folder(spec)) return open_directory(spec);
  if (is_archive_name(spec)) return open_archive(spec);
  return fail(printable(spec) + ": neither a folder nor an archive (.whl, .zip, .tar.gz, .tar.xz, .tar.bz2)");
}

Expected<std::unique_ptr<Tree>> open_release(const std::string& spec, const std::string& python,
                                             const std::string& cache_dir) {
  auto file = fetch_release(spec.substr(5), python, cache_dir, spec);
  if (!file) return tl::unexpected<Error>(file.error());
  if (auto tree = open_archive(*file, spec)) return tree;
  // Damaged since it was fetched, for pip checks what it fetches: once more.
  std::error_code ignored;
  fs::remove_all(fs::path(*file).parent_path(), ignored);
  file = fetch_release(spec.substr(5), python, cache_dir, spec);
  if (!file) return tl::unexpected<Error>(file.error());
  return open_archive(*file, spec);
}

Expected<std::unique_ptr<Tree>> open_any(const std::string& spec, const SourceOptions& options) {
  const std::string shown = printable(without_credentials(spec));
  if (spec.empty()) return fail("an empty name is no source");
  if (exists(spec)) return open_path(spec);
  if (spec.starts_with("installed:")) {
    const std::string python = spec.substr(10);
    if (python.empty()) return fail(shown + ": wants installed:PYTHON");
    if (options.package.empty()) return fail(shown + ": which package of that interpreter is not known");
    return open_installed(python, options.package, spec);
  }
  if (spec.starts_with("pypi:")) {
    const std::string cache_dir = options.cache_dir.empty() ? default_cache_dir() : options.cache_dir;
    return open_release(spec, options.python, cache_dir);
  }
  if (spec.find("://") != std::string::npos) {
    return fail(
        shown +
        ": is a URL; assay reads folders, archives, git repositories on this machine and pypi: releases");
  }
  const size_t at = revision_sign(spec);
  if (at != std::string::npos) {
    const std::string path = spec.substr(0, at);
    const std::string revision = spec.substr(at + 1);
    if (revision.empty()) return fail(shown + ": names no revision after '@'");
    return revision == ":index" ? open_index(path, spec) : open_revision(path, revision, spec);
  }
  return fail(shown + ": no such file or directory");
}

}  // namespace

Expected<std::shared_ptr<Tree>> open_source(const std::string& spec, const SourceOptions& options) {
  auto tree = open_any(spec, options);
  if (!tree) return tl::unexpected<Error>(tree.error());
  return std::shared_ptr<Tree>(std::move(*tree));
}

}  // namespace assay
