#include "project/liveness.h"

#include <algorithm>
#include <deque>
#include <set>

namespace assay {

// A class, an outermost function (a method of a class at any depth included), or the assignment of a module's variable.
struct Liveness::Unit {
  const Module* module = nullptr;
  Node definition;
  Unit* owner = nullptr;         // of a method: its class
  std::vector<Unit*> methods;    // of a class
  bool named = false;            // something that can run names it
  bool runs = false;             // and, for a method, objects of its class are in use
  bool finalizer = false;        // only __del__ leads here
  bool handed_on = false;        // of a class: it is used in other ways than `Class.method(…)`, so others may hold it or its objects
};

namespace {

std::string_view name_of(Node definition) {
  return definition.child(definition.is(Kind::k_assignment) ? Field::k_left : Field::k_name).text();
}

bool is_definition(Node n) { return n.is_any(Kind::k_function_definition, Kind::k_class_definition); }

// Decorators that leave it to others to call the function.
bool only_wraps(std::string_view decorator, const Externals& externals) {
  std::string_view last = last_part(decorator);
  static const std::set<std::string_view> kWrappers = {"staticmethod", "classmethod",  "property", "setter", "getter",     "deleter",
                                                       "abstractmethod", "cached_property", "jit",  "autotune", "heuristics", "overload",
                                                       "dataclass",   "final"};
  return kWrappers.count(last) || externals.transparent_decorators.count(last);
}

// Within an annotation: of a parameter, a variable or a result.
bool in_annotation(Node n) {
  for (Node x = n; x; x = x.parent()) {
    if (x.is(Kind::k_type) && (x.field() == Field::k_type || x.field() == Field::k_return_type)) return true;
    if (x.parent().is_any(Kind::k_block, Kind::k_module)) return false;
  }
  return false;
}

bool in_import(Node n) {
  Node p = n.parent();
  while (p.is_any(Kind::k_dotted_name, Kind::k_aliased_import, Kind::k_relative_import)) p = p.parent();
  return p.is_any(Kind::k_import_statement, Kind::k_import_from_statement, Kind::k_future_import_statement);
}

bool names_nothing(Node n) {
  Node p = n.parent();
  if (n.field() == Field::k_name && (is_definition(p) || p.is_any(Kind::k_keyword_argument, Kind::k_default_parameter, Kind::k_typed_default_parameter))) return true;
  return p.is_any(Kind::k_parameters, Kind::k_lambda_parameters, Kind::k_typed_parameter, Kind::k_global_statement, Kind::k_nonlocal_statement);
}

// `NAME = …` on the top level of a module.
bool is_module_variable(Node n) {
  return n.is(Kind::k_assignment) && n.child(Field::k_left).is(Kind::k_identifier) && n.parent().is(Kind::k_expression_statement) && n.child(Field::k_right);
}

// Within the value of a variable, where it waits for someone to use that: in a lambda, or in no call.
bool waits_in_value(Node assignment, Node n) {
  bool runs = false;
  for (Node x = n; x != assignment; x = x.parent()) {
    if (x.is(Kind::k_lambda)) return true;
    runs |= x.is_any(Kind::k_call, Kind::k_list_comprehension, Kind::k_dictionary_comprehension, Kind::k_set_comprehension, Kind::k_generator_expression);
  }
  return !runs;
}

// `Class` in `Class.method`.
bool only_looked_into(Node n) {
  Node p = n.parent();
  if (p.is(Kind::k_attribute) && n.field() == Field::k_attribute) n = p, p = p.parent();
  return p.is(Kind::k_attribute) && n.field() == Field::k_object;
}

// In `__all__ = […]`.
bool in_all_list(Node n) {
  for (Node p = n.parent(); p; p = p.parent()) {
    if (p.is_any(Kind::k_assignment, Kind::k_augmented_assignment)) return p.child(Field::k_left).text() == "__all__";
    if (!p.is_any(Kind::k_list, Kind::k_tuple, Kind::k_concatenated_string)) return false;
  }
  return false;
}

}  // namespace

// Carries "can run" from unit to unit.
class Liveness::Spread {
 public:
  Spread(const Liveness& of, Semantics& semantics) : of_(of), sem_(semantics), units_(of.units_) {}

  void run() {
    for (const Module* m : of_.project_.modules_of(of_.plugin_)) {
      if (m->kind == ModuleKind::kSource && of_.reach_.reached(*m)) collect(sem_.project().load(*m));
    }
    for (auto& [place, unit] : units_) {
      if (!starts_alive(*unit)) continue;
      unit->handed_on = true;
      name(*unit);
    }
    for (const Module* m : of_.project_.modules_of(of_.plugin_)) {
      if (m->kind == ModuleKind::kSource && of_.reach_.reached(*m)) scan_code(*m, m->root());
    }
    drain();
    // Methods that nothing here names may be called over there.
    while (true) {
      std::vector<Unit*> waiting;
      std::vector<std::string_view> names;
      for (auto& [place, unit] : units_) {
        if (unit->named || !unit->owner || !unit->owner->runs || !asked_.insert(unit.get()).second) continue;
        waiting.push_back(unit.get());
        names.push_back(name_of(unit->definition));
      }
      if (waiting.empty()) break;
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      std::vector<std::string_view> spelled = of_.questions_.spelled_by_target(names);
      std::set<std::string_view> known(spelled.begin(), spelled.end());
      for (Unit* unit : waiting) {
        bool ours_alone = name_of(unit->definition).starts_with('_') || !(unit->owner->handed_on || has_foreign_base(*unit->owner));
        bool there = known.count(name_of(unit->definition)) && (!ours_alone || base_spells(*unit));
        if (there || overrides_foreign(*unit)) name(*unit);
      }
      drain();
    }
    finalizing_ = true;
    for (auto& [place, unit] : units_) {
      if (name_of(unit->definition) == "__del__") name(*unit);
    }
    drain();
  }

 private:
  void collect(const Module& module) {
    for (NodeId id = 1; id < module.root().subtree_end(); ++id) {
      Node n = module.at(id);
      if (!is_definition(n) && !(is_module_variable(n) && !enclosing_class(module.scopes(), n))) continue;
      auto unit = std::make_unique<Unit>();
      unit->module = &module;
      unit->definition = n;
      Node scope = enclosing_class(module.scopes(), n);
      if (n.is(Kind::k_function_definition) && scope) {
        if (auto it = units_.find({&module, scope.id()}); it != units_.end()) {
          unit->owner = it->second.get();
          unit->owner->methods.push_back(unit.get());
        }
      }
      by_name_[name_of(n)].push_back(unit.get());
      units_[{&module, n.id()}] = std::move(unit);
      if (n.is(Kind::k_function_definition)) id = n.subtree_end() - 1;
    }
  }

  bool idle(const Module& module, Node decorator) {
    Node callee = decorator.is(Kind::k_call) ? decorator.child(Field::k_function) : decorator;
    Values values = sem_.infer(module, callee);
    if (!values.known()) return false;
    for (const Value& v : values.list) {
      const auto& idle = of_.questions_.idle_decorators;
      if (std::find(idle.begin(), idle.end(), sem_.describe(v)) == idle.end()) return false;
    }
    return true;
  }

  // Registered by a decorator, started by an entry point, called by the interpreter, or standing in for a module of others.
  bool starts_alive(const Unit& unit) {
    const Module& module = *unit.module;
    std::string_view name = name_of(unit.definition);
    if (name == "__del__") return false;
    if (of_.reach_.runs_at_startup(module, unit.definition.id())) return true;
    for (Node d : decorators_of(unit.definition)) {
      if (!only_wraps(decorator_name(d), sem_.externals()) && !idle(module, d)) return true;
    }
    if (sem_.project().stands_in_for_another(module) || name.substr(0, 2) == "__") return true;
    return unit.definition.is(Kind::k_class_definition) && listed_by_its_base(unit);
  }

  // Some base keeps a list of its subclasses, or may do so.
  bool listed_by_its_base(const Unit& unit) {
    const ClassInfo& info = sem_.class_info({unit.module, unit.definition.id()});
    if (!info.complete || info.facts->metaclass) return true;
    for (const MroEntry& e : info.mro) {
      if (!e.ref || e.ref == info.ref) continue;
      if (sem_.class_info(e.ref).facts->metaclass && sem_.class_info(e.ref).facts->metaclass.text().find("ABCMeta") == std::string_view::npos) return true;
      ScopeId scope = e.ref.module->scopes().scope_opened_by(e.ref.node);
      if (scope != kNoScope && !e.ref.module->scopes().in_scope(scope, "__init_subclass__").empty()) return true;
      if (e.ref.module->syntax().source().find("__subclasses__") != std::string_view::npos) return true;
    }
    return false;
  }

  // Names with an underscore are for a class and its bases: code elsewhere that spells them means its own.
  bool base_spells(const Unit& method) {
    for (const MroEntry& e : sem_.class_info({method.owner->module, method.owner->definition.id()}).mro) {
      if (!e.ref || e.ref.module->tree == &of_.plugin_) continue;
      if (e.ref.definition().text().find(name_of(method.definition)) != std::string_view::npos) return true;
    }
    return false;
  }

  bool has_foreign_base(const Unit& cls) {
    for (const MroEntry& e : sem_.class_info({cls.module, cls.definition.id()}).mro) {
      if (e.ref ? e.ref.module->tree != &of_.plugin_ : e.external != "builtins.object") return true;
    }
    return false;
  }

  // A base that is not the plugin's has a member of this name.
  bool overrides_foreign(const Unit& method) {
    const ClassInfo& info = sem_.class_info({method.owner->module, method.owner->definition.id()});
    if (!info.complete) return true;
    std::string_view name = name_of(method.definition);
    for (const MroEntry& e : info.mro) {
      if (e.ref) {
        if (e.ref.module->tree == &of_.plugin_) continue;
        ScopeId scope = e.ref.module->scopes().scope_opened_by(e.ref.node);
        if (scope != kNoScope && !e.ref.module->scopes().in_scope(scope, name).empty()) return true;
        continue;
      }
      auto members = sem_.externals().class_members.find(e.external);
      if (members == sem_.externals().class_members.end() || members->second.count(name)) return true;
    }
    return false;
  }

  void name(Unit& unit) {
    unit.named = true;
    if (unit.runs || (unit.owner && !unit.owner->runs)) return;
    unit.runs = true;
    unit.finalizer = finalizing_;
    todo_.push_back(&unit);
  }

  void drain() {
    while (!todo_.empty()) {
      Unit& unit = *todo_.front();
      todo_.pop_front();
      if (unit.definition.is(Kind::k_function_definition)) {
        scan(*unit.module, unit.definition.child(Field::k_body));
        continue;
      }
      if (unit.definition.is(Kind::k_assignment)) {
        scan(*unit.module, unit.definition.child(Field::k_right), true);
        continue;
      }
      scan(*unit.module, unit.definition.child(Field::k_superclasses));
      scan_class_body(unit);
      for (Unit* m : unit.methods) {
        if (m->named) name(*m);
      }
    }
  }

  // What a class holds besides methods is in use with the class.
  void scan_class_body(const Unit& unit) {
    const Node body = unit.definition.child(Field::k_body);
    for (NodeId id = body.id() + 1; id < body.subtree_end();) {
      Node n = unit.module->at(id);
      if (is_definition(n)) {
        id = n.subtree_end();
        continue;
      }
      look_at(*unit.module, n);
      ++id;
    }
  }

  // The code that runs on import: everything but the bodies of functions and what only classes in use need.
  void scan_code(const Module& module, Node code) {
    for (NodeId id = code.id() + 1; id < code.subtree_end();) {
      Node n = module.at(id);
      if (n.is(Kind::k_function_definition)) {
        scan(module, n.child(Field::k_parameters));
        id = n.subtree_end();
        continue;
      }
      if (n.is(Kind::k_class_definition)) {
        const Node body = n.child(Field::k_body);
        for (Node call : body.descendants()) {
          if (call.is(Kind::k_call) && !enclosing_function(module.scopes(), call)) scan(module, call.child(Field::k_function), true);
        }
        // Functions among its defaults and decorators run too; what stands in the body otherwise waits for the class.
        id = n.subtree_end();
        continue;
      }
      if (is_module_variable(n)) {
        Node value = n.child(Field::k_right);
        for (NodeId v = value.id(); v < value.subtree_end(); ++v) {
          if (!waits_in_value(n, module.at(v))) look_at(module, module.at(v));
        }
        id = n.subtree_end();
        continue;
      }
      look_at(module, n);
      ++id;
    }
  }

  void scan(const Module& module, Node code, bool itself = false) {
    if (!code) return;
    if (itself) look_at(module, code);
    for (Node n : code.descendants()) look_at(module, n);
  }

  void look_at(const Module& module, Node n) {
    if (n.is(Kind::k_string)) return string(module, n);
    if (n.is(Kind::k_call)) return enumeration(module, n);
    if (!n.is(Kind::k_identifier)) return;
    auto found = by_name_.find(n.text());
    if (found == by_name_.end()) return;
    if (in_import(n)) {
      // `from x import f as g`: uses of g are uses of f.
      if (n.parent().parent().is(Kind::k_aliased_import) && n.field() != Field::k_alias) mark(found->second);
      return;
    }
    if (names_nothing(n) || in_annotation(n)) return;
    const bool member = n.parent().is(Kind::k_attribute) && n.field() == Field::k_attribute;
    if (std::all_of(found->second.begin(), found->second.end(), [&](Unit* u) { return u->named && (u->handed_on || !u->definition.is(Kind::k_class_definition)); })) return;
    if (sem_.live(module, n) == Truth::kNo || sem_.type_checking_only(module, n)) return;
    if (!member && taken_from_others(module, n)) return;
    if (member || !local(module, n)) {
      for (Unit* u : found->second) {
        if (u->definition.is(Kind::k_assignment)) name(*u);
      }
    }
    Values values = sem_.infer(module, member ? n.parent() : n);
    if (!values.known()) {
      // What a local name holds was named where it was taken from.
      if (member || !local(module, n)) return mark(found->second);
      for (Unit* u : found->second) {
        if (u->module == &module && u->owner) name(*u);
      }
      return;
    }
    for (const Value& v : values.list) {
      if (!v.module || v.node == kNoNode) continue;
      for (Unit* u : found->second) {
        if (u->module != v.module || u->definition.id() != v.node) continue;
        u->handed_on |= !only_looked_into(n);
        name(*u);
      }
    }
    // A method may be another class's than reading can tell.
    if (member) mark_methods(found->second);
  }

  // vars(module), getattr(module, name), inspect.getmembers(module): whoever asks may take anything.
  void enumeration(const Module& module, Node call) {
    std::string_view callee = last_part(call.child(Field::k_function).text());
    Node arguments = call.child(Field::k_arguments);
    bool asks = callee == "vars" || callee == "dir" || callee == "getmembers" || (callee == "getattr" && !arguments.child_at(1).is(Kind::k_string));
    if (!asks || sem_.live(module, call) == Truth::kNo) return;
    for (const Value& v : sem_.infer(module, arguments.first_child()).list) {
      if (v.kind != ValueKind::kModule) continue;
      for (auto& [place, unit] : units_) {
        if (place.first == v.module) name(*unit);
      }
    }
  }

  void string(const Module& module, Node n) {
    if (n.end() - n.start() > 300 || n.parent().is(Kind::k_expression_statement) || in_all_list(n) || in_annotation(n)) return;
    std::string text;
    if (!string_value(n, text) || text.empty() || text.find_first_of(" \n/") != std::string::npos) return;
    std::replace(text.begin(), text.end(), ':', '.');
    std::string_view rest = text;
    for (int parts = 0; parts < 2 && !rest.empty(); ++parts) {
      auto found = by_name_.find(last_part(rest));
      if (found != by_name_.end() && sem_.live(module, n) != Truth::kNo) mark(found->second);
      size_t dot = rest.rfind('.');
      if (dot == std::string_view::npos) break;
      rest = rest.substr(0, dot);
    }
  }

  // A name of a function or class body that no import there binds.
  static bool local(const Module& module, Node n) {
    ScopeId scope = module.scopes().resolve(n.id(), n.text());
    if (scope == kNoScope || scope == kModuleScope) return false;
    for (const Binding& b : module.scopes().in_scope(scope, n.text())) {
      if (b.kind == BindingKind::kImport || b.kind == BindingKind::kFromImport) return false;
    }
    return true;
  }

  // Every binding imports it from a module that is not the plugin's.
  bool taken_from_others(const Module& module, Node n) {
    ScopeId scope = module.scopes().resolve(n.id(), n.text());
    if (scope == kNoScope) return false;
    for (const Binding& b : module.scopes().in_scope(scope, n.text())) {
      if (b.kind != BindingKind::kFromImport) return false;
      const Module* from = sem_.project().find(imported_module_name(module, module.at(b.statement).child(Field::k_module_name)));
      if (from && (from->tree == &of_.plugin_ || sem_.project().stand_in(*from))) return false;
    }
    return true;
  }

  void mark(const std::vector<Unit*>& units) {
    for (Unit* u : units) u->handed_on = true, name(*u);
  }

  void mark_methods(const std::vector<Unit*>& units) {
    for (Unit* u : units) {
      if (u->owner) name(*u);
    }
  }

  const Liveness& of_;
  Semantics& sem_;
  std::map<std::pair<const Module*, NodeId>, std::unique_ptr<Unit>>& units_;
  std::unordered_map<std::string_view, std::vector<Unit*>> by_name_;
  std::set<const Unit*> asked_;
  std::deque<Unit*> todo_;
  bool finalizing_ = false;
};

Liveness::Liveness(const Project& project, const SourceTree& plugin, const Reachability& reach, LivenessQuestions questions)
    : project_(project), plugin_(plugin), reach_(reach), questions_(std::move(questions)) {}
Liveness::~Liveness() = default;

bool Liveness::can_run(Semantics& semantics, const Module& module, Node place, std::string& reason) const {
  if (reach_.all() || module.tree != &plugin_ || !reach_.reached(module)) return true;
  Node around;
  for (Node n = place; n; n = n.parent()) {
    if (!is_definition(n)) continue;
    Node body = n.child(Field::k_body);
    bool opened = n == place || (n == place.parent() && place.field() == Field::k_name);
    if (n.is(Kind::k_function_definition) ? opened || body.contains(place) : opened) around = n;
  }
  if (!around) return true;
  built_.run([&] { Spread(*this, semantics).run(); });
  auto it = units_.find({&module, around.id()});
  if (it == units_.end() || (it->second->runs && !it->second->finalizer)) return true;
  if (it->second->runs) {
    reason = "only __del__ leads here: Python prints an exception that is raised there, and goes on";
    return false;
  }
  const Unit& unit = *it->second;
  const Unit* cls = unit.owner && !unit.owner->runs ? unit.owner : nullptr;
  std::string name(name_of(cls ? cls->definition : unit.definition));
  if (cls || unit.definition.is(Kind::k_class_definition)) {
    reason = "no code that can run names the class " + name + ", or registers it where something takes it from";
  } else {
    reason = "no code that can run names the function " + name + ": nothing calls it";
  }
  return false;
}

}  // namespace assay
