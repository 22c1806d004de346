// entry-point-broken, registered-not-importable: what vLLM is told to load, and cannot.
#include <algorithm>
#include <map>
#include <set>

#include "rules/rules.h"
#include "rules/startup_trace.h"

namespace assay {
namespace {

constexpr std::string_view kImportFaults[] = {"missing-module", "missing-symbol", "syntax-error", "circular-import", "eager-annotation",
                                              "undefined-name", "missing-attribute", "missing-enum-member"};

// The outermost node that starts at the place but the module itself; nodes stand in the order of their starts.
Node node_at(const Module& module, const Location& place) {
  const SyntaxTree& tree = module.syntax();
  auto start = [&](const RawNode& n) { return std::pair(tree.line_of(n.start), tree.column_of(n.start)); };
  const std::pair<uint32_t, uint32_t> wanted(place.line, place.column);
  const auto& nodes = tree.nodes();
  auto it = std::lower_bound(nodes.begin() + (nodes.empty() ? 0 : 1), nodes.end(), wanted, [&](const RawNode& n, const auto& at) { return start(n) < at; });
  return it != nodes.end() && start(*it) == wanted ? tree.at(static_cast<NodeId>(it - nodes.begin())) : Node();
}

// Errors that are raised by the import of the module itself, whoever imports it.
class ImportFaults {
 public:
  explicit ImportFaults(RuleContext& ctx) {
    for (const Finding& f : *ctx.facts.findings) {
      bool of_import = std::find(std::begin(kImportFaults), std::end(kImportFaults), f.rule) != std::end(kImportFaults);
      if (!of_import || f.level != Level::kError || f.location.tree != ctx.plugin.role) continue;
      const Module* m = ctx.project().module_of_file(ctx.plugin, f.location.file);
      if (m && (f.rule == "syntax-error" || raises(ctx, ctx.project().load(*m), f))) faults_.try_emplace(m, &f);
    }
  }
  bool empty() const { return faults_.empty(); }
  const Finding* of(const Module& m) const {
    auto it = faults_.find(&m);
    return it == faults_.end() ? nullptr : it->second;
  }

 private:
  static bool raises(RuleContext& ctx, const Module& m, const Finding& f) {
    Node n = node_at(m, f.location);
    if (!n || enclosing_function(m.scopes(), n) || ctx.sem.live(m, n) != Truth::kYes) return false;
    for (const Guard& g : guards_of(n)) {
      if (g.kind != GuardKind::kCondition) return false;
    }
    return true;
  }
  std::map<const Module*, const Finding*> faults_;
};

Finding& add(RuleContext& ctx, const char* rule, std::string symbol, std::string message) {
  Finding& f = ctx.findings.emplace_back();
  f.rule = rule;
  f.level = find_rule(rule)->level;
  f.evidence = find_rule(rule)->evidence;
  f.symbol = std::move(symbol);
  f.message = std::move(message);
  return f;
}

Location place_of_entry(RuleContext& ctx, const EntryPoint& e) {
  Location out;
  out.tree = ctx.plugin.role;
  out.file = e.file;
  out.line = e.line;
  const TreeEntry* file = ctx.plugin.tree->find(e.file);
  auto blob = file ? ctx.plugin.tree->read(*file) : Expected<Blob>();
  if (!file || !blob) return out;
  std::string_view text = blob->view();
  for (uint32_t line = 1; line < e.line && !text.empty(); ++line) text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  out.text = text.substr(0, text.find('\n'));
  return out;
}

void related_cause(Finding& f, const Finding& cause) {
  f.related.push_back({cause.location, cause.symbol, cause.rule + ": " + cause.message});
  f.group = cause.group;
}

// False if the entry point names nothing that could be run.
bool entry_exists(RuleContext& ctx, const EntryPoint& e) {
  std::string module = e.value.substr(0, e.value.find(':'));
  std::string message;
  if (!ctx.project().owns(module)) return true;
  const Module* m = ctx.project().find_loaded(module);
  if (!m) {
    message = "there is no module " + module;
  } else if (module.size() < e.value.size()) {
    std::string name = e.value.substr(module.size() + 1);
    name = name.substr(0, name.find('.'));
    if (ctx.sem.module_member(*m, name).presence == Presence::kNo) message = module + " has no '" + name + "'";
  }
  if (message.empty()) return true;
  Finding& f = add(ctx, "entry-point-broken", e.value, "the entry point " + e.group + ":" + e.name + " cannot be loaded: " + message);
  f.location = place_of_entry(ctx, e);
  f.expected = e.value + " exists";
  f.observed = message;
  if (m) relate(f, *m, Node(), m->name, "does not have it");
  return false;
}

void entry_imports(RuleContext& ctx, const ImportFaults& faults, const EntryPoint& e) {
  StartupTrace trace(ctx, e);
  const Finding* cause = nullptr;
  StartupTrace::Moment first = StartupTrace::kNever;
  for (const Module* m : *ctx.facts.modules) {
    const Finding* fault = faults.of(*m);
    if (!fault || trace.load(*m).certain >= first) continue;
    first = trace.load(*m).certain;
    cause = fault;
  }
  if (!cause) return;
  // What such an entry point gives is a path to the platform's class, which is imported later.
  const EntryPointGroup* group = ctx.facts.catalog->entry_point_group(e.group);
  const std::string what = group && group->class_path ? "taking the platform of the entry point " : "loading the entry point ";
  Finding& f = add(ctx, "entry-point-broken", e.value,
                   what + e.group + ":" + e.name + " raises: " + cause->location.file + ":" + std::to_string(cause->location.line) + ", " + cause->message);
  f.location = place_of_entry(ctx, e);
  f.expected = e.value + " runs to its end";
  f.observed = cause->message;
  related_cause(f, *cause);
}

// --- class paths -------------------------------------------------------------------------------------------------------

// The plugin's module that a class path leads to, if what it names is there.
const Module* module_of_path(RuleContext& ctx, const std::string& text) {
  size_t colon = text.find(':');
  size_t cut = colon != std::string::npos ? colon : text.rfind('.');
  if (cut == std::string::npos || cut + 1 >= text.size() || text.find_first_of(" /\n") != std::string::npos) return nullptr;
  const Module* m = ctx.project().find(text.substr(0, cut));
  if (!m || m->tree != &ctx.plugin || m->kind != ModuleKind::kSource) return nullptr;
  Member member = ctx.sem.module_member(ctx.project().load(*m), text.substr(cut + 1));
  if (member.presence != Presence::kYes || member.submodule) return nullptr;
  return m;
}

void class_path(RuleContext& ctx, const ImportFaults& faults, const ImportGraph& graph, const Module& module, Node n) {
  std::string text;
  if (n.parent().is(Kind::k_expression_statement) || n.end() - n.start() > 300 || !string_value(n, text)) return;
  const Module* named = module_of_path(ctx, text);
  if (!named) return;
  std::set<const Module*> loaded;
  graph.load(*named, true, loaded);
  const Finding* cause = faults.of(*named);
  for (const Module* m : *ctx.facts.modules) {
    if (!cause && loaded.count(m)) cause = faults.of(*m);
  }
  if (!cause || cause->location.file == module.file()) return;
  Finding* f = report(ctx, "registered-not-importable", module, n, text,
                      "'" + text + "' cannot be imported: " + cause->location.file + ":" + std::to_string(cause->location.line) + ", " + cause->message);
  if (!f) return;
  f->expected = named->name + " can be imported";
  f->observed = cause->message;
  related_cause(*f, *cause);
}

}  // namespace

void check_importable(RuleContext& ctx) {
  if (!ctx.facts.catalog || !ctx.facts.modules || !ctx.facts.entry_points || !ctx.facts.findings) return;
  ImportFaults faults(ctx);
  for (const EntryPoint& e : *ctx.facts.entry_points) {
    if (entry_exists(ctx, e) && !faults.empty() && ctx.facts.catalog->entry_point_group(e.group)) entry_imports(ctx, faults, e);
  }
  if (faults.empty()) return;
  const ImportGraph& graph = ctx.definitions.imports();
  for (const Module* m : *ctx.facts.modules) {
    if (m->kind != ModuleKind::kSource || !ctx.reach.reached(*m)) continue;
    const Module& module = ctx.project().load(*m);
    for (Node n : module.root().descendants()) {
      if (n.is(Kind::k_string)) class_path(ctx, faults, graph, module, n);
    }
  }
}

}  // namespace assay
