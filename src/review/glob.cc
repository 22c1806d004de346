#include "review/glob.h"

#include <fnmatch.h>

#include <string>
#include <vector>

#include "base/text.h"

namespace assay {

namespace {

using Parts = std::vector<std::string_view>;

bool part_matches(std::string_view pattern, std::string_view name) {
  return ::fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

// Whether the pattern takes the first parts of the path, or all of them. Row by row, so that many "**" cost
// no more than pattern × path.
bool matches(const Parts& pattern, const Parts& path) {
  std::vector<char> reached(path.size() + 1, 0);  // reached[j]: the pattern so far takes exactly path[0..j)
  reached[0] = 1;
  for (std::string_view part : pattern) {
    std::vector<char> next(path.size() + 1, 0);
    for (size_t j = 0; j <= path.size(); ++j) {
      if (part == "**") {
        next[j] = reached[j] || (j > 0 && next[j - 1]);
      } else if (j > 0) {
        next[j] = reached[j - 1] && part_matches(part, path[j - 1]);
      }
    }
    reached = std::move(next);
  }
  for (size_t j = 1; j <= path.size(); ++j)
    if (reached[j]) return true;
  return false;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view path) {
  if (pattern.starts_with("./")) pattern.remove_prefix(2);
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  if (pattern.ends_with('/')) pattern.remove_suffix(1);
  if (pattern.empty() || path.empty()) return false;
  return matches(split(pattern, '/'), split(path, '/'));
}

}  // namespace assay
