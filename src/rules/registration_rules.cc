// registration-unreached, key-by-class-name, dispatch-bypass: entries in vLLM's registries that take no effect.
#include <algorithm>
#include <map>
#include <set>

#include "rules/rules.h"
#include "rules/text_search.h"
#include "vllm/registrations.h"

namespace assay {
namespace {

// Somebody turned the import of the module off on purpose: a comment still holds it.
bool import_commented_out(RuleContext& ctx, const Module& module) {
  std::string_view name = last_part(module.name);
  for (const Module* m : *ctx.facts.modules) {
    if (m->kind != ModuleKind::kSource) continue;
    const SyntaxTree& tree = ctx.project().load(*m).syntax();
    for (const Comment& c : tree.comments()) {
      std::string_view text = tree.source().substr(c.start, c.end - c.start);
      if (text.find("import") != std::string_view::npos && find_word(text, name) != std::string_view::npos) return true;
    }
  }
  return false;
}

bool is_platform_class(RuleContext& ctx, const Module& module, Node cls) {
  const ClassInfo& info = ctx.sem.class_info({&module, cls.id()});
  for (const MroEntry& e : info.mro) {
    if (!e.ref) continue;
    std::string name = ctx.sem.qualified_name(*e.ref.module, e.ref.definition());
    const auto& known = ctx.facts.catalog->platform_interfaces;
    if (std::find(known.begin(), known.end(), name) != known.end()) return true;
  }
  return false;
}

// The module is imported only from inside a method that vLLM calls once it has something to do; null otherwise.
Node late_import(RuleContext& ctx, const Module& module, const Module*& importer) {
  if (ctx.reach.state(module) != ReachState::kLazy) return {};
  std::vector<ReachHop> chain = ctx.reach.chain(module);
  if (chain.empty() || !chain.back().from) return {};
  importer = chain.back().from;
  if (ctx.reach.state(*importer) != ReachState::kStartup) return {};
  Node node = importer->at(chain.back().node);
  if (!node.is_any(Kind::k_import_statement, Kind::k_import_from_statement)) return {};
  Node function = enclosing_function(importer->scopes(), node);
  Node cls = function ? enclosing_class(importer->scopes(), function) : Node();
  return cls && !is_platform_class(ctx, *importer, cls) ? node : Node();
}

struct Entry {
  Node place;
  std::string key, kind;
};

// An op of torch is no replacement of anything: a file that defines nothing else is often an unused copy.
bool is_torch_op(const Entry& e) { return e.kind == "torch-op"; }

// One finding for all entries of a module: they are lost together.
void unreached_module(RuleContext& ctx, const Module& module, std::vector<Entry> entries) {
  std::stable_partition(entries.begin(), entries.end(), [](const Entry& e) { return !is_torch_op(e); });
  const Module* importer = nullptr;
  Node late = late_import(ctx, module, importer);
  if (!late && ctx.reach.state(module) != ReachState::kInactive) return;
  const Entry& first = entries.front();
  std::string what = first.kind + " '" + first.key + "'";
  if (entries.size() > 1) what += " and " + std::to_string(entries.size() - 1) + " more";
  std::string message = late ? what + " is registered only when " + importer->file() + ":" + std::to_string(late.line()) + " runs, inside a method"
                             : "nothing that an entry point reaches imports this file: " + what + " takes no effect";
  Finding* f = report(ctx, "registration-unreached", module, first.place, first.key, message);
  if (!f) return;
  f->limits.clear();
  f->level = Level::kWarning;
  if (!late && import_commented_out(ctx, module)) {
    f->level = Level::kNote;
    f->limits.push_back("a comment holds an import of this module: it may be off on purpose");
  } else if (is_torch_op(first)) {
    f->level = Level::kNote;
    f->limits.push_back("the file registers ops of torch alone: it may be an unused copy");
  }
  f->expected = "an import of " + module.name + " while the entry points run";
  f->observed = late ? "imported inside a method of " + importer->name : "no import of it";
  f->fix = "import " + module.name + " from a module that an entry point imports";
  if (late) relate(*f, *importer, late, module.name, "the only import");
  for (size_t i = 1; i < entries.size(); ++i) f->sites.push_back({locate(module, entries[i].place), FindingState::kIntroduced, {}});
}

// Decorators of the plugin's own that carry the name of one of vLLM's registering functions stand for it.
void own_decorators(RuleContext& ctx, const Module& module, std::vector<Entry>& out) {
  std::map<std::string_view, const ExtensionPoint*> names;
  for (const ExtensionPoint& p : ctx.facts.catalog->extension_points) {
    for (const std::string& call : p.calls) {
      if (!p.external && last_part(call).substr(0, 9) == "register_") names.emplace(last_part(call), &p);
    }
  }
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_decorator) || !n.first_child().is(Kind::k_call)) continue;
    Node callee = n.first_child().child(Field::k_function);
    auto point = names.find(last_part(callee.text()));
    std::string key;
    if (point == names.end() || !string_value(n.first_child().child(Field::k_arguments).child_at(0), key)) continue;
    const Values values = ctx.sem.infer(module, callee);
    const Value* f = values.single();
    if (f && f->kind == ValueKind::kFunction && f->module->tree == &ctx.plugin) out.push_back({n, key, point->second->kind});
  }
}

// A patch says that somebody wants the module only if it replaces something that exists.
bool real_patch(const PatchSite& s) {
  return (s.owner.kind == PlaceKind::kModule && s.owner.module) || (s.owner.kind == PlaceKind::kClass && s.owner.cls);
}

void unreached(RuleContext& ctx, const std::vector<RegistrationSite>& sites) {
  std::map<const Module*, std::vector<Entry>> by_module;
  for (const RegistrationSite& r : sites) {
    if (!r.point->external) by_module[r.module].push_back({r.place, r.key, r.point->kind});
  }
  if (ctx.facts.patches) {
    for (const PatchSite& s : ctx.facts.patches->sites) {
      bool inactive = ctx.reach.state(*s.module) == ReachState::kInactive;
      if (inactive && real_patch(s) && !by_module.count(s.module)) by_module[s.module].push_back({s.place, s.target, "the patch of"});
    }
  }
  for (const Module* m : *ctx.facts.modules) {
    ReachState state = ctx.reach.state(*m);
    if (m->kind != ModuleKind::kSource || (state != ReachState::kInactive && state != ReachState::kLazy)) continue;
    std::vector<Entry>& entries = by_module[m];
    own_decorators(ctx, ctx.project().load(*m), entries);
    if (!entries.empty()) unreached_module(ctx, *m, entries);
  }
}

// --- classes that nobody knows of --------------------------------------------------------------------------------------

bool named_elsewhere(RuleContext& ctx, const Module& module, Node name) {
  bool found = false;
  each_word(ctx.plugin, ctx.project(), name.text(), [&](const Module& m, std::string_view text, size_t at) {
    size_t line = text.rfind('\n', at) + 1;
    std::string_view before = text.substr(line, at - line);
    bool own = &m == &module && text.substr(0, at).size() >= name.start() && at < name.end() + 3 && at + 3 >= name.start();
    bool import = before.find("import") != std::string_view::npos;
    bool comment = before.find('#') != std::string_view::npos;
    found |= !own && !import && !comment;
    return !found;
  });
  return found;
}

// The class of the target on which `register_oot` is defined is what makes an op; the op's own class is below it.
ClassRef op_base(RuleContext& ctx, const ClassInfo& info) {
  std::set<std::string> bases;
  for (const ExtensionPoint& p : ctx.facts.catalog->extension_points) {
    if (p.kind != "oot-op") continue;
    for (const std::string& call : p.calls) bases.insert(call.substr(0, call.rfind('.')));
  }
  ClassRef upstream;
  bool op = false;
  for (const MroEntry& e : info.mro) {
    if (!e.ref) continue;
    if (!upstream && e.ref.module->tree == &ctx.target) upstream = e.ref;
    op |= bases.count(ctx.sem.qualified_name(*e.ref.module, e.ref.definition())) > 0;
  }
  return op && upstream ? upstream : ClassRef();
}

Node own_method(const ClassFacts& facts, std::string_view name) {
  for (Node m : facts.methods) {
    if (m.child(Field::k_name).text() == name) return m;
  }
  return {};
}

void unregistered_op(RuleContext& ctx, const Module& module, const ClassInfo& info, ClassRef upstream) {
  Node cls = info.ref.definition();
  Node name = cls.child(Field::k_name);
  std::string op = ctx.sem.qualified_name(*upstream.module, upstream.definition());
  if (!decorators_of(cls).empty() || named_elsewhere(ctx, module, name)) return;
  Finding* f = report(ctx, "registration-unreached", module, name, info.name,
                      std::string(name.text()) + " defines forward_oot for " + op + ", but is neither registered nor used");
  if (!f) return;
  f->limits.clear();
  f->level = Level::kWarning;
  f->expected = "@" + std::string(last_part(op)) + ".register_oot, or a use of the class";
  f->observed = "no decorator, and no other line names " + std::string(name.text());
  f->fix = "register it with register_oot and import " + module.name + " from an entry point";
  relate(*f, *upstream.module, upstream.definition(), op, "the op it is written for");
}

// --- dispatch-bypass -----------------------------------------------------------------------------------------------------

// `forward_native = forward_cuda` in the op's class body: the disabled op runs the device's own code.
void bypassed_op(RuleContext& ctx, const Module& module, const ClassInfo& info, ClassRef upstream) {
  for (std::string_view other : {"forward_native", "forward", "forward_cuda"}) {
    if (own_method(*info.facts, other)) return;
  }
  Member native = ctx.sem.class_member(info.ref, "forward_native");
  if (native.presence != Presence::kYes || !native.owner || native.owner.module->tree != &ctx.target) return;
  const Binding* alias = nullptr;
  for (const Binding* b : native.bindings) {
    if (b->kind != BindingKind::kAssign) return;
    Node value = native.module->at(b->node).parent().child(Field::k_right);
    if (value.text() == "forward_cuda" && ctx.sem.live(*native.module, native.module->at(b->node)) != Truth::kNo) alias = b;
  }
  if (!alias) return;
  std::string op = ctx.sem.qualified_name(*upstream.module, upstream.definition());
  Node method = own_method(*info.facts, "forward_oot");
  Finding* f = report(ctx, "dispatch-bypass", module, method.child(Field::k_name), info.name + ".forward_oot",
                      "while the op is disabled, dispatch takes forward_native, which " + op + " makes the same as forward_cuda: forward_oot does not run");
  if (!f) return;
  f->expected = "forward_native overridden as well";
  f->observed = "only forward_oot is overridden";
  f->fix = "set forward_native = forward_oot in the class";
  relate(*f, *native.module, native.module->at(alias->node), op + ".forward_native", "what a disabled op runs");
}

void ops(RuleContext& ctx) {
  for (const Module* m : *ctx.facts.modules) {
    if (m->kind != ModuleKind::kSource) continue;
    const Module& module = ctx.project().load(*m);
    for (Node n : module.root().descendants()) {
      if (!n.is(Kind::k_class_definition)) continue;
      const ClassInfo& info = ctx.sem.class_info({&module, n.id()});
      if (!info.facts || !own_method(*info.facts, "forward_oot")) continue;
      ClassRef upstream = op_base(ctx, info);
      if (!upstream) continue;
      unregistered_op(ctx, module, info, upstream);
      bypassed_op(ctx, module, info, upstream);
    }
  }
}

// --- key-by-class-name ---------------------------------------------------------------------------------------------------

bool names_a_class(RuleContext& ctx, std::string_view key) {
  for (const DefinitionPlace& p : ctx.definitions.find(key)) {
    const Module& m = ctx.project().load(*p.module);
    if (m.syntax().line_text(p.line).substr(0, 5) == "class") return true;
  }
  return false;
}

void wrong_key(RuleContext& ctx, const RegistrationSite& r) {
  if (r.point->key_rule != KeyRule::kBaseName || r.key.empty() || r.receiver.kind != PlaceKind::kClass) return;
  std::string_view base = last_part(r.receiver.dotted);
  if (r.key == base || names_a_class(ctx, r.key)) return;
  Finding* f = report(ctx, "key-by-class-name", *r.module, r.place, r.receiver.dotted,
                      "registered under '" + r.key + "', but the replacement is looked up by the name of the class that is built");
  if (!f) return;
  // The fault is in the line itself, whether the file is imported yet or not.
  if (f->level == Level::kNote) f->level = Level::kWarning;
  f->expected = "the name of a class, as '" + std::string(base) + "'";
  f->observed = "'" + r.key + "', which is the name of no class of the target";
  f->fix = "leave the name out, or name the class that is to be replaced";
  if (r.receiver.cls) relate(*f, *r.receiver.cls.module, r.receiver.cls.definition(), r.receiver.dotted, "the class that is built");
}

}  // namespace

void check_registrations(RuleContext& ctx) {
  if (!ctx.facts.catalog || !ctx.facts.modules) return;
  std::vector<RegistrationSite> sites = find_registrations(ctx.sem, *ctx.facts.catalog, *ctx.facts.modules);
  for (const RegistrationSite& r : sites) wrong_key(ctx, r);
  ops(ctx);
  if (!ctx.reach.all()) unreached(ctx, sites);
}

}  // namespace assay
