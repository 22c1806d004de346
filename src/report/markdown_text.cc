#include "report/markdown_text.h"

#include <algorithm>

#include "base/text.h"

namespace assay {

namespace {

size_t longest_run(std::string_view text, char wanted) {
  size_t longest = 0, run = 0;
  for (char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// Calls `plain` and `quoted` with the pieces outside and inside of pairs of backticks.
template <class Plain, class Quoted>
std::string by_backticks(std::string_view text, Plain plain, Quoted quoted) {
  std::string out;
  while (true) {
    size_t open = text.find('`');
    size_t close = open == std::string_view::npos ? open : text.find('`', open + 1);
    if (close == std::string_view::npos) return out + plain(text);
    out += plain(text.substr(0, open));
    out += quoted(text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("\\`*_<>[]|~#").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string markdown(std::string_view text) { return by_backticks(text, escaped, code); }

std::string code(std::string_view raw) {
  std::string text = printable(raw);
  if (text.empty()) return "";
  std::string ticks(longest_run(text, '`') + 1, '`');
  bool touches = text.front() == '`' || text.back() == '`';
  return touches ? ticks + " " + text + " " + ticks : ticks + text + ticks;
}

std::string fenced(std::string_view text) {
  std::string fence(std::max<size_t>(3, longest_run(text, '`') + 1), '`');
  std::string out = fence + "\n" + std::string(text);
  if (!text.ends_with('\n')) out += '\n';
  return out + fence + "\n";
}

std::string cell(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    bool escaped_already = i > 0 && text[i - 1] == '\\';
    if (text[i] == '|' && !escaped_already) out += '\\';
    out += text[i] == '\n' ? ' ' : text[i];
  }
  return out;
}

std::string html(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string html_code(std::string_view text) {
  return by_backticks(text, html,
                      [](std::string_view quoted) { return "<code>" + html(quoted) + "</code>"; });
}

}  // namespace assay
