// A place in one of the trees that a run looked at.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace assay {

struct Location {
  std::string tree;         // "plugin", "target", "base", "plugin-base", or a component's name
  std::string file;         // relative to the tree's root, '/'-separated
  uint32_t line = 0;        // 1-based; 0: the file as a whole
  uint32_t column = 0;      // 1-based, in characters; 0: the line as a whole
  uint32_t end_line = 0;    // 0: same as line
  uint32_t end_column = 0;  // 1-based, past the last character; 0: unknown
  std::string text;  // the source line itself, so that reports need no access to the tree; may be empty

  auto operator<=>(const Location& other) const {
    if (auto c = tree <=> other.tree; c != 0) return c;
    if (auto c = file <=> other.file; c != 0) return c;
    if (auto c = line <=> other.line; c != 0) return c;
    return column <=> other.column;
  }
  bool operator==(const Location& other) const { return (*this <=> other) == 0; }
};

}  // namespace assay
