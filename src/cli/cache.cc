#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "cli/commands.h"
#include "cli/output.h"

namespace assay {

namespace {

namespace fs = std::filesystem;

// A folder that somebody names by mistake loses nothing else: only the cache's own files, by name.
bool is_cache_file(const fs::path& path) { return path.filename().string().starts_with("facts"); }

std::string text_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Expected<fs::path> cache_folder(const Options& options) {
  if (!options.cache_dir.empty()) return fs::path(options.cache_dir);
  if (std::string xdg = text_variable("XDG_CACHE_HOME"); xdg.starts_with('/')) return fs::path(xdg) / "assay";
  if (std::string home = text_variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "assay";
  return fail(ErrorKind::kUsage, "no place for a cache: HOME is not set; name one with --cache-dir");
}

// Size of each file of the cache.
Expected<std::map<fs::path, uintmax_t>> cache_files(const fs::path& folder) {
  std::map<fs::path, uintmax_t> files;
  std::error_code error;
  if (!fs::exists(folder, error)) return files;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    if (it->is_regular_file(gone) && is_cache_file(it->path())) files[it->path()] = it->file_size(gone);
  }
  if (error)
    return fail(fmt::format("cannot read the cache folder {}: {}", folder.string(), error.message()));
  return files;
}

Expected<std::string> clear(const std::map<fs::path, uintmax_t>& files) {
  for (const auto& [path, unused] : files) {
    std::error_code error;
    fs::remove(path, error);
    if (error) return fail(fmt::format("cannot remove {}: {}", path.string(), error.message()));
  }
  return fmt::format("removed {} file{}\n", files.size(), files.size() == 1 ? "" : "s");
}

std::string show(const fs::path& folder, const std::map<fs::path, uintmax_t>& files) {
  uintmax_t bytes = 0;
  for (const auto& [unused, size] : files) bytes += size;
  return fmt::format("{}: {} file{}, {:.1f} MB\n", folder.string(), files.size(),
                     files.size() == 1 ? "" : "s", static_cast<double>(bytes) / 1e6);
}

}  // namespace

Expected<ExitCode> cache_command(const Options& options) {
  std::string action = options.action.empty() ? "show" : options.action;
  if (action != "show" && action != "clear") return unknown_name("cache action", action, {"show", "clear"});
  auto folder = cache_folder(options);
  if (!folder) return tl::make_unexpected(folder.error());
  auto files = cache_files(*folder);
  if (!files) return tl::make_unexpected(files.error());
  Expected<std::string> said = action == "clear" ? clear(*files) : show(*folder, *files);
  if (!said) return tl::make_unexpected(said.error());
  auto written = write_output("", *said);
  if (!written) return tl::make_unexpected(written.error());
  return kExitClean;
}

}  // namespace assay
