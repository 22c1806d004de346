// missing-member: a class that takes the place of a class of the target, and lacks a method that its users call.
#include <algorithm>
#include <set>

#include "rules/object_facts.h"
#include "rules/rules.h"

namespace assay {
namespace {

struct Replacement {
  ClassRef own, original;
  const Module* module = nullptr;  // where it is put in place; null for a fork of the same name
  Node statement;
};

struct User {
  const Module* module = nullptr;
  Node call;
};

// The class that a name of a module of the target is, before anything is patched.
ClassRef original_class(RuleContext& ctx, const Module& holder, std::string_view name) {
  Member member = ctx.sem.module_member(holder, name);
  if (member.presence != Presence::kYes || member.bindings.size() != 1) return {};
  Values values = ctx.sem.infer_binding(*member.module, *member.bindings.front());
  const Value* v = values.single();
  if (!v || v->kind != ValueKind::kClass || v->module->tree != &ctx.target) return {};
  return v->class_ref();
}

// `module.Name = Class`
bool replaced_by_assignment(RuleContext& ctx, const Module& module, Node assignment, Replacement& out) {
  Node target = assignment.child(Field::k_left), value = assignment.child(Field::k_right);
  if (!target.is(Kind::k_attribute) || !value.is_any(Kind::k_identifier, Kind::k_attribute)) return false;
  Values classes = ctx.sem.infer(module, value);
  const Value* own = classes.single();
  if (!own || own->kind != ValueKind::kClass || own->module->tree != &ctx.plugin) return false;
  Values holders = ctx.sem.infer(module, target.child(Field::k_object));
  const Value* holder = holders.single();
  if (!holder || holder->kind != ValueKind::kModule || holder->module->tree != &ctx.target) return false;
  out = {own->class_ref(), original_class(ctx, *holder->module, target.child(Field::k_attribute).text()), &module, assignment};
  return static_cast<bool>(out.original);
}

// The constant text that a method returns; empty for anything else.
std::string constant_result(const Module& module, Node cls, std::string_view method) {
  ScopeId scope = module.scopes().scope_opened_by(cls.id());
  if (scope == kNoScope) return {};
  std::string text;
  for (const Binding& b : module.scopes().in_scope(scope, method)) {
    if (b.kind != BindingKind::kFunction) continue;
    for (Node n : module.at(b.node).child(Field::k_body).children()) {
      if (n.is(Kind::k_return_statement) && !string_value(n.first_child(), text)) text.clear();
    }
  }
  return text;
}

// A class with the name of one class of the target, which is known to a registry under the same key: both answer the same
// name, or a decorator registers it.
bool forked_registry_class(RuleContext& ctx, const Module& module, Node cls, Replacement& out) {
  std::string_view name = cls.child(Field::k_name).text();
  ClassRef original;
  for (const DefinitionPlace& place : ctx.definitions.find(name)) {
    if (original) return false;
    original = original_class(ctx, ctx.project().load(*place.module), name);
    if (!original) return false;
  }
  if (!original) return false;
  bool registered = false;
  for (Node d : decorators_of(cls)) registered |= decorator_name(d).find("register") != std::string::npos;
  std::string key = constant_result(module, cls, "get_name");
  registered |= !key.empty() && key == constant_result(*original.module, original.definition(), "get_name");
  out = {{&module, cls.id()}, original, nullptr, cls};
  return registered;
}

bool inside_class(const Module& module, Node node, ClassRef cls) { return cls.module == &module && cls.definition().contains(node); }

// All definitions of the name stand in the original's own hierarchy: a call on an object of unknown class means them.
bool name_is_its_own(RuleContext& ctx, std::string_view name, ClassRef original) {
  const ClassInfo& info = ctx.sem.class_info(original);
  for (const IndexedDefinition& d : ctx.definitions.calls().definitions(name)) {
    Node function = definition_node(ctx.project(), d);
    Node owner = function ? enclosing_class(d.module->scopes(), function) : Node();
    if (!owner) return false;
    ClassRef ref{d.module, owner.id()};
    if (!info.derives_from(ref) && !ctx.sem.class_info(ref).derives_from(original)) return false;
  }
  return true;
}

// A call of the method on what may be an object of the replacement.
User find_user(RuleContext& ctx, const Replacement& r, std::string_view name) {
  bool own_name = name_is_its_own(ctx, name, r.original);
  for (const IndexedCall& c : ctx.definitions.calls().calls(name)) {
    if (!c.call.has_receiver || c.call.receiver == "self" || c.call.receiver == "cls" || c.call.receiver == "super()") continue;
    Node call = call_node(ctx.project(), c);
    if (!call || inside_class(*c.module, call, r.original) || inside_class(*c.module, call, r.own)) continue;
    if (ctx.sem.live(*c.module, call) == Truth::kNo) continue;
    Values values = ctx.sem.infer(*c.module, call.child(Field::k_function).child(Field::k_object));
    bool of_original = false, of_others = false;
    for (const Value& v : values.list) {
      bool object = v.kind == ValueKind::kInstance || v.kind == ValueKind::kClass;
      // Where the name was bound anew, its users see the replacement beside the original.
      auto of = [&](ClassRef cls) { return object && ctx.sem.class_info(v.class_ref()).derives_from(cls); };
      (of(r.original) || of(r.own) ? of_original : of_others) |= v.kind != ValueKind::kNone;
    }
    // Who names the original gets the replacement only where its name was bound anew.
    bool uses = r.module ? of_original : own_name && values.list.empty();
    if (uses && !of_others) return {c.module, call};
  }
  return {};
}

void check_member(RuleContext& ctx, const Replacement& r, std::string_view name, const Module& from, Node definition) {
  if (name.substr(0, 2) == "__" || lacks_attribute(ctx, r.own, name, false) != Lack::kCertain) return;
  User user = find_user(ctx, r, name);
  if (!user.call) return;
  const ClassInfo& own = ctx.sem.class_info(r.own);
  const ClassInfo& original = ctx.sem.class_info(r.original);
  std::string how = r.module ? "replaces" : "stands for";
  Finding* f = report(ctx, "missing-member", *r.own.module, r.own.definition().child(Field::k_name), own.name + "." + std::string(name),
                      own.name + " " + how + " " + original.name + " and has no '" + std::string(name) + "', which " + user.module->name + " calls");
  if (!f) return;
  if (!r.module && f->level == Level::kError) {
    f->level = Level::kWarning;
    f->limits.push_back("that the call gets this class, and not the target's, was not followed");
  }
  f->expected = "a method '" + std::string(name) + "', as the target's class has";
  f->observed = std::string(user.call.text().substr(0, 160));
  relate(*f, *user.module, user.call, std::string(name), "called here");
  relate(*f, from, definition, original.name + "." + std::string(name), "the target's method");
  if (r.module) relate(*f, *r.module, r.statement, own.name, "put in place here");
}

void check_replacement(RuleContext& ctx, const Replacement& r) {
  const ClassInfo& own = ctx.sem.class_info(r.own);
  if (own.derives_from(r.original) || !own.complete) return;
  std::set<std::string_view> seen;
  for (const MroEntry& e : ctx.sem.class_info(r.original).mro) {
    if (!e.ref || e.ref.module->tree != &ctx.target) continue;
    ScopeId scope = e.ref.module->scopes().scope_opened_by(e.ref.node);
    if (scope == kNoScope) continue;
    for (const Binding& b : e.ref.module->scopes().in_scope(scope)) {
      if (b.kind == BindingKind::kFunction && seen.insert(b.name).second) check_member(ctx, r, b.name, *e.ref.module, e.ref.module->at(b.node));
    }
  }
}

}  // namespace

void check_members(RuleContext& ctx, const Module& module) {
  std::set<std::pair<ClassRef, ClassRef>> seen;
  Replacement r;
  for (Node n : module.root().descendants()) {
    bool found = n.is(Kind::k_assignment) ? replaced_by_assignment(ctx, module, n, r)
                 : n.is(Kind::k_class_definition) && !enclosing_function(module.scopes(), n) && forked_registry_class(ctx, module, n, r);
    if (found && seen.insert({r.own, r.original}).second) check_replacement(ctx, r);
  }
}

}  // namespace assay
