#include "project/reach.h"

#include <algorithm>
#include <deque>

namespace assay {
namespace {

// A statement as it fits into a line: white space folded, cut in the end.
std::string one_line(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\\';
    if (space && (out.empty() || out.back() == ' ' || out.back() == '(')) continue;
    out += space ? ' ' : c;
    if (out.size() > 90) return out + "…";
  }
  return out;
}

}  // namespace

// Walks the plugin as the interpreter would: a module's top level, then what it imports and calls, in order.
class Walker {
 public:
  Walker(Semantics& semantics, const SourceTree& plugin, Reachability& out) : sem_(semantics), plugin_(plugin), out_(out) {}

  void run(const std::vector<ReachRoot>& roots) {
    for (const ReachRoot& root : roots) {
      import_module(*root.module, {nullptr, kNoNode, root.what}, ReachState::kStartup);
      if (root.function.empty()) continue;
      Values values = Values::of(module_value(*root.module));
      std::string_view rest = root.function;
      while (!rest.empty()) {
        std::string_view part = rest.substr(0, rest.find('.'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        Values next;
        for (const Value& v : values.list) next.merge(sem_.attribute(v, part));
        values = next;
      }
      for (const Value& v : values.list) {
        if (v.kind == ValueKind::kFunction) run_function(v, /*is_entry=*/true);
      }
    }
    lazy_pass();
  }

 private:
  bool ours(const Module& m) const { return m.tree == &plugin_; }

  bool import_module(const Module& unloaded, const ReachHop& via, ReachState state) {
    if (!ours(unloaded)) return false;
    const Module& module = sem_.project().load(unloaded);
    // Parents first, as the import system does.
    if (size_t dot = module.name.rfind('.'); dot != std::string::npos) {
      const Module* parent = sem_.project().find(module.name.substr(0, dot));
      if (parent && parent != &module) import_module(*parent, via, state);
    }
    auto& info = out_.modules_[&module];
    if (info.state <= state && info.state != ReachState::kInactive) return false;
    bool first = info.state > ReachState::kLazy;
    info.state = state;
    info.via = via;
    if (state == ReachState::kStartup) info.order = next_order_++;
    if (first || state == ReachState::kStartup) {
      if (state <= ReachState::kLazy) {
        body(module, module.root(), state);
        if (first) lazy_.push_back(&module);
      }
    }
    return true;
  }

  // The imports and calls in `scope` that stand in its own code, not in functions inside it.
  void body(const Module& module, Node scope, ReachState state) {
    Node function = scope.is(Kind::k_module) ? Node() : scope;
    Node code = function ? function.child(Field::k_body) : scope;
    if (function.is(Kind::k_lambda)) return;
    for (NodeId id = code.id() + 1; id < code.subtree_end();) {
      Node n = module.at(id);
      if (n.is(Kind::k_function_definition)) {
        id = n.subtree_end();
        continue;
      }
      ++id;
      if (n.is_any(Kind::k_import_statement, Kind::k_import_from_statement)) imports(module, n, state);
      if (n.is(Kind::k_call) && state == ReachState::kStartup) calls(module, n);
    }
  }

  void imports(const Module& module, Node statement, ReachState state) {
    if (sem_.type_checking_only(module, statement)) return;
    bool dead = sem_.live(module, statement) == Truth::kNo;
    if (dead) state = ReachState::kDead;
    auto take = [&](const std::string& dotted) {
      const Module* m = sem_.project().find(dotted);
      if (m) import_module(*m, {&module, statement.id(), one_line(statement.text())}, state);
      return m;
    };
    if (statement.is(Kind::k_import_statement)) {
      for (Node n : statement.children()) {
        if (n.field() == Field::k_name) take(dotted_text(n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n));
      }
      return;
    }
    std::string source = imported_module_name(module, statement.child(Field::k_module_name));
    take(source);
    for (Node n : statement.children()) {
      if (n.field() != Field::k_name) continue;
      take(source + "." + dotted_text(n.is(Kind::k_aliased_import) ? n.child(Field::k_name) : n));
    }
  }

  // A call at startup runs the body of the plugin's function that it names.
  void calls(const Module& module, Node call) {
    if (sem_.live(module, call) == Truth::kNo) return;
    Node callee = call.child(Field::k_function);
    if (!callee.is_any(Kind::k_identifier, Kind::k_attribute)) return;
    std::string name = dotted_text(callee);
    if (name == "importlib.import_module" || name == "import_module" || name == "__import__") {
      Values target = sem_.infer(module, call.child(Field::k_arguments).child_at(0));
      for (const Value& v : target.list) {
        if (v.kind != ValueKind::kString) continue;
        if (const Module* m = sem_.project().find(v.text)) import_module(*m, {&module, call.id(), "import_module('" + std::string(v.text) + "')"}, ReachState::kStartup);
      }
      return;
    }
    for (const Value& v : sem_.infer(module, callee).list) {
      if (v.kind == ValueKind::kFunction && v.module && ours(*v.module)) run_function(v, false);
    }
  }

  void run_function(const Value& function, bool is_entry) {
    if (!function.module || !ours(*function.module)) return;
    if (depth_ > 40 || !out_.functions_.insert({function.module, function.node}).second) return;
    ++depth_;
    body(*function.module, function.definition(), ReachState::kStartup);
    if (is_entry) {
      // A platform plugin returns the class path that vLLM resolves at once.
      for (Node n : function.definition().child(Field::k_body).descendants()) {
        if (!n.is(Kind::k_return_statement)) continue;
        std::string text;
        for (const Value& v : sem_.infer(*function.module, n.first_child()).list) {
          if (v.kind == ValueKind::kString) class_path(*function.module, n, v.text, ReachState::kStartup);
        }
      }
    }
    --depth_;
  }

  void class_path(const Module& module, Node node, std::string_view text, ReachState state) {
    size_t end = text.find(':');
    std::string_view dotted = text.substr(0, end);
    if (dotted.find('.') == std::string_view::npos) return;
    std::string_view top = dotted.substr(0, dotted.find('.'));
    if (std::find(plugin_.packages.begin(), plugin_.packages.end(), top) == plugin_.packages.end()) return;
    while (true) {
      if (const Module* m = sem_.project().find(dotted)) {
        import_module(*m, {&module, node.id(), "class path '" + std::string(text) + "'"}, state);
        return;
      }
      size_t dot = dotted.rfind('.');
      if (dot == std::string_view::npos) return;
      dotted = dotted.substr(0, dot);
    }
  }

  // {"package.module": "plugin.module"}: a stand-in for a module that the target does not have is never asked for.
  bool replaces_nothing(Node value) {
    std::string key;
    if (!value.parent().is(Kind::k_pair) || value.field() != Field::k_value) return false;
    if (!string_value(value.parent().child(Field::k_key), key) || key.find('.') == std::string::npos) return false;
    if (key.find_first_of(" :/") != std::string::npos || !sem_.project().owns(key)) return false;
    return !sem_.project().find(key) && sem_.resolve_dotted(key).list.empty();
  }

  // Whatever a reached module does later: imports inside its functions, class paths in its strings.
  void lazy_pass() {
    while (!lazy_.empty()) {
      const Module& module = *lazy_.front();
      lazy_.pop_front();
      for (Node n : module.root().descendants()) {
        if (n.is_any(Kind::k_import_statement, Kind::k_import_from_statement)) {
          imports(module, n, ReachState::kLazy);
        } else if (n.is(Kind::k_string) && n.end() - n.start() < 300 && n.text().find('.') != std::string_view::npos) {
          std::string text;
          if (n.parent().is(Kind::k_expression_statement) || !string_value(n, text)) continue;
          if (text.find_first_of(" \n/") != std::string::npos) continue;
          if (sem_.live(module, n) == Truth::kNo || replaces_nothing(n)) continue;
          // ".parser" for import_module(…, package=__name__)
          if (text[0] == '.' && module.syntax().source().find("import_module(") != std::string_view::npos) text = module.package() + text;
          class_path(module, n, text, ReachState::kLazy);
        }
      }
    }
  }

  Semantics& sem_;
  const SourceTree& plugin_;
  Reachability& out_;
  std::deque<const Module*> lazy_;
  int next_order_ = 0;
  int depth_ = 0;
};

Reachability Reachability::everything(const Project& project, const SourceTree& plugin) {
  Reachability out;
  out.all_ = true;
  int order = 0;
  for (const Module* m : project.modules_of(plugin)) out.modules_[m] = {ReachState::kStartup, {}, order++};
  return out;
}

Reachability Reachability::from_roots(Semantics& semantics, const SourceTree& plugin, const std::vector<ReachRoot>& roots) {
  Reachability out;
  Walker(semantics, plugin, out).run(roots);
  return out;
}

ReachState Reachability::state(const Module& module) const {
  auto it = modules_.find(&module);
  return it == modules_.end() ? ReachState::kInactive : it->second.state;
}

int Reachability::import_order(const Module& module) const {
  auto it = modules_.find(&module);
  return it == modules_.end() ? -1 : it->second.order;
}

std::vector<ReachHop> Reachability::chain(const Module& module) const {
  std::vector<ReachHop> out;
  const Module* m = &module;
  while (m && out.size() < 100) {
    auto it = modules_.find(m);
    if (it == modules_.end()) break;
    out.push_back(it->second.via);
    m = it->second.via.from;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace assay
