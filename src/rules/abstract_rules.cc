// missing-abstract: a class that is created, or registered, lacks a method that a base declares abstract.
#include <algorithm>
#include <set>

#include "rules/created_classes.h"
#include "rules/rules.h"
#include "rules/signature_compare.h"

namespace assay {
namespace {

struct Missing {
  std::string_view name;
  ClassRef owner;
  Node function;
};

bool is_abstract(Node function) { return has_decorator(function, "abstractmethod") || has_decorator(function, "abstractproperty"); }

// Python refuses to create an object only where the metaclass is ABCMeta.
bool enforces(RuleContext& ctx, const ClassInfo& info) {
  for (const MroEntry& e : info.mro) {
    if (e.external == "abc.ABC" || e.external == "typing.Protocol" || e.external == "typing_extensions.Protocol") return true;
    if (e.ref && ctx.sem.class_info(e.ref).facts->metaclass.text().find("ABCMeta") != std::string_view::npos) return true;
  }
  return false;
}

std::vector<Missing> missing_of(RuleContext& ctx, const ClassInfo& info) {
  std::vector<Missing> out;
  std::set<std::string_view> seen;
  for (const MroEntry& e : info.mro) {
    if (!e.ref) continue;
    for (Node m : ctx.sem.class_info(e.ref).facts->methods) {
      std::string_view name = m.child(Field::k_name).text();
      if (!is_abstract(m) || !seen.insert(name).second) continue;
      Member used = ctx.sem.class_member(info.ref, name);
      bool abstract = used.presence == Presence::kYes && used.owner && !used.patches && !used.bindings.empty();
      for (const Binding* b : used.bindings) {
        abstract &= b->kind == BindingKind::kFunction && is_abstract(used.module->at(b->node));
      }
      if (abstract) out.push_back({name, used.owner, used.module->at(used.bindings.back()->node)});
    }
  }
  return out;
}

bool is_registered(Node definition) {
  for (Node d : decorators_of(definition)) {
    if (decorator_name(d).find("register") != std::string::npos) return true;
  }
  return false;
}

void check_class(RuleContext& ctx, const Module& module, Node definition) {
  const ClassInfo& info = ctx.sem.class_info({&module, definition.id()});
  if (!info.complete || !info.consistent || info.dynamic || info.mro.size() < 3 || !enforces(ctx, info)) return;
  std::vector<Missing> missing = missing_of(ctx, info);
  if (missing.empty()) return;
  // An abstract class of the plugin's own.
  if (std::any_of(missing.begin(), missing.end(), [&](const Missing& m) { return m.owner == info.ref; })) return;
  ReachingCall created = creation_of(ctx, info);
  // A class of static and class methods alone is used as it is, without objects.
  bool for_objects = std::any_of(missing.begin(), missing.end(), [](const Missing& m) {
    return !has_decorator(m.function, "staticmethod") && !has_decorator(m.function, "classmethod");
  });
  Node handed = created.call || !for_objects ? Node() : handed_out(ctx, module, info);
  bool registered = for_objects && is_registered(definition);
  if (!created.call && !handed && !registered) return;
  std::vector<std::string_view> names;
  for (const Missing& m : missing) names.push_back(m.name);
  std::string symbol = ctx.sem.class_info(missing[0].owner).name + "." + std::string(missing[0].name);
  std::string message = info.name + " does not define the abstract " + quoted(names) + " of " + ctx.sem.class_info(missing[0].owner).name;
  if (created.call || handed) message += ": creating it raises TypeError";
  Finding* f = report(ctx, "missing-abstract", module, definition.child(Field::k_name), symbol, message);
  if (!f) return;
  if (!created.call && !handed && f->level == Level::kError) {
    f->level = Level::kWarning;
    f->limits.push_back("no place was found that creates an object of the class");
  }
  f->observed = "no definition in " + info.name;
  f->expected = symbol + to_string(signature_of(missing[0].function));
  f->fix = "define " + quoted(names);
  for (const Missing& m : missing) relate(*f, *m.owner.module, m.function, std::string(m.name), "declared abstract here");
  if (created.call) relate(*f, *created.module, created.call, info.name, "created here");
  if (handed) relate(*f, module, handed, info.name, "handed out here");
}

}  // namespace

void check_abstract(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_class_definition)) check_class(ctx, module, n);
  }
}

}  // namespace assay
