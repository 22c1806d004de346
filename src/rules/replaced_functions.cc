#include "rules/replaced_functions.h"

#include <algorithm>

namespace assay {
namespace {

using Side = ReplacedFunction::Side;

bool is_kernel(Node function) {
  return has_decorator(function, "jit") || has_decorator(function, "autotune") || has_decorator(function, "heuristics");
}

Side as_written(const Module& module, Node node) {
  Side f{&module, node, {}, is_kernel(node)};
  f.method.module = &module;
  f.method.function = f.method.definition = node;
  f.method.signature = signature_of(node);
  if (f.kernel) f.method.kind = MethodKind::kStatic;
  return f.method.signature.incomplete ? Side() : f;
}

// A wrapped function may take other arguments than are written, except for kernels, whose decorators are known.
Side function_of(RuleContext& ctx, const Module& module, Node node) {
  Side f = as_written(module, node);
  if (!f.node || f.kernel) return f;
  Values v = ctx.sem.infer(module, node);
  const Value* one = v.single();
  return one && one->kind == ValueKind::kFunction && one->node == node.id() ? f : Side();
}

// The only live function of that name, patches aside.
Side original_of(RuleContext& ctx, const ReplacedFunction& r) {
  std::vector<const Binding*> bindings;
  const Module* module = r.holder;
  if (r.cls != kNoNode) {
    Member m = ctx.sem.class_member({r.holder, r.cls}, r.attribute);
    if (m.presence != Presence::kYes || !m.owner) return {};
    bindings = m.bindings;
    module = m.module;
  } else {
    for (const Binding& b : module->scopes().in_scope(kModuleScope, r.attribute)) {
      if (ctx.sem.live(*module, module->at(b.node)) != Truth::kNo) bindings.push_back(&b);
    }
  }
  if (bindings.size() != 1 || bindings[0]->kind != BindingKind::kFunction) return {};
  Node node = module->at(bindings[0]->node);
  if (has_decorator(node, "property") || has_decorator(node, "cached_property") || has_decorator(node, "overload")) return {};
  Side f = function_of(ctx, *module, node);
  if (!f.node) return {};
  bool in_class = r.cls != kNoNode;
  f.method.kind = !in_class || has_decorator(node, "staticmethod") ? MethodKind::kStatic
                  : has_decorator(node, "classmethod")             ? MethodKind::kClass
                                                                   : MethodKind::kInstance;
  return f;
}

// The function that an identifier names in its own module, for decorators that inference does not see through.
Node named_function(const Module& module, Node value) {
  if (!value.is(Kind::k_identifier)) return {};
  auto bindings = module.scopes().in_scope(kModuleScope, value.text());
  return bindings.size() == 1 && bindings[0].kind == BindingKind::kFunction ? module.at(bindings[0].node) : Node();
}

Side replacement_of(RuleContext& ctx, const ReplacedFunction& r) {
  Node value = strip_parens(r.value);
  bool in_class = r.cls != kNoNode;
  MethodKind kind = in_class ? MethodKind::kInstance : MethodKind::kStatic;
  if (value.is(Kind::k_call)) {
    std::string_view wrapper = value.child(Field::k_function).text();
    if (wrapper != "staticmethod" && wrapper != "classmethod") return {};
    kind = wrapper == "staticmethod" ? MethodKind::kStatic : MethodKind::kClass;
    value = value.child(Field::k_arguments).first_child();
  }
  Side f;
  if (value.is(Kind::k_function_definition)) {
    f = as_written(*r.value_module, value);  // the helper that decorates it hands it on
  } else if (Node named = named_function(*r.value_module, value); named && is_kernel(named)) {
    f = function_of(ctx, *r.value_module, named);
  } else {
    Values values = ctx.sem.infer(*r.value_module, value);
    const Value* v = values.single();
    if (!v || v->kind != ValueKind::kFunction || !v->definition().is(Kind::k_function_definition)) return {};
    f = function_of(ctx, *v->module, v->definition());
    // `C.m = D.m` of a class method is bound to D already.
    if (v->bound != Bound::kNo) {
      f.method.signature = f.method.signature.without_first();
      kind = MethodKind::kStatic;
    }
  }
  if (f.node && !f.kernel) f.method.kind = kind;
  return f;
}

bool holder_of(RuleContext& ctx, const Module& module, Node object, ReplacedFunction& r) {
  Values holders = ctx.sem.infer(module, object);
  const Value* h = holders.single();
  if (!h || !h->module || h->module->tree == module.tree) return false;
  if (h->kind == ValueKind::kModule) {
    r.symbol = h->module->name;
  } else if (h->kind == ValueKind::kClass && !h->declared) {
    r.cls = h->node;
    r.symbol = ctx.sem.class_info(h->class_ref()).name;
  } else {
    return false;
  }
  r.holder = &ctx.project().load(*h->module);
  r.symbol += "." + r.attribute;
  return r.holder->kind == ModuleKind::kSource;
}

void add_if_known(RuleContext& ctx, ReplacedFunction r, std::vector<ReplacedFunction>& out) {
  r.original = original_of(ctx, r);
  if (!r.original.node || r.original.module->tree == r.module->tree) return;
  r.replacement = replacement_of(ctx, r);
  if (r.replacement.node && r.replacement.module->tree != r.original.module->tree) out.push_back(std::move(r));
}

// holder.name = value
void read_assignment(RuleContext& ctx, const Module& module, Node n, std::vector<ReplacedFunction>& out) {
  Node left = n.child(Field::k_left), value = n.child(Field::k_right);
  if (!left.is(Kind::k_attribute) || !value) return;
  while (value.is(Kind::k_assignment)) value = value.child(Field::k_right);
  ReplacedFunction r;
  r.module = &module;
  r.statement = n;
  r.value = value;
  r.value_module = &module;
  r.attribute = std::string(left.child(Field::k_attribute).text());
  if (holder_of(ctx, module, left.child(Field::k_object), r)) add_if_known(ctx, std::move(r), out);
}

// setattr(holder, "name", value)
void read_setattr(RuleContext& ctx, const Module& module, Node n, std::vector<ReplacedFunction>& out) {
  Node arguments = n.child(Field::k_arguments);
  ReplacedFunction r;
  r.module = &module;
  r.statement = n;
  r.value = arguments.child_at(2);
  r.value_module = &module;
  if (!r.value || !string_value(arguments.child_at(1), r.attribute)) return;
  if (holder_of(ctx, module, arguments.child_at(0), r)) add_if_known(ctx, std::move(r), out);
}

// What the search for patches found besides: helpers, decorators, loops over tables.
void read_sites(RuleContext& ctx, const Module& module, std::vector<ReplacedFunction>& out) {
  if (!ctx.facts.patches) return;
  for (const PatchSite& site : ctx.facts.patches->sites) {
    if (site.module != &module || !site.value || !site.value_module) continue;
    ReplacedFunction r;
    r.module = &module;
    r.statement = site.place;
    r.value = site.value;
    r.value_module = site.value_module;
    r.attribute = site.attribute;
    r.symbol = site.owner.dotted + "." + site.attribute;
    bool known = std::any_of(out.begin(), out.end(), [&](const ReplacedFunction& o) {
      return o.attribute == r.attribute && (o.statement.contains(r.statement) || r.statement.contains(o.statement));
    });
    r.holder = site.owner.kind == PlaceKind::kClass ? site.owner.cls.module : site.owner.module;
    if (site.owner.kind == PlaceKind::kClass) r.cls = site.owner.cls.node;
    bool place = site.owner.kind == PlaceKind::kClass || site.owner.kind == PlaceKind::kModule;
    if (known || !place || !r.holder || r.holder->tree == module.tree || r.holder->kind != ModuleKind::kSource) continue;
    ctx.project().load(*r.holder);
    add_if_known(ctx, std::move(r), out);
  }
}

}  // namespace

Override ReplacedFunction::as_override() const {
  Override o{{holder, cls}, attribute, replacement.method, original.method};
  o.base.owner = {holder, cls};
  return o;
}

std::vector<ReplacedFunction> replaced_functions(RuleContext& ctx, const Module& module) {
  std::vector<ReplacedFunction> out;
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_assignment)) read_assignment(ctx, module, n, out);
    if (n.is(Kind::k_call) && n.child(Field::k_function).text() == "setattr") read_setattr(ctx, module, n, out);
  }
  read_sites(ctx, module, out);
  return out;
}

bool names_original(RuleContext& ctx, const Module& module, Node callee, const ReplacedFunction& r) {
  Values values = ctx.sem.infer(module, callee);
  return std::any_of(values.list.begin(), values.list.end(), [&](const Value& v) {
    return v.kind == ValueKind::kFunction && v.module == r.original.module && v.node == r.original.node.id();
  });
}

}  // namespace assay
