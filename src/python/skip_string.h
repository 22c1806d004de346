// Strings of Python source at byte level, for readers that do without a syntax tree.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace assay {

struct CodeRegion {
  size_t begin, end;
};

struct SkippedString {
  size_t end = 0;       // the byte behind the closing quote
  bool closed = false;  // false: a plain newline or the end of the text came first; `end` is there
};

// `quote` is the index of a string's first quote character; what stands before it decides whether the string
// is raw or an f-string (or t-string). Code inside its placeholders, nested ones included, without strings
// and comments there, is appended to `code` where given: ascending, not overlapping. Strings in placeholders
// may use the quotes of the string around them (PEP 701). Linear; nesting costs heap only.
SkippedString skip_string(std::string_view text, size_t quote, std::vector<CodeRegion>* code = nullptr);

// ASCII letters, digits, underscore, and every byte of a non-ASCII character.
inline constexpr std::array<bool, 256> kIdentifierBytes = [] {
  std::array<bool, 256> out{};
  for (int c = 0; c < 256; ++c) out[c] = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
  return out;
}();
inline bool is_identifier_byte(char c) { return kIdentifierBytes[static_cast<unsigned char>(c)]; }

}  // namespace assay
