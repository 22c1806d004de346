#include "python/splat_repair.h"

namespace assay {
namespace {

bool is_operand_of(Kind parent) {
  switch (parent) {
    case Kind::k_attribute:
    case Kind::k_call:
    case Kind::k_subscript:
    case Kind::k_binary_operator:
    case Kind::k_boolean_operator:
    case Kind::k_comparison_operator:
    case Kind::k_conditional_expression:
      return true;
    default:
      return false;
  }
}

// The outermost expression of which the splat is the leftmost leaf; the splat itself when it stands right.
NodeId outermost(const std::vector<RawNode>& nodes, NodeId splat) {
  NodeId top = splat;
  while (top > 0) {
    NodeId parent = nodes[top].parent;
    if (parent != top - 1 || nodes[parent].start != nodes[splat].start || !is_operand_of(nodes[parent].kind))
      break;
    top = parent;
  }
  return top;
}

// The chain top … splat, neighbours in preorder, is rotated by one place: the splat comes first.
void rotate(std::vector<RawNode>& nodes, NodeId top, NodeId splat) {
  RawNode star = nodes[splat];
  for (NodeId i = splat + 1; i < nodes[top].subtree_end; ++i) {
    if (nodes[i].parent == splat) {
      nodes[i].field =
          star.field;  // it takes the splat's role in the innermost expression, which gets the splat's id
    } else if (nodes[i].parent >= top && nodes[i].parent < splat) {
      ++nodes[i].parent;
    }
  }
  star.end = nodes[top].end;
  star.subtree_end = nodes[top].subtree_end;
  star.parent = nodes[top].parent;
  star.field = nodes[top].field;
  uint32_t inner_start = nodes[splat + 1].start;
  for (NodeId i = splat; i > top; --i) {
    nodes[i] = nodes[i - 1];
    nodes[i].start = inner_start;
    nodes[i].parent = i - 1;
  }
  nodes[top + 1].field = Field::kNone;
  nodes[top] = star;
}

}  // namespace

void repair_splats(std::vector<RawNode>& nodes) {
  size_t budget = 16 * nodes.size();
  for (NodeId i = 1; i < nodes.size(); ++i) {
    if (nodes[i].kind != Kind::k_list_splat || nodes[i].subtree_end == i + 1) continue;
    NodeId top = outermost(nodes, i);
    size_t work = nodes[top].subtree_end - top;
    if (top == i || work > budget) continue;
    budget -= work;
    rotate(nodes, top, i);
  }
}

}  // namespace assay
