// The syntax of one Python file as a flat, read-only tree.
//
// tree-sitter's own tree costs 34 times the source. One cursor walk turns it into an array of 20-byte nodes in preorder and
// drops it: named nodes, and of the anonymous ones only operators and `async`. A node's descendants are the ids
// [id + 1, subtree_end). All text is a view into the source. Ordinary files get the same nodes from fast_parse().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/once.h"
#include "tree/tree.h"

namespace assay {

using NodeId = uint32_t;
inline constexpr NodeId kNoNode = 0xffffffffu;

// The grammar's node types that the analysis looks at, by their names there; everything else is kOther.
#define ASSAY_PYTHON_KINDS(X)                                                                               \
  X(module) X(import_statement) X(import_from_statement) X(future_import_statement) X(relative_import)      \
  X(import_prefix) X(dotted_name) X(aliased_import) X(wildcard_import) X(print_statement)                   \
  X(assert_statement) X(expression_statement) X(named_expression) X(return_statement) X(delete_statement)   \
  X(raise_statement) X(pass_statement) X(break_statement) X(continue_statement) X(if_statement)             \
  X(elif_clause) X(else_clause) X(match_statement) X(case_clause) X(for_statement) X(while_statement)       \
  X(try_statement) X(except_clause) X(except_group_clause) X(finally_clause) X(with_statement)              \
  X(with_clause) X(with_item) X(function_definition) X(parameters) X(lambda_parameters) X(list_splat)       \
  X(dictionary_splat) X(global_statement) X(nonlocal_statement) X(exec_statement) X(type_alias_statement)   \
  X(class_definition) X(type_parameter) X(parenthesized_list_splat) X(argument_list)                        \
  X(decorated_definition) X(decorator) X(block) X(expression_list) X(parenthesized_expression)              \
  X(case_pattern) X(as_pattern) X(as_pattern_target) X(splat_pattern) X(keyword_pattern) X(dict_pattern)    \
  X(class_pattern) X(union_pattern) X(default_parameter) X(typed_default_parameter) X(typed_parameter)      \
  X(list_splat_pattern) X(dictionary_splat_pattern) X(tuple_pattern) X(list_pattern) X(pattern_list)        \
  X(boolean_operator) X(not_operator) X(binary_operator) X(unary_operator) X(comparison_operator)           \
  X(lambda) X(assignment) X(augmented_assignment) X(yield) X(attribute) X(subscript) X(slice) X(call)       \
  X(type) X(splat_type) X(generic_type) X(union_type) X(constrained_type) X(member_type)                    \
  X(keyword_argument) X(list) X(set) X(tuple) X(dictionary) X(pair) X(list_comprehension)                   \
  X(dictionary_comprehension) X(set_comprehension) X(generator_expression) X(for_in_clause) X(if_clause)    \
  X(conditional_expression) X(concatenated_string) X(string) X(interpolation) X(format_specifier)           \
  X(ellipsis) X(integer) X(float) X(true) X(false) X(none) X(identifier) X(await) X(keyword_separator)      \
  X(positional_separator)

enum class Kind : uint8_t {
  kOther,
  kError,     // the parser gave up on this region
  kOperator,  // an anonymous token with a field: `==`, `not in`, `and`, …
  kAsync,
#define ASSAY_X(name) k_##name,
  ASSAY_PYTHON_KINDS(ASSAY_X)
#undef ASSAY_X
};

#define ASSAY_PYTHON_FIELDS(X)                                                                          \
  X(alias) X(alternative) X(argument) X(arguments) X(attribute) X(body) X(cause) X(code) X(condition)   \
  X(consequence) X(definition) X(expression) X(function) X(guard) X(key) X(left) X(module_name) X(name) \
  X(object) X(operator) X(operators) X(parameters) X(return_type) X(right) X(subject) X(subscript)      \
  X(superclasses) X(type) X(type_parameters) X(value)

enum class Field : uint8_t {
  kNone,
#define ASSAY_X(name) k_##name,
  ASSAY_PYTHON_FIELDS(ASSAY_X)
#undef ASSAY_X
};

struct RawNode {
  uint32_t start, end;  // bytes of the source
  uint32_t subtree_end;
  uint32_t parent;
  Kind kind;
  Field field;  // the role in the parent
  uint16_t unused;
};

class Node;

// A region that the parser could not read, or a construct that no Python 3 accepts.
struct SyntaxError {
  uint32_t line, column;  // 1-based
  std::string message;
};

struct Comment {
  uint32_t start, end;  // bytes of the source
};

class SyntaxTree {
 public:
  // Never fails: a broken file gives the statements around the errors. Recursion-free, memory linear in the source.
  static SyntaxTree parse(Blob source);
  // The same without fast_parse(), which parse() asks first. For tests: the trees are equal.
  static SyntaxTree parse_with_tree_sitter(Blob source);

  std::string_view source() const { return source_.view(); }
  const std::vector<RawNode>& nodes() const { return nodes_; }
  const std::vector<SyntaxError>& errors() const { return errors_; }
  const std::vector<Comment>& comments() const { return comments_; }
  Node root() const;
  Node at(NodeId id) const;

  uint32_t line_of(uint32_t byte) const;    // 1-based
  uint32_t column_of(uint32_t byte) const;  // 1-based, in characters
  uint32_t line_count() const { return static_cast<uint32_t>(line_starts_.size()); }
  std::string_view line_text(uint32_t line) const;

  // (block, statement directly in it) for each assertion, and each if statement of which some branch always leaves the
  // block, sorted. Found when first asked for: looking over all statements before a place each time takes quadratic time
  // in long files.
  const std::vector<std::pair<NodeId, NodeId>>& checks() const;

 private:
  friend class TreeBuilder;
  struct Checks {
    Once found;
    std::vector<std::pair<NodeId, NodeId>> list;
  };
  static SyntaxTree open(Blob source);
  Blob source_;
  std::vector<RawNode> nodes_;
  std::vector<uint32_t> line_starts_;
  std::vector<SyntaxError> errors_;
  std::vector<Comment> comments_;
  std::unique_ptr<Checks> checks_ = std::make_unique<Checks>();
};

// A place in a SyntaxTree. A null Node (operator bool false) is what every accessor gives where there is nothing; all
// accessors of a null Node give null or empty again, so chains need no checks.
class Node {
 public:
  Node() = default;
  Node(const SyntaxTree* tree, NodeId id) : tree_(tree), id_(id) {}

  explicit operator bool() const { return tree_ != nullptr; }
  bool operator==(const Node& other) const { return tree_ == other.tree_ && id_ == other.id_; }
  const SyntaxTree* tree() const { return tree_; }
  NodeId id() const { return id_; }
  Kind kind() const { return tree_ ? raw().kind : Kind::kOther; }
  Field field() const { return tree_ ? raw().field : Field::kNone; }
  bool is(Kind k) const { return tree_ && raw().kind == k; }
  template <class... Kinds>
  bool is_any(Kinds... kinds) const {
    return (is(kinds) || ...);
  }
  uint32_t start() const { return tree_ ? raw().start : 0; }
  uint32_t end() const { return tree_ ? raw().end : 0; }
  std::string_view text() const { return tree_ ? tree_->source().substr(start(), end() - start()) : std::string_view(); }
  uint32_t line() const { return tree_ ? tree_->line_of(start()) : 0; }
  uint32_t end_line() const { return tree_ ? tree_->line_of(end() > start() ? end() - 1 : start()) : 0; }

  Node parent() const { return tree_ && raw().parent != kNoNode ? Node(tree_, raw().parent) : Node(); }
  Node first_child() const { return tree_ && raw().subtree_end > id_ + 1 ? Node(tree_, id_ + 1) : Node(); }
  Node next_sibling() const;
  Node child(Field field) const;      // the first child in this role
  Node child(Kind kind) const;        // the first child of this type
  Node child_at(uint32_t index) const;
  uint32_t child_count() const;
  bool contains(const Node& other) const { return tree_ == other.tree_ && other.id_ >= id_ && other.id_ < raw().subtree_end; }

  // for (Node c : node.children())
  class Children;
  Children children() const;
  // Every node below this one, in source order.
  class Descendants;
  Descendants descendants() const;
  NodeId subtree_end() const { return tree_ ? raw().subtree_end : 0; }

 private:
  const RawNode& raw() const { return tree_->nodes()[id_]; }
  const SyntaxTree* tree_ = nullptr;
  NodeId id_ = 0;
};

class Node::Children {
 public:
  explicit Children(Node first) : first_(first) {}
  struct Iterator {
    Node node;
    Node operator*() const { return node; }
    Iterator& operator++() {
      node = node.next_sibling();
      return *this;
    }
    bool operator!=(const Iterator& other) const { return !(node == other.node); }
  };
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {Node()}; }

 private:
  Node first_;
};

class Node::Descendants {
 public:
  Descendants(const SyntaxTree* tree, NodeId begin, NodeId end) : tree_(tree), begin_(begin), end_(end) {}
  struct Iterator {
    const SyntaxTree* tree;
    NodeId id;
    Node operator*() const { return Node(tree, id); }
    Iterator& operator++() {
      ++id;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return id != other.id; }
  };
  Iterator begin() const { return {tree_, begin_}; }
  Iterator end() const { return {tree_, end_}; }

 private:
  const SyntaxTree* tree_;
  NodeId begin_, end_;
};

inline Node::Children Node::children() const { return Children(first_child()); }
inline Node::Descendants Node::descendants() const {
  return tree_ ? Descendants(tree_, id_ + 1, raw().subtree_end) : Descendants(nullptr, 0, 0);
}
inline Node SyntaxTree::root() const { return nodes_.empty() ? Node() : Node(this, 0); }
inline Node SyntaxTree::at(NodeId id) const { return Node(this, id); }

// `a.b.c` of nested attributes and identifiers; empty for anything else.
std::string dotted_text(Node expression);
// `c` of `a.b.c`; all of a name without dots.
inline std::string_view last_part(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

// Takes parentheses away.
Node strip_parens(Node expression);

// The value of a string without placeholders (prefix, quotes and escapes resolved; adjacent literals joined).
// False for bytes, f-strings with placeholders, and non-strings.
bool string_value(Node node, std::string& out);

}  // namespace assay
