// class-identity: isinstance and issubclass against what is no class; constant-condition: comparisons with None that
// always give the same.
#include <algorithm>

#include "rules/object_facts.h"
#include "rules/rules.h"

namespace assay {
namespace {

// What is certainly no class, union or tuple.
bool is_no_class(const Value& v) {
  switch (v.kind) {
    case ValueKind::kFunction:
    case ValueKind::kModule:
    case ValueKind::kString:
    case ValueKind::kInteger:
    case ValueKind::kBool:
    case ValueKind::kNone: return true;
    case ValueKind::kLiteral: return !v.definition().is(Kind::k_tuple);
    default: return false;
  }
}

const char* kind_of(const Value& v) {
  switch (v.kind) {
    case ValueKind::kFunction: return "a function";
    case ValueKind::kModule: return "a module";
    case ValueKind::kString: return "a string";
    case ValueKind::kNone: return "None";
    default: return "no class";
  }
}

// Classes that the factory returns, for "test against …".
std::string made_by(RuleContext& ctx, const Value& function) {
  if (function.kind != ValueKind::kFunction) return {};
  Node type = function.definition().child(Field::k_return_type);
  if (!type) return {};
  std::string out;
  for (const Value& v : ctx.sem.infer_annotation(*function.module, type).list) {
    if (v.kind == ValueKind::kInstance) out += (out.empty() ? "" : ", ") + ctx.sem.describe(v);
  }
  return out;
}

void check_type_argument(RuleContext& ctx, const Module& module, Node call, Node type, std::string_view test) {
  if (type.is_any(Kind::k_tuple, Kind::k_parenthesized_expression)) {
    for (Node item : type.children()) check_type_argument(ctx, module, call, item, test);
    return;
  }
  if (!type.is_any(Kind::k_identifier, Kind::k_attribute)) return;
  Values values = ctx.sem.infer(module, type);
  if (!values.known() || !std::all_of(values.list.begin(), values.list.end(), is_no_class)) return;
  if (error_caught(call, "TypeError", Handlers::kAny)) return;
  const Value& v = values.list.front();
  // `X = None` beside a real class in another branch, and the test behind `X is not None`.
  if (v.kind == ValueKind::kNone) return;
  for (const Guard& g : guards_of(call)) {
    std::string_view text = g.node.text();
    if (g.kind == GuardKind::kCondition && (text.find("isclass") != std::string_view::npos || text.find("callable(") != std::string_view::npos)) return;
  }
  std::string name = ctx.sem.describe(v);
  Finding* f = report(ctx, "class-identity", module, call, name,
                      std::string(test) + " tests against " + name + ", which is " + kind_of(v) + ": it raises TypeError");
  if (!f) return;
  f->observed = name + " is " + kind_of(v);
  f->expected = "a class, or a tuple or union of classes";
  f->group = "class-identity:" + name;
  if (v.module) relate(*f, *v.module, v.definition(), name, std::string("defined here as ") + kind_of(v));
  if (std::string classes = made_by(ctx, v); !classes.empty()) f->fix = "it makes objects of " + classes + ": test against that";
}

void check_test_call(RuleContext& ctx, const Module& module, Node call) {
  std::string_view callee = call.child(Field::k_function).text();
  if (callee != "isinstance" && callee != "issubclass") return;
  Node arguments = call.child(Field::k_arguments);
  if (arguments.child_count() != 2) return;
  check_type_argument(ctx, module, call, arguments.child_at(1), callee);
}

// The one assignment that reaches the name: a local variable, assigned once in its function, from a call.
Node only_value(const Module& module, Node name) {
  const ModuleScopes& scopes = module.scopes();
  ScopeId scope = scopes.resolve(name.id(), name.text());
  if (scope == kNoScope || scopes.scopes()[scope].kind != ScopeKind::kFunction) return {};
  Node value;
  for (const Binding& b : scopes.in_scope(scope, name.text())) {
    Node statement = module.at(b.statement);
    if (b.kind != BindingKind::kAssign || value || !statement.child(Field::k_left).is(Kind::k_identifier)) return {};
    value = statement.child(Field::k_right);
  }
  return value;
}

// A call of triton.language that gives a tensor or scalar, never None.
bool gives_triton_value(RuleContext& ctx, const Module& module, Node call) {
  if (!call.is(Kind::k_call)) return false;
  Values callee = ctx.sem.infer(module, call.child(Field::k_function));
  const Value* v = callee.single();
  bool external = v && v->kind == ValueKind::kExternal;
  std::string text = external ? std::string(v->text) : dotted_text(call.child(Field::k_function));
  // The language may come through a wrapper module that offers a placeholder where Triton is missing.
  bool language = text.rfind("triton.language.", 0) == 0 || (!external && text.rfind("tl.", 0) == 0);
  if (!language) return false;
  std::string_view last = std::string_view(text).substr(text.rfind('.') + 1);
  static constexpr std::string_view kGiveValues[] = {"load", "arange", "zeros", "full", "program_id", "num_programs", "where", "sum", "max", "min",
                                                     "dot", "maximum", "minimum", "exp", "log", "cdiv", "atomic_add", "atomic_max", "cast"};
  return std::find(std::begin(kGiveValues), std::end(kGiveValues), last) != std::end(kGiveValues);
}

void check_none_comparison(RuleContext& ctx, const Module& module, Node comparison) {
  if (comparison.child_count() != 3 || !comparison.child_at(2).is(Kind::k_none)) return;
  std::string_view op = comparison.child(Field::k_operators).text();
  bool is_not = op == "is not";
  if (op != "is" && !is_not) return;
  Node left = comparison.child_at(0);
  if (!left.is(Kind::k_identifier)) return;
  Node value = only_value(module, left);
  if (!value || !gives_triton_value(ctx, module, value)) return;
  std::string what(value.child(Field::k_function).text());
  Finding* f = report(ctx, "constant-condition", module, comparison, std::string(left.text()),
                      "'" + std::string(comparison.text()) + "' is always " + (is_not ? "true" : "false") + ": " + what + "() never gives None");
  if (!f) return;
  f->observed = std::string(left.text()) + " = " + std::string(value.text().substr(0, 120));
  f->expected = "a test of the loaded value";
  relate(*f, module, value, what, "its only assignment");
  f->fix = is_not ? "test the value: 'if " + std::string(left.text()) + "'" : "test the value: 'if not " + std::string(left.text()) + "'";
}

}  // namespace

void check_identity(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_call)) check_test_call(ctx, module, n);
    if (n.is(Kind::k_comparison_operator)) check_none_comparison(ctx, module, n);
  }
}

}  // namespace assay
