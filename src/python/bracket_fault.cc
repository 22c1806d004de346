#include "python/bracket_fault.h"

#include <algorithm>
#include <array>
#include <vector>

#include "python/skip_string.h"

namespace assay {
namespace {

// Words that start a statement and can't stand in brackets (`if`, `for` and the like can).
bool starts_statement(std::string_view line) {
  static constexpr std::array<std::string_view, 8> kStarts = {"def ",       "class ", "import ", "from ",
                                                              "async def ", "@",      "return ", "try:"};
  for (std::string_view s : kStarts) {
    if (line.substr(0, s.size()) == s) return true;
  }
  return false;
}

char partner(char close) { return close == ')' ? '(' : close == ']' ? '[' : '{'; }

BracketFault never_closed(std::string_view text, uint32_t byte) {
  return {byte, std::string("'") + text[byte] + "' was never closed"};
}

}  // namespace

std::optional<BracketFault> find_bracket_fault(std::string_view text) {
  std::vector<uint32_t> open;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    auto at = static_cast<uint32_t>(i);
    if (c == '"' || c == '\'') {
      SkippedString s = skip_string(text, i);
      if (!s.closed) return BracketFault{at, "unterminated string literal"};
      i = s.end;
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '(' || c == '[' || c == '{') open.push_back(at);
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) return BracketFault{at, std::string("unmatched '") + c + "'"};
      if (text[open.back()] != partner(c)) {
        return BracketFault{
            at, std::string("closing '") + c + "' does not match opening '" + text[open.back()] + "'"};
      }
      open.pop_back();
    }
    ++i;
    bool new_line = c == '\n' && !open.empty();
    if (new_line) {
      size_t word = std::min(text.find_first_not_of(" \t", i), text.size());
      std::string_view line = text.substr(word, 12);
      if (starts_statement(line) && (line[0] != '@' || word == i)) return never_closed(text, open.back());
    }
  }
  if (!open.empty()) return never_closed(text, open.back());
  return std::nullopt;
}

}  // namespace assay
