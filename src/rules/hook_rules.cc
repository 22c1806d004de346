// removed-hook: a method that was an override once, and that nothing defines, calls or names any more.
#include <algorithm>
#include <map>
#include <set>

#include "base/parallel.h"
#include "python/skip_string.h"
#include "rules/override_calls.h"
#include "rules/rules.h"

namespace assay {
namespace {

struct Candidate {
  const Module* module;
  Node function;
  ClassRef cls, base;
  std::string_view name;
  uint32_t siblings = 0;  // methods of the class that do override something
};

// Names by which frameworks find methods on their own.
bool found_by_convention(std::string_view name) {
  for (std::string_view prefix : {"_", "test", "visit_", "on_", "do_", "handle_", "setUp", "tearDown"}) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

bool plain(Node function) {
  for (Node d : decorators_of(function)) {
    std::string name = decorator_name(d);
    if (name != "staticmethod" && name != "classmethod") return false;
  }
  return true;
}

// The nearest base that belongs to the target.
ClassRef target_base(RuleContext& ctx, const ClassInfo& info) {
  for (const MroEntry& e : info.mro) {
    if (e.ref && e.ref.module->tree == &ctx.target) return e.ref;
  }
  return {};
}

void add_candidates(RuleContext& ctx, const Module& module, Node definition, std::vector<Candidate>& out) {
  ClassRef cls{&module, definition.id()};
  const ClassInfo& info = ctx.sem.class_info(cls);
  ClassRef base = target_base(ctx, info);
  if (!base || base == cls || !info.complete || info.dynamic) return;
  std::vector<Candidate> own;
  uint32_t overriding = 0;
  for (Node m : info.facts->methods) {
    std::string_view name = m.child(Field::k_name).text();
    if (name.substr(0, 2) == "__") continue;
    Presence above = ctx.sem.class_member(cls, name, cls).presence;
    overriding += above == Presence::kYes;
    if (above != Presence::kNo || found_by_convention(name) || !plain(m)) continue;
    if (!ctx.definitions.calls().calls(name).empty() || ctx.definitions.calls().definitions(name).size() > 1) continue;
    own.push_back({&module, m, cls, base, name});
  }
  // A class of which most is its own has methods of its own.
  for (Candidate& c : own) {
    c.siblings = overriding;
    if (overriding >= 2 && overriding >= 2 * own.size()) out.push_back(c);
  }
}

// How often each of the names stands in the text as a whole word.
void count_words(std::string_view text, std::map<std::string_view, int>& counts) {
  for (size_t i = 0; i < text.size();) {
    if (!is_identifier_byte(text[i])) {
      ++i;
      continue;
    }
    size_t from = i;
    while (i < text.size() && is_identifier_byte(text[i])) ++i;
    if (i - from < 3) continue;
    auto it = counts.find(text.substr(from, i - from));
    if (it != counts.end()) ++it->second;
  }
}

// The names that stand nowhere but in their one definition.
std::set<std::string_view> named_once(RuleContext& ctx, const std::vector<Candidate>& candidates) {
  std::map<std::string_view, int> total;
  for (const Candidate& c : candidates) total[c.name] = 0;
  std::vector<const Module*> modules;
  for (const SourceTree* tree : {&ctx.plugin, &ctx.target}) {
    for (const Module* m : ctx.project().modules_of(*tree)) {
      if (m->entry) modules.push_back(m);
    }
  }
  std::vector<std::map<std::string_view, int>> found(modules.size());
  parallel_for(modules.size(), default_threads(), [&](size_t i) {
    Blob text = ctx.project().bytes(*modules[i]);
    if (text.view().empty()) return;
    found[i] = total;
    count_words(text.view(), found[i]);
  });
  for (const auto& counts : found) {
    for (auto [name, n] : counts) total[name] += n;
  }
  std::set<std::string_view> out;
  for (auto [name, n] : total) {
    if (n == 1) out.insert(name);
  }
  return out;
}

}  // namespace

void check_hooks(RuleContext& ctx) {
  std::vector<Candidate> candidates;
  for (const Module* m : ctx.project().modules_of(ctx.plugin)) {
    if (m->kind != ModuleKind::kSource || !ctx.reach.reached(*m)) continue;
    const Module& module = ctx.project().load(*m);
    for (Node n : module.root().descendants()) {
      if (n.is(Kind::k_class_definition)) add_candidates(ctx, module, n, candidates);
    }
  }
  if (candidates.empty()) return;
  std::set<std::string_view> once = named_once(ctx, candidates);
  for (const Candidate& c : candidates) {
    if (!once.count(c.name)) continue;
    std::string base = ctx.sem.class_info(c.base).name, symbol = base + "." + std::string(c.name);
    Finding* f = report(ctx, "removed-hook", *c.module, c.function, symbol,
                        "no base defines '" + std::string(c.name) + "', and nothing in the plugin or the target names it: it never runs");
    if (!f) continue;
    f->observed = std::string(c.name) + to_string(signature_of(c.function));
    f->expected = "a method that " + base + " has, or that somebody calls";
    f->limits.push_back("names that are put together when the program runs are not seen");
    relate(*f, *c.base.module, c.base.definition(), base, "the base");
  }
}

}  // namespace assay
