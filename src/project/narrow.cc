// What tests on the way to a use say about the object: isinstance in conditions, in assertions, and in early exits.
#include <algorithm>

#include "project/semantics.h"

namespace assay {
namespace {

// The type argument of `isinstance(<text>, T)`, alone or joined with other tests by `and`.
Node type_of_test(Node test, std::string_view text) {
  test = strip_parens(test);
  if (test.is(Kind::k_boolean_operator) && test.child(Field::k_operator).text() == "and") {
    Node right = type_of_test(test.child(Field::k_right), text);
    return right ? right : type_of_test(test.child(Field::k_left), text);
  }
  if (!test.is(Kind::k_call) || test.child(Field::k_function).text() != "isinstance") return {};
  Node arguments = test.child(Field::k_arguments);
  return arguments.child_at(0).text() == text ? arguments.child_at(1) : Node();
}

// `if not isinstance(x, T): return`
Node type_of_exit(Node statement, std::string_view text) {
  if (!statement.is(Kind::k_if_statement) || statement.child(Kind::k_else_clause) || statement.child(Kind::k_elif_clause)) return {};
  Node condition = strip_parens(statement.child(Field::k_condition));
  if (!condition.is(Kind::k_not_operator)) return {};
  Node type = type_of_test(condition.child(Field::k_argument), text);
  return type && always_leaves(statement.child(Field::k_consequence)) ? type : Node();
}

bool assigns_between(const SyntaxTree& tree, NodeId from, NodeId to, std::string_view text) {
  for (NodeId id = from; id < to; ++id) {
    Node n = tree.at(id);
    if (!n.is_any(Kind::k_identifier, Kind::k_attribute) || n.text() != text) continue;
    Node p = n.parent();
    bool left = n.field() == Field::k_left && p.is_any(Kind::k_assignment, Kind::k_augmented_assignment, Kind::k_for_statement);
    if (left || p.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern, Kind::k_as_pattern_target, Kind::k_delete_statement)) return true;
    if (p.is(Kind::k_named_expression) && n.field() == Field::k_name) return true;
  }
  return false;
}

// The test in the nearest place that holds at the use; `at` is the place.
Node nearest_test(Node use, std::string_view text, Node& at) {
  for (Node n = use; n.parent(); n = n.parent()) {
    if (n.is_any(Kind::k_function_definition, Kind::k_lambda, Kind::k_class_definition)) break;
    Node holder = n.parent(), type;
    if (holder.is_any(Kind::k_if_statement, Kind::k_elif_clause) && n.field() == Field::k_consequence) {
      type = type_of_test(at = holder.child(Field::k_condition), text);
    } else if (holder.is(Kind::k_boolean_operator) && n.field() == Field::k_right && holder.child(Field::k_operator).text() == "and") {
      type = type_of_test(at = holder.child(Field::k_left), text);
    } else if (holder.is(Kind::k_conditional_expression) && n == holder.child_at(0)) {
      type = type_of_test(at = holder.child_at(1), text);
    } else if (holder.is_any(Kind::k_block, Kind::k_module)) {
      const auto& checks = holder.tree()->checks();
      auto it = std::lower_bound(checks.begin(), checks.end(), std::pair(holder.id(), n.id()));
      while (!type && it != checks.begin() && (--it)->first == holder.id()) {  // the last one before the use holds
        at = holder.tree()->at(it->second);
        type = at.is(Kind::k_assert_statement) ? type_of_test(at.first_child(), text) : type_of_exit(at, text);
      }
    }
    if (type) return type;
  }
  return {};
}

}  // namespace

Values Semantics::narrowed(const Module& module, Node use, Values values) {
  std::string_view text = use.text();
  Node at;
  Node type = nearest_test(use, text, at);
  if (!type) return values;
  NodeId from = std::min(at.subtree_end(), use.id());
  if (assigns_between(module.syntax(), from, use.id(), text)) return values;
  // `isinstance(x, (A, B))`
  Values classes;
  if (type.is(Kind::k_tuple)) {
    for (Node item : type.children()) classes.merge(infer(module, item));
  } else {
    classes = infer(module, type);
  }
  if (!classes.known()) return values;
  Values out;
  for (const Value& c : classes.list) {
    if (c.kind != ValueKind::kClass) return values;
    Value instance = instance_value(c.class_ref());
    instance.declared = true;
    // What is known more exactly stays.
    bool kept = false;
    for (const Value& v : values.list) {
      if (v.kind != ValueKind::kInstance || !class_info(v.class_ref()).derives_from(c.class_ref())) continue;
      out.add(v);
      kept = true;
    }
    if (!kept || values.open) out.add(instance);
  }
  return out;
}

}  // namespace assay
