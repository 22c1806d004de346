// What `row.field` is in a loop over a table that is written down: `for row in [Row("a", 1), Row("b", 2)]`.
#include "project/semantics.h"

namespace assay {
namespace {

constexpr uint32_t kMostRows = 500;

// The iterable of the loop around the variable that binds it; null if something else inside that loop does so too.
Node iterable_of(const Module& module, Node variable) {
  ScopeId scope = module.scopes().resolve(variable.id(), variable.text());
  if (scope == kNoScope) return {};
  Node loop;
  for (const Binding& b : module.scopes().in_scope(scope, variable.text())) {
    Node statement = module.at(b.statement);
    if (b.kind == BindingKind::kFor && statement.child(Field::k_body).contains(variable) && statement.child(Field::k_left).is(Kind::k_identifier)) loop = statement;
  }
  for (const Binding& b : module.scopes().in_scope(scope, variable.text())) {
    if (loop && b.statement != loop.id() && loop.contains(module.at(b.statement))) return {};
  }
  return loop.child(Field::k_right);
}

}  // namespace

// Open wherever a row is no call of a dataclass or named tuple, or code stores that field elsewhere.
Values Semantics::loop_column(const Module& module, Node attribute) {
  const Values unknown = Values::unknown("loop variable");
  Node variable = attribute.child(Field::k_object);
  if (!variable.is(Kind::k_identifier)) return unknown;
  Node iterable = iterable_of(module, variable);
  if (!iterable) return unknown;
  Values tables = infer(module, iterable);
  const Value* table = tables.single();
  if (!table || table->kind != ValueKind::kLiteral || !table->definition().is_any(Kind::k_list, Kind::k_tuple)) return unknown;
  std::string_view field = attribute.child(Field::k_attribute).text();
  Values out;
  uint32_t rows = 0;
  for (Node row : table->definition().children()) {
    if (!row.is(Kind::k_call) || ++rows > kMostRows) return unknown;
    Values callees = infer(*table->module, row.child(Field::k_function));
    const Value* cls = callees.single();
    if (!cls || cls->kind != ValueKind::kClass) return unknown;
    Callable constructor;
    if (!synthesised_constructor(class_info(cls->class_ref()), constructor) || !constructor.known) return unknown;
    BindResult bound = bind(constructor.signature, call_shape(row));
    const auto& parameters = constructor.signature.parameters;
    size_t at = 0;
    while (at < parameters.size() && parameters[at].name != field) ++at;
    if (bound.outcome != BindOutcome::kOk || at == parameters.size() || !bound.arguments[at].value) return unknown;
    Values value = infer(*table->module, bound.arguments[at].value);
    if (!value.single()) return unknown;
    out.list.push_back(*value.single());  // as many as there are rows, more than an expression elsewhere may have
  }
  return out;
}

}  // namespace assay
