#include "report/text_width.h"

#include <array>
#include <cstdint>

namespace assay {

namespace {

struct Range {
  char32_t first, last;
};

// East Asian Wide and Fullwidth, in broad strokes; emoji among them.
constexpr std::array kWide = std::to_array<Range>({{0x1100, 0x115F},
                                                   {0x2E80, 0x303E},
                                                   {0x3041, 0xA4CF},
                                                   {0xAC00, 0xD7A3},
                                                   {0xF900, 0xFAFF},
                                                   {0xFE30, 0xFE6F},
                                                   {0xFF00, 0xFF60},
                                                   {0xFFE0, 0xFFE6},
                                                   {0x1F300, 0x1F64F},
                                                   {0x1F900, 0x1F9FF},
                                                   {0x20000, 0x3FFFD}});
// Combining marks and joiners take no column of their own.
constexpr std::array kZero = std::to_array<Range>({{0x0300, 0x036F}, {0x200B, 0x200F}, {0xFE00, 0xFE0F}});

template <size_t N>
bool contains(const std::array<Range, N>& ranges, char32_t c) {
  for (Range range : ranges)
    if (range.first <= c && c <= range.last) return true;
  return false;
}

}  // namespace

char32_t next_character(std::string_view text, size_t& at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  uint8_t lead = byte(at);
  size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (length == 1 || at + length > text.size()) return ++at, lead;
  char32_t c = lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return ++at, lead;
    c = (c << 6) | (byte(at + i) & 0x3Fu);
  }
  at += length;
  return c;
}

size_t display_width(char32_t character) {
  if (contains(kZero, character)) return 0;
  return contains(kWide, character) ? 2 : 1;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) width += display_width(next_character(text, at));
  return width;
}

}  // namespace assay
