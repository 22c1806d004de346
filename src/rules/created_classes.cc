#include "rules/created_classes.h"

namespace assay {

ReachingCall creation_of(RuleContext& ctx, const ClassInfo& info) {
  for (const IndexedCall& c : ctx.definitions.calls().calls(info.ref.definition().child(Field::k_name).text())) {
    Node call = call_node(ctx.project(), c);
    if (!call || ctx.sem.live(*c.module, call) == Truth::kNo) continue;
    Values callees = ctx.sem.infer(*c.module, call.child(Field::k_function));
    const Value* v = callees.single();
    if (!v || v->kind != ValueKind::kClass || v->declared || v->class_ref() != info.ref) continue;
    ReachingCall out;
    out.module = c.module;
    out.call = call;
    return out;
  }
  return {};
}

Node handed_out(RuleContext& ctx, const Module& module, const ClassInfo& info) {
  std::string_view name = info.ref.definition().child(Field::k_name).text();
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_return_statement) || n.first_child().text() != name) continue;
    Node function = enclosing_function(module.scopes(), n), owner = enclosing_class(module.scopes(), n);
    if (!function || !owner) continue;
    MethodDef base = base_method(ctx, {&module, owner.id()}, function.child(Field::k_name).text());
    std::string_view type = base.function.child(Field::k_return_type).text();
    if (type.find("type[") != std::string_view::npos || type.find("Type[") != std::string_view::npos) return n;
  }
  return {};
}

}  // namespace assay
