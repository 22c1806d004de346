// The INI dialect of Python's configparser, as far as entry_points.txt and setup.cfg use it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct IniLine {
  std::string section;
  std::string key;    // continuation lines repeat the key
  std::string value;  // of this line alone, trimmed
  uint32_t line = 0;  // 1-based
};

// Every line that says something, in order. `key =` is a line with an empty value; the indented lines behind
// it follow.
std::vector<IniLine> parse_ini(std::string_view text);

}  // namespace assay
