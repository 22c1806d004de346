// super-call-mismatch, super-in-staticmethod.
#include <algorithm>

#include "rules/rules.h"

namespace assay {
namespace {

struct SuperPlace {
  Node call;      // super(…)
  Node function;  // the innermost function around it
  Node owner;     // the class whose method that is; null if it is no method
};

// Functions nested in a method see the method's __class__ cell, and their own first argument.
SuperPlace place_of(const Module& module, Node call) {
  SuperPlace p{call, enclosing_function(module.scopes(), call), {}};
  Node outer = p.function;
  while (outer && enclosing_function(module.scopes(), outer)) outer = enclosing_function(module.scopes(), outer);
  if (!outer) return p;
  Node owner = enclosing_class(module.scopes(), outer);
  ScopeId scope = module.scopes().scope_of(outer.id());
  if (owner && module.scopes().scopes()[scope].node == owner.id()) p.owner = owner;
  return p;
}

bool takes_self(Node function) {
  Node p = function.child(Field::k_parameters).first_child();
  if (p.is(Kind::k_typed_parameter)) p = p.first_child();
  return p.text() == "self" || p.text() == "cls";
}

// The caller of the rules may have been handed another `super`.
bool is_builtin_super(RuleContext& ctx, const Module& module, Node callee) {
  Values v = ctx.sem.infer(module, callee);
  const Value* one = v.single();
  return one && one->kind == ValueKind::kExternal && one->text == "builtins.super";
}

void check_without_arguments(RuleContext& ctx, const Module& module, const SuperPlace& p) {
  if (!p.function) return;
  if (p.owner) {
    if (!has_decorator(p.function, "staticmethod") || takes_self(p.function)) return;
    std::string name = ctx.sem.qualified_name(module, p.function);
    Finding* f = report(ctx, "super-in-staticmethod", module, p.call, name,
                        "super() without arguments in the static method " + name + " has no object to start from: it raises when called");
    if (!f) return;
    f->observed = "a static method";
    f->expected = "an instance or class method, or the base named explicitly";
    relate(*f, module, p.function, name, "the static method");
    return;
  }
  // A function that no class body holds has no __class__ cell, whoever assigns it to a class later.
  if (!p.function.is(Kind::k_function_definition) || enclosing_class(module.scopes(), p.call)) return;
  std::string name = ctx.sem.qualified_name(module, p.function);
  Finding* f = report(ctx, "super-in-staticmethod", module, p.call, name,
                      "super() without arguments in " + name + ", which no class body holds, raises when called: __class__ cell not found");
  if (!f) return;
  f->observed = "a function outside any class body";
  f->expected = "super(Class, self)";
}

// super(X, self): X must stand in the order of the class around it.
void check_named_class(RuleContext& ctx, const Module& module, const SuperPlace& p, Node named) {
  if (!p.owner || !p.function || takes_self(p.function) == false) return;
  Node object = p.call.child(Field::k_arguments).child_at(1);
  if (object.text() != first_parameter(p.function)) return;
  const ClassInfo& info = ctx.sem.class_info({&module, p.owner.id()});
  Values values = ctx.sem.infer(module, named);
  const Value* v = values.single();
  if (!v || !info.complete) return;
  std::string name;
  if (v->kind == ValueKind::kClass) {
    if (info.derives_from(v->class_ref())) return;
    name = ctx.sem.class_info(v->class_ref()).name;
  } else if (v->kind == ValueKind::kExternal && ctx.sem.externals().class_members.count(v->text)) {
    if (info.derives_from(v->text)) return;
    name = v->text;
  } else {
    return;
  }
  // A class of the same name in the order was imported over, or is replaced by a patch.
  Finding* f = report(ctx, "super-call-mismatch", module, p.call, name,
                      "super(" + std::string(named.text()) + ", …) names a class that " + info.name +
                          " does not derive from: the call raises TypeError");
  if (!f) return;
  f->observed = std::string(p.call.text());
  f->expected = "super()";
  f->fix = "write super()";
  relate(*f, module, p.owner, info.name, "the class");
  if (v->kind == ValueKind::kClass) relate(*f, *v->module, v->definition(), name, "the class named in super()");
}

// super().name(…) against what comes next in the order.
void check_call(RuleContext& ctx, const Module& module, const SuperPlace& p) {
  Node attribute = p.call.parent();
  if (!attribute.is(Kind::k_attribute) || p.call.field() != Field::k_object || !p.owner) return;
  Node call = attribute.parent();
  if (!call.is(Kind::k_call) || attribute.field() != Field::k_function) return;
  Values values = ctx.sem.infer(module, attribute);
  const Value* v = values.single();
  if (!v || v->kind != ValueKind::kFunction) return;
  Callable callee = ctx.sem.callable(*v);
  CallShape shape = call_shape(call);
  if (!callee.known || shape.unreadable) return;
  BindResult result = bind(callee.signature, shape);
  if (!result.certainly_fails() || ctx.sem.version_guarded(module, call)) return;
  const ClassInfo& info = ctx.sem.class_info({&module, p.owner.id()});
  if (!info.consistent) return;
  Finding* f = report(ctx, "super-call-mismatch", module, call, callee.name,
                      "the super() call of " + callee.name + " cannot be bound: " + describe(result));
  if (!f) return;
  f->expected = callee.name + to_string(callee.signature);
  f->observed = std::string(call.text().substr(0, 200));
  relate(*f, *callee.module, callee.definition, callee.name, "next in the order of " + info.name + ", as " + to_string(callee.signature));
}

// super().name where no base has it.
void check_member(RuleContext& ctx, const Module& module, const SuperPlace& p) {
  Node attribute = p.call.parent();
  if (!attribute.is(Kind::k_attribute) || p.call.field() != Field::k_object || !p.owner) return;
  ClassRef cls{&module, p.owner.id()};
  const ClassInfo& info = ctx.sem.class_info(cls);
  std::string_view name = attribute.child(Field::k_attribute).text();
  if (!info.complete || info.dynamic || info.facts->metaclass) return;
  if (ctx.sem.class_member(cls, name, cls).presence != Presence::kNo) return;
  // Another class may stand between in the order of a subclass: a mixin calls what it does not derive from.
  if (info.mro.size() <= 2 || !ctx.definitions.members().subclasses(p.owner.child(Field::k_name).text()).empty()) return;
  for (const Guard& g : guards_of(attribute)) {
    if (g.kind == GuardKind::kTry) return;
    if (g.kind == GuardKind::kCondition && g.node.text().find("hasattr") != std::string_view::npos) return;
  }
  std::string base;
  for (const MroEntry& e : info.mro) {
    if (e.ref && e.ref != cls) {
      base = ctx.sem.class_info(e.ref).name;
      break;
    }
  }
  if (base.empty()) return;
  Finding* f = report(ctx, "super-call-mismatch", module, attribute, base + "." + std::string(name),
                      "no base of " + info.name + " has '" + std::string(name) + "': super()." + std::string(name) + " raises AttributeError");
  if (!f) return;
  f->observed = std::string(attribute.text());
  for (const MroEntry& e : info.mro) {
    if (e.ref && e.ref != cls) {
      relate(*f, *e.ref.module, e.ref.definition(), base, "looked for here first");
      break;
    }
  }
}

}  // namespace

void check_super(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_call)) continue;
    Node callee = n.child(Field::k_function);
    if (!callee.is(Kind::k_identifier) || callee.text() != "super" || !is_builtin_super(ctx, module, callee)) continue;
    SuperPlace p = place_of(module, n);
    Node first = n.child(Field::k_arguments).first_child();
    if (first) {
      check_named_class(ctx, module, p, first);
    } else {
      check_without_arguments(ctx, module, p);
    }
    check_call(ctx, module, p);
    check_member(ctx, module, p);
  }
}

}  // namespace assay
