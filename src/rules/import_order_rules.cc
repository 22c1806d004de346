// circular-import, unimported-submodule, patch-bound-too-late: what depends on the order in which modules are imported.
#include <algorithm>
#include <map>
#include <set>

#include "rules/rules.h"
#include "rules/startup_trace.h"
#include "rules/text_search.h"

namespace assay {
namespace {

using Moment = StartupTrace::Moment;
constexpr Moment kNever = StartupTrace::kNever;

// --- circular-import -------------------------------------------------------------------------------------------------

void circles(RuleContext& ctx, StartupTrace& trace) {
  for (const StartupTrace::Circle& c : trace.circles()) {
    std::string symbol = c.partial->name + "." + std::string(c.name.text());
    Finding* f = report(ctx, "circular-import", *c.importer, c.statement, symbol,
                        symbol + " is not bound yet: " + c.partial->name + " is still being imported, and its line " +
                            std::to_string(c.leads_back.line()) + " leads here");
    if (!f) continue;
    f->expected = "the name is bound before this import runs";
    f->observed = "it is bound in line " + std::to_string(c.bound_at.line()) + " of " + c.partial->file() + ", behind the import that leads here";
    relate(*f, *c.partial, c.leads_back, c.partial->name, "this import leads to " + c.importer->name);
    relate(*f, *c.partial, c.bound_at, symbol, "the name is bound here, later");
    f->fix = "import the name inside the function that uses it, or move its definition to a module that both import";
  }
}

// --- unimported-submodule --------------------------------------------------------------------------------------------

// Nobody can have imported the module before the moment: neither the plugin nor the process in which it runs.
bool certainly_not_loaded(StartupTrace& trace, const Module& submodule, Moment moment) {
  if (trace.load(submodule).perhaps <= moment) return false;
  if (!trace.in_general_plugin(moment)) return true;
  for (const StartupTrace::Process& p : trace.processes()) {
    if (!p.perhaps.count(&submodule)) return true;
  }
  return false;
}

bool makes_attributes(const Module& package) { return !package.scopes().in_scope(kModuleScope, "__getattr__").empty(); }

// What another general plugin has imported by then; a process that is told to load this one alone (VLLM_PLUGINS) lacks it.
bool only_by_another_entry(RuleContext& ctx, StartupTrace& trace, const Module& step, const Module& module, Node place, Moment moment) {
  const StartupTrace::Load load = trace.load(step);
  const EntryPoint* entry = trace.entry_at(moment);
  if (!entry || load.certain == kNever || !trace.entry_at(load.certain) || trace.entry_at(load.certain) == entry) return false;
  for (const StartupTrace::Process& p : trace.processes()) {
    if (p.certain.count(&step) || p.perhaps.count(&step)) return false;
  }
  StartupTrace alone(ctx, *entry);
  return alone.load(step).perhaps > alone.ran(module, place) && alone.load(step).certain > alone.ran(module, place);
}

// The first step of `a.b.c` that is a submodule which nobody imported; null if there is none.
const Module* unimported_step(RuleContext& ctx, StartupTrace& trace, const Module& module, Node expression, Moment moment, bool& elsewhere) {
  std::vector<Node> steps;
  Node e = expression;
  for (; e.is(Kind::k_attribute); e = e.child(Field::k_object)) steps.push_back(e.child(Field::k_attribute));
  if (!e.is(Kind::k_identifier)) return nullptr;
  Values base = ctx.sem.infer(module, e);
  const Value* v = base.single();
  if (!v || v->kind != ValueKind::kModule) return nullptr;
  const Module* at = v->module;
  for (size_t i = steps.size(); i-- > 0;) {
    if (at->kind == ModuleKind::kSource && makes_attributes(ctx.project().load(*at))) {
      // A package of that kind still needs the import for its submodules; which names it makes is another question.
      if (!ctx.project().find(at->name + "." + std::string(steps[i].text()))) return nullptr;
    }
    Member m = ctx.sem.module_member(ctx.project().load(*at), steps[i].text());
    if (!m.submodule || !m.bindings.empty() || m.patches || !m.lazy_target.empty()) return nullptr;
    if (m.submodule->tree != &ctx.target && m.submodule->tree != &ctx.plugin) return nullptr;
    if (certainly_not_loaded(trace, *m.submodule, moment)) return m.submodule;
    elsewhere = only_by_another_entry(ctx, trace, *m.submodule, module, expression, moment);
    if (elsewhere) return m.submodule;
    at = m.submodule;
  }
  return nullptr;
}

void unimported(RuleContext& ctx, StartupTrace& trace, const Module& module) {
  std::set<std::pair<const Module*, uint32_t>> seen;
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_attribute) || n.parent().is(Kind::k_attribute)) continue;
    if (!n.child(Field::k_object).is(Kind::k_attribute)) continue;
    Moment moment = trace.ran(module, n);
    if (moment == kNever) continue;
    bool elsewhere = false;
    const Module* step = unimported_step(ctx, trace, module, n, moment, elsewhere);
    if (!step || !seen.insert({step, n.line()}).second) continue;
    if (exposure(ctx, module, n).kind != Exposure::Kind::kLive) continue;
    Finding* f = report(ctx, "unimported-submodule", module, n, step->name,
                        dotted_text(n) + " goes through the module " + step->name + (elsewhere ? ", which only another entry point has imported when this line runs" : ", which nothing has imported when this line runs"));
    if (!f) continue;
    f->expected = "an import of " + step->name + " before this line";
    if (elsewhere) {
      f->limits.push_back("it raises where the other entry point is not loaded: vLLM loads those that VLLM_PLUGINS names");
    }
    f->observed = elsewhere ? "nothing that this entry point runs imports " + step->name : "neither this plugin nor what vLLM imports before it calls plugins imports " + step->name;
    f->fix = "import " + step->name + " in this file";
    relate(*f, *step, Node(), step->name, "the module");
  }
}

// --- patch-bound-too-late ---------------------------------------------------------------------------------------------

struct Consumer {
  const Module* module;
  uint32_t line;
  std::string as;  // the name by which it knows the object
};

using PatchedName = std::pair<const Module*, std::string>;

bool uses_name(std::string_view text, std::string_view name) {
  // Once for the import; with `import x as y` or in __all__ more often, which says little.
  size_t first = find_word(text, name);
  return first != std::string_view::npos && find_word(text, name, first + name.size()) != std::string_view::npos;
}

// The modules of the target that bind one of the names for good when they are imported.
std::map<PatchedName, std::vector<Consumer>> consumers_of(RuleContext& ctx, const ImportGraph& graph, const std::set<PatchedName>& names) {
  std::map<PatchedName, std::vector<Consumer>> out;
  std::set<std::string_view> words;
  for (const auto& [module, name] : names) words.insert(name);
  if (words.empty()) return out;
  auto takes_one = [&](const ScannedImport& i) {
    return i.from && std::any_of(i.names.begin(), i.names.end(), [&](const ScannedImport::Name& n) { return words.count(n.name) > 0; });
  };
  for (const Module* m : ctx.project().modules_of(ctx.target)) {
    const std::vector<ScannedImport>& imports = graph.imports(*m);
    if (std::none_of(imports.begin(), imports.end(), takes_one)) continue;
    std::string_view text = ctx.project().text(*m);
    for (const ImportGraph::Edge& e : graph.edges(*m)) {
      if (!e.import->from || e.import->place > ImportPlace::kGuarded || !e.source) continue;
      for (const ScannedImport::Name& n : e.import->names) {
        PatchedName key{e.source, n.name};
        const std::string& as = n.as.empty() ? n.name : n.as;
        if (names.count(key) && uses_name(text, as)) out[key].push_back({m, e.import->line, as});
      }
    }
  }
  return out;
}

// Why the consumer had been imported before the patch; empty if that isn't certain.
std::string bound_before(RuleContext& ctx, StartupTrace& trace, const Module& consumer, Moment moment, const StartupTrace::Load& load, bool& in_all) {
  in_all = false;
  if (load.certain < moment) {
    in_all = true;
    std::string via = load.from ? load.from->file() + ":" + std::to_string(load.from->at(load.node).line()) : std::string("an entry point");
    return via + " imports it, directly or by way of others, before this patch runs";
  }
  if (!trace.in_general_plugin(moment)) return {};
  std::string callers;
  in_all = true;
  for (const StartupTrace::Process& p : trace.processes()) {
    if (!p.certain.count(&consumer)) {
      in_all = false;
      continue;
    }
    callers += (callers.empty() ? "" : ", ") + p.caller->name;
  }
  (void)ctx;
  return callers.empty() ? "" : "importing " + callers + ", which calls the plugins, imports it first";
}

void late_patches(RuleContext& ctx, StartupTrace& trace) {
  if (!ctx.facts.patches) return;
  std::set<PatchedName> names, replaced;
  auto of_target = [&](const PatchSite& s) { return s.owner.kind == PlaceKind::kModule && s.owner.module && s.owner.module->tree == &ctx.target; };
  for (const PatchSite& s : ctx.facts.patches->sites) {
    if (!of_target(s)) continue;
    replaced.insert({s.owner.module, s.attribute});
    if (trace.ran(*s.module, s.place) != kNever) names.insert({s.owner.module, s.attribute});
  }
  auto consumers = consumers_of(ctx, trace.graph(), names);
  for (const PatchSite& s : ctx.facts.patches->sites) {
    if (!of_target(s)) continue;
    Moment moment = trace.ran(*s.module, s.place);
    auto found = consumers.find({s.owner.module, s.attribute});
    if (moment == kNever || found == consumers.end()) continue;
    if (exposure(ctx, *s.module, s.place).kind != Exposure::Kind::kLive) continue;
    std::vector<std::pair<Consumer, std::string>> late;
    for (const Consumer& c : found->second) {
      if (replaced.count({c.module, c.as})) continue;
      bool in_all = false;
      std::string why = bound_before(ctx, trace, *c.module, moment, trace.load(*c.module), in_all);
      if (!why.empty()) late.emplace_back(c, why);
    }
    if (late.empty()) continue;
    const Module& first = *late[0].first.module;
    Finding* f = report(ctx, "patch-bound-too-late", *s.module, s.place, s.target,
                        first.name + " took " + s.attribute + " from " + s.owner.dotted + " before this patch runs, and keeps the old one");
    if (!f) continue;
    f->expected = "the patch runs before anybody takes the name, or replaces it in " + first.name + " too";
    f->observed = late[0].second;
    f->fix = "assign " + first.name + "." + late[0].first.as + " as well";
    for (const auto& [c, why] : late) {
      Location place = locate_file(*c.module);
      place.line = c.line;
      place.column = 1;
      place.text = ctx.project().load(*c.module).syntax().line_text(c.line);
      f->related.push_back({place, c.module->name + "." + c.as, "takes the name here: " + why});
    }
  }
}

}  // namespace

void check_import_order(RuleContext& ctx) {
  if (!ctx.facts.catalog || !ctx.facts.modules || ctx.reach.all()) return;
  StartupTrace trace(ctx);
  circles(ctx, trace);
  for (const Module* m : *ctx.facts.modules) {
    if (m->kind == ModuleKind::kSource) unimported(ctx, trace, ctx.project().load(*m));
  }
  late_patches(ctx, trace);
}

}  // namespace assay
