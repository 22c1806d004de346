// The grammar sometimes reads `*a.b(c)` in an expression list as `(*a).b(c)`: a list_splat as the leftmost
// leaf of what it should contain. This puts the star back on the outside, where CPython has it.
#pragma once

#include <vector>

#include "python/syntax.h"

namespace assay {

// `nodes` in preorder as in SyntaxTree. Linear in the nodes (hostile nesting: some splats are left as they
// are).
void repair_splats(std::vector<RawNode>& nodes);

}  // namespace assay
