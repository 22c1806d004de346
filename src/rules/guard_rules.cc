// guard-not-reused: code that asks hasattr(x, "a") in one place, has an answer for both cases, and reads x.a bare later in
// the same function.
#include "rules/object_facts.h"
#include "rules/rules.h"

namespace assay {
namespace {

struct Question {
  Node call;
  Node object;
  std::string name;
};

// hasattr(x, "a") that decides between two values, or between doing something and going on.
bool question(Node call, Question& out) {
  if (call.child(Field::k_function).text() != "hasattr") return false;
  Node arguments = call.child(Field::k_arguments);
  out = {call, arguments.child_at(0), {}};
  if (arguments.child_count() != 2 || dotted_text(out.object).empty() || !string_value(arguments.child_at(1), out.name)) return false;
  Node holder = call.parent();
  if (holder.is(Kind::k_conditional_expression)) return holder.child_at(1) == call;
  return holder.is_any(Kind::k_if_statement, Kind::k_elif_clause) && call.field() == Field::k_condition && !always_leaves(holder.child(Field::k_consequence));
}

// The function stores the attribute, binds the object anew, or keeps an answer in a variable.
bool answered_otherwise(Node function, const Question& q) {
  std::string_view object = q.object.text();
  std::string_view root = object.substr(0, object.find('.'));
  int questions = 0;
  for (Node n : function.descendants()) {
    if (n.is(Kind::k_attribute) && n.child(Field::k_object).text() == object && n.child(Field::k_attribute).text() == q.name && is_store_target(n)) return true;
    if (n.is_any(Kind::k_attribute, Kind::k_identifier) && (n.text() == object || n.text() == root)) {
      Node p = n.parent();
      bool stored = n.field() == Field::k_left && p.is_any(Kind::k_assignment, Kind::k_for_statement, Kind::k_augmented_assignment);
      if (stored || p.is_any(Kind::k_pattern_list, Kind::k_as_pattern_target)) return true;
    }
    if (n.is(Kind::k_call) && n.child(Field::k_function).text() == "setattr" && n.text().find(q.name) != std::string_view::npos) return true;
    if (n.is(Kind::k_call) && n.child(Field::k_function).text() == "hasattr" && n.text() == q.call.text()) ++questions;
  }
  return questions > 1;
}

// A condition around the read mentions the question, or what the attribute gave.
bool guarded(Node read, const Question& q) {
  for (const Guard& g : guards_of(read)) {
    if (g.kind == GuardKind::kTry) return true;
    if (g.kind == GuardKind::kFunctionBody) break;
    std::string_view text = g.kind == GuardKind::kCondition ? g.node.text() : std::string_view();
    if (text.find("attr(") != std::string_view::npos || text.find("isinstance(") != std::string_view::npos) return true;
    if (text.find(q.object.text()) != std::string_view::npos) return true;
  }
  return false;
}

void check_question(RuleContext& ctx, const Module& module, Node function, const Question& q) {
  if (answered_otherwise(function, q)) return;
  for (Node n : function.descendants()) {
    if (n.id() < q.call.subtree_end() || !n.is(Kind::k_attribute)) continue;
    if (n.child(Field::k_object).text() != q.object.text() || n.child(Field::k_attribute).text() != q.name) continue;
    if (enclosing_function(module.scopes(), n) != function || guarded(n, q)) continue;
    // The read and the question must lie on one way through the function.
    Node decision = enclosing_statement(q.call), block = decision.parent();
    if (!block.contains(n) || decision.contains(n)) continue;
    std::string what = std::string(q.object.text()) + "." + q.name;
    Finding* f = report(ctx, "guard-not-reused", module, n, what,
                        "'" + what + "' is read bare, but line " + std::to_string(q.call.line()) + " of the same function expects objects without it");
    if (!f) continue;
    f->observed = std::string(enclosing_statement(n).text().substr(0, 160));
    f->expected = "the value that was chosen under " + std::string(q.call.text());
    f->trigger += (f->trigger.empty() ? "" : "; ") + std::string("an object '") + std::string(q.object.text()) + "' without '" + q.name + "'";
    relate(*f, module, q.call, what, "asked here");
    f->fix = "use the value that was computed behind the question";
    return;
  }
}

}  // namespace

void check_guards(RuleContext& ctx, const Module& module) {
  if (module.syntax().source().find("hasattr(") == std::string_view::npos) return;
  for (Node n : module.root().descendants()) {
    Question q;
    if (!n.is(Kind::k_call) || !question(n, q)) continue;
    if (Node function = enclosing_function(module.scopes(), n); function.is(Kind::k_function_definition)) check_question(ctx, module, function, q);
  }
}

}  // namespace assay
