#include "python/guards.h"

#include <algorithm>

namespace assay {
namespace {

// `if c: return` before `node` in its block means: c is false here. For `else`-less ifs, and for if/elif chains whose
// leaving branches are known.
void early_exits(Node node, std::vector<Guard>& out) {
  Node block = node.parent();
  if (!block.is_any(Kind::k_block, Kind::k_module)) return;
  const auto& leaving = block.tree()->checks();
  for (auto it = std::lower_bound(leaving.begin(), leaving.end(), std::pair(block.id(), NodeId{0}));
       it != leaving.end() && *it < std::pair(block.id(), node.id()); ++it) {
    Node sibling = block.tree()->at(it->second);
    if (!sibling.is(Kind::k_if_statement)) continue;
    if (always_leaves(sibling.child(Field::k_consequence))) {
      out.push_back({GuardKind::kCondition, true, sibling.child(Field::k_condition)});
      for (Node branch : sibling.children()) {
        if (!branch.is(Kind::k_elif_clause)) continue;
        if (!always_leaves(branch.child(Field::k_consequence))) break;
        out.push_back({GuardKind::kCondition, true, branch.child(Field::k_condition)});
      }
    } else if (Node other = sibling.child(Kind::k_else_clause);
               other && !sibling.child(Kind::k_elif_clause) && always_leaves(other.child(Field::k_body))) {
      out.push_back({GuardKind::kCondition, false, sibling.child(Field::k_condition)});
    }
  }
}

// The conditions of the branches before `branch` in its if statement are false.
void earlier_branches(Node if_statement, Node branch, std::vector<Guard>& out) {
  out.push_back({GuardKind::kCondition, true, if_statement.child(Field::k_condition)});
  for (Node b : if_statement.children()) {
    if (b == branch) break;
    if (b.is(Kind::k_elif_clause)) out.push_back({GuardKind::kCondition, true, b.child(Field::k_condition)});
  }
}

void add_guards(Node node, Node parent, std::vector<Guard>& out) {
  switch (parent.kind()) {
    case Kind::k_if_statement:
      if (node.field() == Field::k_consequence) {
        out.push_back({GuardKind::kCondition, false, parent.child(Field::k_condition)});
      } else if (node.is_any(Kind::k_elif_clause, Kind::k_else_clause)) {
        earlier_branches(parent, node, out);
      }
      break;
    case Kind::k_elif_clause:
      if (node.field() == Field::k_consequence) {
        out.push_back({GuardKind::kCondition, false, parent.child(Field::k_condition)});
      }
      break;
    case Kind::k_conditional_expression: {  // children in order: value, condition, other value
      Node condition = parent.child_at(1);
      if (node == parent.child_at(0)) out.push_back({GuardKind::kCondition, false, condition});
      if (node == parent.child_at(2)) out.push_back({GuardKind::kCondition, true, condition});
      break;
    }
    case Kind::k_boolean_operator:
      if (node.field() == Field::k_right) {
        bool is_or = parent.child(Field::k_operator).text() == "or";
        out.push_back({GuardKind::kCondition, is_or, parent.child(Field::k_left)});
      }
      break;
    case Kind::k_while_statement:
      if (node.field() == Field::k_body) {
        out.push_back({GuardKind::kLoop, false, parent});
        out.push_back({GuardKind::kCondition, false, parent.child(Field::k_condition)});
      }
      break;
    case Kind::k_for_statement:
      if (node.field() == Field::k_body) out.push_back({GuardKind::kLoop, false, parent});
      break;
    case Kind::k_try_statement:
      if (node.field() == Field::k_body) out.push_back({GuardKind::kTry, false, parent});
      if (node.is_any(Kind::k_except_clause, Kind::k_except_group_clause)) {
        out.push_back({GuardKind::kHandler, false, node});
      }
      break;
    case Kind::k_list_comprehension:
    case Kind::k_set_comprehension:
    case Kind::k_dictionary_comprehension:
    case Kind::k_generator_expression:
      if (node.field() == Field::k_body) {
        for (Node c : parent.children()) {
          if (c.is(Kind::k_if_clause)) out.push_back({GuardKind::kCondition, false, c.first_child()});
        }
      }
      break;
    case Kind::k_function_definition:
    case Kind::k_lambda:
      if (node.field() == Field::k_body) out.push_back({GuardKind::kFunctionBody, false, parent});
      break;
    default: break;
  }
}

bool leaves_by_call(Node expression) {
  if (!expression.is(Kind::k_call)) return false;
  std::string callee = dotted_text(expression.child(Field::k_function));
  return callee == "sys.exit" || callee == "exit" || callee == "os._exit" || callee == "pytest.skip";
}

}  // namespace

const std::vector<std::pair<NodeId, NodeId>>& SyntaxTree::checks() const {
  checks_->found.run([&] {
    auto& list = checks_->list;
    for (NodeId id = 0; id < nodes_.size(); ++id) {
      if (nodes_[id].parent == kNoNode) continue;
      if (nodes_[id].kind == Kind::k_assert_statement) list.emplace_back(nodes_[id].parent, id);
      if (nodes_[id].kind != Kind::k_if_statement) continue;
      for (Node branch : at(id).children()) {
        if (!branch.is(Kind::k_block) && !branch.is_any(Kind::k_elif_clause, Kind::k_else_clause)) continue;
        Node body = branch.is(Kind::k_block) ? branch : branch.child(branch.is(Kind::k_elif_clause) ? Field::k_consequence : Field::k_body);
        if (!always_leaves(body)) continue;
        list.emplace_back(nodes_[id].parent, id);
        break;
      }
    }
    std::sort(list.begin(), list.end());
  });
  return checks_->list;
}

std::vector<Guard> guards_of(Node node) {
  std::vector<Guard> out;
  for (Node n = node, p = n.parent(); p; n = p, p = p.parent()) {
    early_exits(n, out);
    add_guards(n, p, out);
  }
  return out;
}

bool always_leaves(Node statement) {
  switch (statement.kind()) {
    case Kind::k_return_statement:
    case Kind::k_raise_statement:
    case Kind::k_continue_statement:
    case Kind::k_break_statement: return true;
    case Kind::k_expression_statement: return leaves_by_call(statement.first_child());
    case Kind::k_block: {
      // Only the statements directly in the block; nesting is bounded by what Python itself accepts.
      for (Node s : statement.children()) {
        if (always_leaves(s)) return true;
      }
      return false;
    }
    case Kind::k_if_statement: {
      bool has_else = false;
      for (Node branch : statement.children()) {
        if (branch.field() == Field::k_consequence && !always_leaves(branch)) return false;
        if (branch.is(Kind::k_elif_clause) && !always_leaves(branch.child(Field::k_consequence))) return false;
        if (branch.is(Kind::k_else_clause)) {
          has_else = true;
          if (!always_leaves(branch.child(Field::k_body))) return false;
        }
      }
      return has_else;
    }
    case Kind::k_with_statement: return always_leaves(statement.child(Field::k_body));
    default: return false;
  }
}

std::vector<std::string> handled_types(Node except_clause) {
  Node type = except_clause.child(Field::k_value);
  if (!type) {
    type = except_clause.first_child();
    if (type.is(Kind::k_block)) return {};
  }
  if (type.is(Kind::k_as_pattern)) type = type.first_child();
  type = strip_parens(type);
  std::vector<std::string> out;
  if (type.is(Kind::k_tuple)) {
    for (Node t : type.children()) out.push_back(dotted_text(t));
  } else {
    out.push_back(dotted_text(type));
  }
  return out;
}

bool error_caught(Node place, std::string_view error, Handlers handlers) {
  auto catches = [&](const std::string& type) { return type == error || (handlers == Handlers::kAny && (type == "Exception" || type == "BaseException")); };
  for (const Guard& g : guards_of(place)) {
    if (g.kind != GuardKind::kTry) continue;
    for (Node clause : g.node.children()) {
      if (!clause.is(Kind::k_except_clause)) continue;
      std::vector<std::string> types = handled_types(clause);
      if (types.empty() || std::any_of(types.begin(), types.end(), catches)) return true;
    }
  }
  return false;
}

Node import_error_handler(Node try_statement, bool module_not_found) {
  for (Node clause : try_statement.children()) {
    if (!clause.is_any(Kind::k_except_clause, Kind::k_except_group_clause)) continue;
    std::vector<std::string> types = handled_types(clause);
    auto catches = [&](const std::string& t) {
      return t == "ImportError" || t == "Exception" || t == "BaseException" || t == "builtins.Exception" ||
             (module_not_found && t == "ModuleNotFoundError");
    };
    if (types.empty() || std::any_of(types.begin(), types.end(), catches)) return clause;
  }
  return {};
}

}  // namespace assay
