// Where a file's brackets or quotes stop to fit: for a file with syntax errors this is nearer to the fault
// than the place where a parser gives up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

struct BracketFault {
  uint32_t byte;
  std::string message;  // as CPython words it: "'(' was never closed"
};

// The first closing bracket without a partner, the opening bracket that is still open where a statement
// starts at the left margin, or the string that is not closed. Linear.
std::optional<BracketFault> find_bracket_fault(std::string_view text);

}  // namespace assay
