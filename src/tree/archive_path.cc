#include "tree/archive_path.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/text.h"

namespace assay {

std::string archive_path_fault(std::string_view path) {
  if (path.empty()) return "path is empty";
  if (path.size() > 4096) return "path is too long";
  if (!valid_utf8(path)) return "path is not valid UTF-8";
  if (path.find('\0') != std::string_view::npos) return "path contains a NUL byte";
  if (path.find('\\') != std::string_view::npos) return "path contains a backslash";
  if (path.front() == '/') return "path is absolute";
  if (path.size() > 1 && path[1] == ':' && std::isalpha(static_cast<unsigned char>(path[0]))) {
    return "path names a drive";
  }
  for (std::string_view part : split(path, '/')) {
    if (part == "..") return "path climbs out of the archive";
    if (part.empty() || part == ".") return "path is not normalised";
  }
  return {};
}

std::string project_top_folder(const std::vector<TreeEntry>& entries) {
  if (entries.empty()) return {};
  const size_t slash = entries.front().path.find('/');
  if (slash == std::string::npos) return {};
  const std::string top = entries.front().path.substr(0, slash + 1);
  bool project = false;
  for (const TreeEntry& entry : entries) {
    if (!entry.path.starts_with(top)) return {};
    const std::string_view rest = std::string_view(entry.path).substr(top.size());
    project |= rest == "pyproject.toml" || rest == "setup.py" || rest == "setup.cfg" || rest == "PKG-INFO";
  }
  return project ? top : std::string();
}

std::string byte_size_text(uint64_t bytes) {
  const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit < 6) {
    value /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace assay
