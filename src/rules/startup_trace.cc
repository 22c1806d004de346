#include "rules/startup_trace.h"

#include <algorithm>

#include "base/text.h"

namespace assay {
namespace {

// vLLM's function that runs the general plugins.
constexpr std::string_view kLoader = "load_general_plugins(";

bool contains(std::string_view text, std::string_view what) { return find_text(text, what) != std::string_view::npos; }

bool is_platform_group(RuleContext& ctx, const EntryPoint& e) {
  const EntryPointGroup* group = ctx.facts.catalog->entry_point_group(e.group);
  return group && group->class_path;
}

bool runs_at_startup(RuleContext& ctx, const EntryPoint& e) {
  const EntryPointGroup* group = ctx.facts.catalog->entry_point_group(e.group);
  return group && group->when == "startup";
}

}  // namespace

// Runs the plugin's statements in order, as far as names and conditions can be told.
class StartupWalker {
 public:
  explicit StartupWalker(StartupTrace& trace) : t_(trace), ctx_(trace.ctx_), sem_(trace.ctx_.sem) {}

  void entry(const EntryPoint& e) {
    size_t colon = e.value.find(':');
    const Module* m = ctx_.project().find_loaded(e.value.substr(0, colon));
    if (!m || m->tree != &ctx_.plugin) return;
    load(e.value.substr(0, colon), nullptr, kNoNode, true);
    if (colon == std::string::npos) return;
    std::string dotted = m->name + "." + e.value.substr(colon + 1);
    for (const Value& v : sem_.resolve_dotted(dotted).list) {
      if (v.kind == ValueKind::kFunction) function(v, true, is_platform_group(ctx_, e));
    }
  }

 private:
  bool ours(const Module& m) const { return m.tree == &ctx_.plugin; }

  // `import dotted`, parents first.
  void load(const std::string& dotted, const Module* from, NodeId node, bool certain) {
    for (const Module* m : t_.graph_.chain(dotted)) {
      ours(*m) ? own_module(*m, from, node, certain) : foreign_module(*m, from, node, certain);
    }
  }

  void note(const Module& m, const Module* from, NodeId node, bool certain) {
    StartupTrace::Load& l = t_.loads_[&m];
    if (l.perhaps == StartupTrace::kNever) l = {StartupTrace::kNever, t_.now_, from, node};
    if (certain && l.certain == StartupTrace::kNever) l = {t_.now_, l.perhaps, from, node};
  }

  void foreign_module(const Module& m, const Module* from, NodeId node, bool certain) {
    // The sets remember across calls what has been followed.
    std::vector<const Module*> open = {&m};
    while (!open.empty()) {
      const Module* at = open.back();
      open.pop_back();
      bool fresh = perhaps_.insert(at).second;
      fresh |= certain && certain_.insert(at).second;
      if (!fresh) continue;
      note(*at, from, node, certain);
      for (const ImportGraph::Edge& e : t_.graph_.edges(*at)) {
        if (e.import->place > ImportPlace::kGuarded) continue;
        if (certain && e.import->place == ImportPlace::kGuarded) {
          for (const Module* other : e.loads) guarded_.push_back(other);
        } else {
          open.insert(open.end(), e.loads.begin(), e.loads.end());
        }
      }
      if (open.empty() && certain) {
        certain = false;
        open.swap(guarded_);
      }
    }
    guarded_.clear();
  }

  void own_module(const Module& unloaded, const Module* from, NodeId node, bool certain) {
    const Module& m = sem_.project().load(unloaded);
    bool seen = t_.loads_.count(&m) > 0;
    note(m, from, node, certain);
    if (seen || m.kind != ModuleKind::kSource) return;
    running_.push_back({&m, Node()});
    body(m, m.root(), certain);
    running_.pop_back();
    finished_.insert(&m);
  }

  void body(const Module& m, Node code, bool certain) {
    for (NodeId id = code.id() + 1; id < code.subtree_end();) {
      Node n = m.at(id);
      if (n.is_any(Kind::k_function_definition, Kind::k_lambda)) {
        // Its defaults and decorators run; they seldom import.
        id = n.subtree_end();
        continue;
      }
      ++id;
      if (n.is_any(Kind::k_import_statement, Kind::k_import_from_statement)) {
        statement(m, n, certain);
        imports(m, n, certain);
      } else if (n.is_any(Kind::k_expression_statement, Kind::k_decorated_definition, Kind::k_class_definition, Kind::k_return_statement,
                          Kind::k_if_statement, Kind::k_assert_statement)) {
        statement(m, n, certain);
      } else if (n.is(Kind::k_call)) {
        call(m, n, certain);
      }
    }
  }

  void statement(const Module& m, Node n, bool) {
    t_.statements_[&m].try_emplace(n.id(), t_.now_);
    if (!running_.empty() && running_.back().first == &m) running_.back().second = n;
  }

  bool surely(const Module& m, Node n) {
    if (sem_.live(m, n) != Truth::kYes) return false;
    for (const Guard& g : guards_of(n)) {
      if (g.kind == GuardKind::kHandler || g.kind == GuardKind::kLoop) return false;
      if (g.kind == GuardKind::kFunctionBody) break;
    }
    return true;
  }

  void imports(const Module& m, Node n, bool certain) {
    if (sem_.type_checking_only(m, n) || sem_.live(m, n) == Truth::kNo) return;
    certain = certain && surely(m, n);
    ++t_.now_;
    if (n.is(Kind::k_import_statement)) {
      for (Node name : n.children()) {
        if (name.field() == Field::k_name) load(dotted_text(name.is(Kind::k_aliased_import) ? name.child(Field::k_name) : name), &m, n.id(), certain);
      }
      return;
    }
    std::string source = imported_module_name(m, n.child(Field::k_module_name));
    load(source, &m, n.id(), certain);
    const Module* from = sem_.project().find(source);
    if (!from) return;
    for (Node name : n.children()) {
      if (name.field() != Field::k_name) continue;
      Node plain = name.is(Kind::k_aliased_import) ? name.child(Field::k_name) : name;
      std::string below = source + "." + std::string(plain.text());
      if (from->is_package && sem_.project().find(below)) {
        load(below, &m, n.id(), certain);
      } else if (certain) {
        circle(m, n, plain, *from);
      }
    }
  }

  void circle(const Module& m, Node n, Node name, const Module& from) {
    if (!ours(from) || finished_.count(&from) || &from == &m) return;
    for (const auto& [module, at] : running_) {
      if (module != &from || !at || enclosing_function(from.scopes(), at)) continue;
      Member member = sem_.module_member(from, name.text());
      if (member.presence != Presence::kYes || member.bindings.empty() || member.module != &from || member.submodule) return;
      Node first;
      for (const Binding* b : member.bindings) {
        Node where = from.at(b->statement);
        if (where.start() < at.end() || enclosing_function(from.scopes(), where)) return;
        if (!first || where.start() < first.start()) first = where;
      }
      t_.circles_.push_back({&m, n, name, &from, first, at});
      return;
    }
  }

  void call(const Module& m, Node n, bool certain) {
    if (sem_.live(m, n) == Truth::kNo) return;
    Node callee = n.child(Field::k_function);
    if (!callee.is_any(Kind::k_identifier, Kind::k_attribute)) return;
    std::string name = dotted_text(callee);
    certain = certain && surely(m, n);
    if (name == "importlib.import_module" || name == "import_module" || name == "__import__") {
      for (const Value& v : sem_.infer(m, n.child(Field::k_arguments).child_at(0)).list) {
        if (v.kind != ValueKind::kString) continue;
        ++t_.now_;
        load(std::string(v.text), &m, n.id(), certain);
      }
      return;
    }
    for (const Value& v : sem_.infer(m, callee).list) {
      if (v.kind == ValueKind::kFunction && v.module && ours(*v.module)) function(v, certain, false);
    }
  }

  void function(const Value& f, bool certain, bool returns_class_path) {
    if (!f.module || !ours(*f.module) || functions_.size() > 5000) return;
    if (!functions_.insert({f.module, f.node}).second || depth_ > 40) return;
    ++depth_;
    Node code = f.definition().child(Field::k_body);
    if (code) body(*f.module, code, certain);
    if (returns_class_path) {
      for (Node n : code.descendants()) {
        if (!n.is(Kind::k_return_statement)) continue;
        for (const Value& v : sem_.infer(*f.module, n.first_child()).list) {
          size_t dot = v.kind == ValueKind::kString ? v.text.find_last_of(".:") : std::string_view::npos;
          if (dot == std::string_view::npos) continue;
          ++t_.now_;
          load(std::string(v.text.substr(0, dot)), f.module, n.id(), certain && sem_.live(*f.module, n) == Truth::kYes);
        }
      }
    }
    --depth_;
  }

  StartupTrace& t_;
  RuleContext& ctx_;
  Semantics& sem_;
  std::set<const Module*> certain_, perhaps_, finished_;
  std::vector<const Module*> guarded_;
  std::vector<std::pair<const Module*, Node>> running_;  // modules being imported, with the statement that runs
  std::set<std::pair<const Module*, NodeId>> functions_;
  int depth_ = 0;
};

StartupTrace::StartupTrace(RuleContext& ctx) : ctx_(ctx), graph_(ctx.definitions.imports()) {
  if (!ctx.facts.catalog || !ctx.facts.entry_points || ctx.reach.all()) return;
  StartupWalker walker(*this);
  for (const EntryPoint& e : *ctx.facts.entry_points) {
    if (is_platform_group(ctx, e)) walker.entry(e);
  }
  general_from_ = ++now_;
  // In the order of entry_points.txt, which a build writes sorted by name.
  std::vector<const EntryPoint*> general;
  for (const EntryPoint& e : *ctx.facts.entry_points) {
    if (runs_at_startup(ctx, e) && !is_platform_group(ctx, e)) general.push_back(&e);
  }
  auto built = [](const EntryPoint* e) { return e->file.ends_with("entry_points.txt"); };
  if (std::none_of(general.begin(), general.end(), built)) std::ranges::stable_sort(general, {}, &EntryPoint::name);
  for (const EntryPoint* e : general) {
    entries_.emplace_back(++now_, e);
    walker.entry(*e);
  }
}

StartupTrace::StartupTrace(RuleContext& ctx, const EntryPoint& entry) : ctx_(ctx), graph_(ctx.definitions.imports()) {
  if (ctx.facts.catalog) StartupWalker(*this).entry(entry);
}

StartupTrace::Moment StartupTrace::ran(const Module& module, Node node) const {
  auto it = statements_.find(&module);
  if (it == statements_.end()) return kNever;
  Node function = enclosing_function(module.scopes(), node);
  for (Node n = node; n && !(function && n == function); n = n.parent()) {
    auto at = it->second.find(n.id());
    if (at != it->second.end()) return at->second;
  }
  return kNever;
}

const EntryPoint* StartupTrace::entry_at(Moment moment) const {
  const EntryPoint* out = nullptr;
  for (const auto& [from, entry] : entries_) {
    if (moment != kNever && from <= moment) out = entry;
  }
  return out;
}

StartupTrace::Load StartupTrace::load(const Module& module) const {
  auto it = loads_.find(&module);
  return it == loads_.end() ? Load() : it->second;
}

const std::vector<StartupTrace::Process>& StartupTrace::processes() {
  if (processes_) return *processes_;
  processes_.emplace();
  for (const Module* m : ctx_.project().modules_of(ctx_.target)) {
    if (m->kind != ModuleKind::kSource) continue;
    std::string_view text = ctx_.project().text(*m);
    if (!contains(text, kLoader)) continue;
    // A script of its own (a helper process) and the loader's definition are no such place.
    if (contains(text, "__name__ == \"__main__\"") || contains(text, "def " + std::string(kLoader))) continue;
    Process& p = processes_->emplace_back();
    p.caller = m;
    graph_.load(*m, true, p.certain);
    graph_.load(*m, false, p.perhaps);
  }
  return *processes_;
}

}  // namespace assay
