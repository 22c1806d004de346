// unimplemented-hook: the target calls a method that only raises NotImplementedError for a class of the plugin.
#include <algorithm>
#include <set>

#include "rules/created_classes.h"
#include "rules/rules.h"

namespace assay {
namespace {

// `raise NotImplementedError` and nothing else but a docstring.
bool only_raises(Node function) {
  bool raises = false;
  for (Node s : function.child(Field::k_body).children()) {
    if (s.is(Kind::k_expression_statement) && s.first_child().is(Kind::k_string)) continue;
    if (!s.is(Kind::k_raise_statement) || s.text().find("NotImplementedError") == std::string_view::npos) return false;
    raises = true;
  }
  return raises && !has_decorator(function, "abstractmethod");
}

// Nearly every subclass that the target itself has defines the method: it is no option.
bool others_define(RuleContext& ctx, ClassRef owner, std::string_view name) {
  std::set<const Module*> subclasses, definers;
  for (const ClassPlace& c : ctx.definitions.members().subclasses(owner.definition().child(Field::k_name).text())) {
    if (c.module->tree == &ctx.target) subclasses.insert(c.module);
  }
  for (const IndexedDefinition& d : ctx.definitions.calls().definitions(name)) {
    if (subclasses.count(d.module)) definers.insert(d.module);
  }
  return definers.size() >= 2 && definers.size() * 5 >= subclasses.size() * 4;
}

// A call from outside the class's own hierarchy that nothing makes conditional.
ReachingCall plain_call(RuleContext& ctx, const Override& o) {
  const ClassInfo& info = ctx.sem.class_info(o.cls);
  for (const ReachingCall& c : reaching_calls(ctx, o, 20)) {
    Node owner = enclosing_class(c.module->scopes(), c.call);
    if (owner && info.derives_from(ClassRef{c.module, owner.id()})) continue;
    bool conditional = false;
    for (const Guard& g : guards_of(c.call)) {
      if (g.kind == GuardKind::kFunctionBody) break;
      conditional |= g.kind == GuardKind::kCondition || g.kind == GuardKind::kTry || g.kind == GuardKind::kHandler;
    }
    if (!conditional) return c;
  }
  return {};
}

void check_hook(RuleContext& ctx, const Module& module, const ClassInfo& info, Node method, ClassRef owner) {
  std::string_view name = method.child(Field::k_name).text();
  Override o{info.ref, name, {}, method_of(ctx, info.ref, name)};
  if (!o.base || o.base.owner != owner || !o.base.function) return;
  ReachingCall call = plain_call(ctx, o);
  if (!call.call) return;
  ReachingCall created = creation_of(ctx, info);
  Node handed = created.call ? Node() : handed_out(ctx, module, info);
  if ((!created.call && !handed) || !others_define(ctx, owner, name)) return;
  std::string symbol = ctx.sem.class_info(owner).name + "." + std::string(name);
  Finding* f = report(ctx, "unimplemented-hook", module, info.ref.definition().child(Field::k_name), symbol,
                      info.name + " does not define '" + std::string(name) + "', which the target calls: the base only raises NotImplementedError");
  if (!f) return;
  f->observed = "raise NotImplementedError";
  f->expected = symbol + to_string(o.base.signature);
  f->fix = "define '" + std::string(name) + "'";
  relate(*f, *owner.module, method, symbol, "all that the base does is raise");
  relate(*f, *call.module, call.call, symbol, "called here");
}

}  // namespace

void check_unimplemented(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_class_definition)) continue;
    const ClassInfo& info = ctx.sem.class_info({&module, n.id()});
    if (!info.complete || info.dynamic) continue;
    for (const MroEntry& e : info.mro) {
      if (!e.ref || e.ref.module->tree != &ctx.target) continue;
      const ClassInfo& base = ctx.sem.class_info(e.ref);
      for (Node m : base.facts->methods) {
        if (only_raises(m)) check_hook(ctx, module, info, m, e.ref);
      }
    }
  }
}

}  // namespace assay
