#include "python/splat_repair.h"

#include <algorithm>

#include "python/skip_string.h"

namespace assay {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\'; }

// Whether an expression may begin at `end`: behind a comma, `=`, or one of a few words.
bool ends_before_expression(std::string_view source, size_t end) {
  while (end > 0 && is_blank(source[end - 1])) --end;
  if (end == 0) return true;
  if (source[end - 1] == ',' || source[end - 1] == '=') return true;
  size_t begin = end;
  while (begin > 0 && end - begin < 8 && is_identifier_byte(source[begin - 1])) --begin;
  std::string_view word = source.substr(begin, end - begin);
  return word == "return" || word == "yield" || word == "in";
}

// Lists whose first element starts where they do.
bool is_bare_list(Kind kind) {
  switch (kind) {
    case Kind::k_module:
    case Kind::k_block:
    case Kind::k_expression_list:
    case Kind::k_pattern_list:
    case Kind::k_assignment:
    case Kind::k_augmented_assignment:
    case Kind::k_expression_statement:
      return true;
    default:
      return false;
  }
}

size_t skip_blanks(std::string_view source, size_t i) {
  while (i < source.size() && (source[i] == ' ' || source[i] == '\t')) ++i;
  return i;
}

// The largest expression that starts at the bracket behind the star; kNoNode if none does: then it is no
// code.
NodeId expression_behind(const std::vector<RawNode>& nodes, uint32_t bracket) {
  auto it = std::lower_bound(nodes.begin(), nodes.end(), bracket,
                             [](const RawNode& n, uint32_t byte) { return n.start < byte; });
  while (it != nodes.end() && it->start == bracket && is_bare_list(it->kind)) ++it;
  return it != nodes.end() && it->start == bracket ? static_cast<NodeId>(it - nodes.begin()) : kNoNode;
}

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

std::vector<uint32_t> stars_before_brackets(std::string_view source) {
  std::vector<uint32_t> out;
  for (size_t i = 0; (i = source.find('*', i)) != std::string_view::npos; ++i) {
    if (i + 1 < source.size() && source[i + 1] == '*') {
      ++i;
      continue;
    }
    size_t next = skip_blanks(source, i + 1);
    bool bracket =
        next < source.size() && (source[next] == '(' || source[next] == '[' || source[next] == '{');
    if (bracket && ends_before_expression(source, i)) out.push_back(static_cast<uint32_t>(i));
  }
  return out;
}

void restore_stars(std::vector<RawNode>& nodes, std::string_view source, const std::vector<uint32_t>& stars) {
  // Which nodes get a splat around them; ascending, since larger starts come later in preorder.
  std::vector<std::pair<NodeId, uint32_t>> wrapped;
  for (uint32_t star : stars) {
    NodeId node = expression_behind(nodes, static_cast<uint32_t>(skip_blanks(source, star + 1)));
    bool repeated = !wrapped.empty() && wrapped.back().first == node;
    if (node != kNoNode && node > 0 && !repeated) wrapped.emplace_back(node, star);
  }
  if (wrapped.empty()) return;
  // Old id to new id: one more for each splat put before or at the node.
  std::vector<NodeId> moved(nodes.size() + 1);
  for (NodeId i = 0, k = 0; i <= nodes.size(); ++i) {
    if (k < wrapped.size() && wrapped[k].first == i) ++k;
    moved[i] = i + k;
  }
  std::vector<RawNode> out;
  out.reserve(nodes.size() + wrapped.size());
  size_t k = 0;
  for (NodeId i = 0; i < nodes.size(); ++i) {
    RawNode node = nodes[i];
    node.subtree_end = moved[node.subtree_end - 1] + 1;
    if (node.parent != kNoNode) node.parent = moved[node.parent];
    if (k < wrapped.size() && wrapped[k].first == i) {
      RawNode splat = node;
      splat.kind = Kind::k_list_splat;
      splat.start = wrapped[k++].second;
      node.parent = static_cast<NodeId>(out.size());
      node.field = Field::kNone;
      for (NodeId p = splat.parent; p != kNoNode && out[p].start > splat.start; p = out[p].parent) {
        out[p].start = splat.start;  // a list that begins with the star
      }
      out.push_back(splat);
    }
    out.push_back(node);
  }
  nodes = std::move(out);
}

}  // namespace assay
