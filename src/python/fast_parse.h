// A parser of our own for ordinary Python: about ten times as fast as tree-sitter, and node for node the
// same.
//
// It knows the grammar of tree-sitter-python with its oddities (`^` binds tighter than `&`, blocks end behind
// their last comment, …), but only for what CPython accepts too. Whenever it is not sure — an error, an
// unexpected indentation, letters beyond ASCII, Python 2, deep nesting — it gives up on the file, and
// SyntaxTree::parse asks tree-sitter. So it is right exactly if fast_parse_test.cc finds no difference.
#pragma once

#include <string_view>
#include <vector>

#include "python/syntax.h"

namespace assay {

// False: not read, and `nodes` and `comments` are empty.
bool fast_parse(std::string_view text, std::vector<RawNode>& nodes, std::vector<Comment>& comments);

}  // namespace assay
