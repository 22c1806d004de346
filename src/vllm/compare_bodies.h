// How a definition of the plugin differs from its counterpart in the target.
#pragma once

#include <string_view>
#include <vector>

#include "python/syntax.h"

namespace assay {

enum class Difference : uint8_t { kIdentical, kChanged, kUnrelated };

const char* to_string(Difference difference);

// The tokens of a function (parameters and body) or class (body), without white space, comments, docstrings
// and annotations of the names around them: two definitions are identical if these are the same.
std::vector<std::string_view> body_tokens(Node definition);

// Unrelated: less than a quarter of the tokens in common, in sequences of three, and for classes no method of
// a common name that has more.
Difference compare_bodies(Node ours, Node theirs);

}  // namespace assay
