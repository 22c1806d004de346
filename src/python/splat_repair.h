// Two faults of the grammar around stars in expression lists (`return a, *b`).
#pragma once

#include <string_view>
#include <vector>

#include "python/syntax.h"

namespace assay {

// It reads `*a.b(c)` as `(*a).b(c)`: a list_splat as the leftmost leaf of what it should contain. This puts
// the star back on the outside, where CPython has it. `nodes` in preorder as in SyntaxTree. Linear (hostile
// nesting: some splats are left).
void repair_splats(std::vector<RawNode>& nodes);

// It does not accept `a, *(b)` outside of brackets at all. These are the stars in question, ascending: if the
// file has errors, parse it again with blanks in their place, and give the nodes to restore_stars().
std::vector<uint32_t> stars_before_brackets(std::string_view source);

// Puts a list_splat around the expression behind each blanked star that stands in code.
void restore_stars(std::vector<RawNode>& nodes, std::string_view source, const std::vector<uint32_t>& stars);

}  // namespace assay
