#include "tree/archive_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "tree/tar_tree.h"
#include "tree/zip_tree.h"

namespace assay {

bool is_archive_name(std::string_view path) {
  static constexpr std::string_view kEndings[] = {".whl",    ".zip",    ".tar",    ".tgz",
                                                  ".tar.gz", ".tar.xz", ".tar.bz2"};
  return std::any_of(std::begin(kEndings), std::end(kEndings), [&](auto e) { return path.ends_with(e); });
}

Expected<std::unique_ptr<Tree>> open_archive(const std::string& path, const std::string& spec) {
  const std::string& named = spec.empty() ? path : spec;
  struct stat info {};
  // Of a pipe, opening alone would wait for ever.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return fail(printable(named) + ": not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(printable(named) + ": " +
                (errno == ENOENT ? "no such file or directory" : std::strerror(errno)));
  char magic[6] = {};
  file.read(magic, sizeof magic);
  const std::string_view start(magic, static_cast<size_t>(file.gcount()));
  if (start.empty()) return fail(printable(named) + ": truncated archive: the file is empty");
  const bool zip = start.starts_with("PK\3\4") || start.starts_with("PK\5\6");
  const bool zip_name = path.ends_with(".whl") || path.ends_with(".zip");
  if (zip_name && !zip) return fail(printable(named) + ": not a zip archive, though its name says so");
  return zip ? open_zip(path, named) : open_tar(path, named);
}

}  // namespace assay
