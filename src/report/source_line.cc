#include "report/source_line.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "report/text_width.h"

namespace assay {

namespace {

constexpr size_t kMaxWidth = 120;
constexpr size_t kBeforeMark = 40;  // of a long line, at most this much is shown before the mark

struct Cell {
  std::string text;
  size_t width = 0;
};

Cell cell(std::string_view character, char32_t code) {
  if (code == '\t') return {"    ", 4};
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
    std::string escape = printable(character);
    return {escape, escape.size()};
  }
  return {std::string(character), display_width(code)};
}

std::vector<Cell> cells_of(std::string_view text) {
  std::vector<Cell> cells;
  for (size_t at = 0; at < text.size();) {
    size_t start = at;
    char32_t code = next_character(text, at);
    cells.push_back(cell(text.substr(start, at - start), code));
  }
  return cells;
}

size_t width_of(const std::vector<Cell>& cells, size_t from, size_t to) {
  size_t width = 0;
  for (size_t i = from; i < to; ++i) width += cells[i].width;
  return width;
}

// The marked cells: [first, last).
struct Mark {
  size_t first = 0, last = 0;
};

Mark mark_of(const Location& location, size_t count) {
  if (location.column == 0) return {};
  size_t first = std::min<size_t>(location.column - 1, count);
  bool goes_on = location.end_line > location.line;
  size_t last = goes_on ? count : location.end_column > location.column ? location.end_column - 1 : first + 1;
  // A place behind the end of the line, a missing colon for instance, is marked all the same.
  return {first, std::max(std::min(last, count), first + (first == count ? 1 : 0))};
}

}  // namespace

SourceLine source_line(const Location& location) {
  std::string_view text = location.text;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  std::vector<Cell> cells = cells_of(text);
  Mark mark = mark_of(location, cells.size());
  bool at_end = mark.last > cells.size();
  if (at_end) cells.push_back({"", 1});
  size_t from = 0;
  if (width_of(cells, 0, cells.size()) > kMaxWidth)
    while (from < mark.first && width_of(cells, from, mark.first) > kBeforeMark) ++from;
  size_t to = from;
  size_t width = from > 0 ? 1 : 0;
  while (to < cells.size() && width + cells[to].width <= kMaxWidth) width += cells[to++].width;
  SourceLine out;
  if (from > 0) out.text = "…";
  for (size_t i = from; i < to; ++i) out.text += cells[i].text;
  if (to < cells.size()) out.text += "…";
  out.start = (from > 0 ? 1 : 0) + width_of(cells, from, mark.first);
  out.length = width_of(cells, mark.first, std::clamp(mark.last, mark.first, to));
  return out;
}

std::string underline(const SourceLine& line, char mark) {
  return line.length == 0 ? "" : std::string(line.start, ' ') + std::string(line.length, mark);
}

}  // namespace assay
