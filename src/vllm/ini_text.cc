#include "vllm/ini_text.h"

#include "base/text.h"

namespace assay {

std::vector<IniLine> parse_ini(std::string_view text) {
  std::vector<IniLine> out;
  std::string section, key;
  uint32_t number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    std::string_view body = trim(line);
    if (body.empty() || body[0] == '#' || body[0] == ';') continue;
    bool indented = line[0] == ' ' || line[0] == '\t';
    if (!indented && body[0] == '[') {
      section = trim(body.substr(1, body.find(']') - 1));
      key.clear();
      continue;
    }
    if (indented && !key.empty()) {
      out.push_back({section, key, std::string(body), number});
      continue;
    }
    size_t equals = body.find_first_of("=:");
    key = trim(body.substr(0, equals));
    std::string_view value =
        equals == std::string_view::npos ? std::string_view() : trim(body.substr(equals + 1));
    out.push_back({section, key, std::string(value), number});
  }
  return out;
}

}  // namespace assay
