// What a module offers under a name: own bindings, submodules, star imports, module __getattr__, patches.
#include <algorithm>

#include "project/semantics.h"

namespace assay {
namespace {

const std::set<std::string_view> kModuleAttributes = {"__name__", "__file__", "__doc__", "__package__", "__spec__",
                                                      "__loader__", "__dict__", "__path__", "__builtins__", "__all__",
                                                      "__class__", "__annotations__", "__getattr__", "__dir__", "__cached__"};

bool is_import(BindingKind kind) { return kind == BindingKind::kImport || kind == BindingKind::kFromImport; }

// `from . import x` in a package's own __init__ names the submodule x; it defines nothing of that name.
bool imports_own_submodule(const Module& module, const Binding& b) {
  if (b.kind != BindingKind::kFromImport || !module.is_package) return false;
  Node statement = module.at(b.statement);
  if (imported_module_name(module, statement.child(Field::k_module_name)) != module.name) return false;
  Node clause = module.at(b.node);
  Node imported = clause.is(Kind::k_aliased_import) ? clause.child(Field::k_name) : clause;
  return imported.text() == b.name;
}

bool is_ascii(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The interpreter normalises names (NFKC): what is spelled in other characters may be the same name.
bool has_unicode_names(const Module& module) {
  const auto& bindings = module.scopes().bindings();
  return std::any_of(bindings.begin(), bindings.end(), [](const Binding& b) { return !is_ascii(b.name); });
}

// The body of the module writes names that can't be listed.
bool writes_globals(const Module& module) {
  std::string_view text = module.syntax().source();
  if (text.find("globals()") == std::string_view::npos && text.find("exec(") == std::string_view::npos &&
      text.find("sys.modules[__name__]") == std::string_view::npos) {
    return false;
  }
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_subscript)) {
      bool stores = n.field() == Field::k_left && n.parent().is(Kind::k_assignment);
      std::string_view value = n.child(Field::k_value).text();
      if (stores && value == "globals()") return true;
      if (value == "sys.modules" && n.child(Field::k_subscript).text() == "__name__") return true;
    }
    if (n.is(Kind::k_call)) {
      std::string_view callee = n.child(Field::k_function).text();
      if (callee == "globals().update" || callee == "exec" || callee == "globals().setdefault") return true;
    }
  }
  return false;
}

// `LazyLoader("name", globals(), …)`: what is called stores under the name later.
bool hands_globals_on(const Module& module, std::string_view name) {
  std::string_view text = module.syntax().source();
  if (text.find("globals()") == std::string_view::npos || text.find(name) == std::string_view::npos) return false;
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_argument_list)) continue;
    bool globals = false, named = false;
    for (Node a : n.children()) {
      Node value = a.is(Kind::k_keyword_argument) ? a.child(Field::k_value) : a;
      std::string string;
      globals |= value.is(Kind::k_call) && value.text() == "globals()";
      named |= string_value(value, string) && string == name;
    }
    if (globals && named) return true;
  }
  return false;
}

}  // namespace

const std::vector<Patch>* PatchTable::find(const Module* module, NodeId owner, std::string_view name) const {
  auto it = by_place.find({{module, owner}, std::string(name)});
  return it == by_place.end() ? nullptr : &it->second;
}

Semantics::Semantics(const Project& project, const Externals& externals, const Environment& environment, const PatchTable& patches)
    : project_(project), externals_(externals), environment_(environment), patches_(patches) {}

Member Semantics::module_member(const Module& module, std::string_view name) {
  auto key = std::make_pair(&module, std::string(name));
  if (auto it = members_.find(key); it != members_.end()) return it->second;
  Member cycle;
  cycle.reason = "import cycle";
  members_[key] = cycle;  // what a star import in a circle sees
  Member found = own_module_member(module, name);
  members_[key] = found;
  return found;
}

Member Semantics::own_module_member(const Module& unloaded, std::string_view name) {
  const Module& module = project_.load(unloaded);
  Member out;
  out.module = &module;
  out.patches = patches_.find(&module, kNoNode, name);
  auto finish = [&](Presence presence, const char* reason = "") {
    out.presence = presence;
    out.reason = reason;
    if (out.patches && presence != Presence::kYes) out.presence = Presence::kYes;
    return out;
  };
  switch (module.kind) {
    case ModuleKind::kExtension: return finish(Presence::kUnknown, "compiled module");
    case ModuleKind::kGenerated: return finish(Presence::kUnknown, "module made by the build");
    case ModuleKind::kSkipped: return finish(Presence::kUnknown, "file not analysed");
    case ModuleKind::kNamespace:
    case ModuleKind::kSource: break;
  }
  if (module.is_package) out.submodule = project_.find(module.name + "." + std::string(name));

  bool undecided = false, types_only = false;
  out.import_only = true;
  auto bindings = module.scopes().in_scope(kModuleScope, name);
  if (bindings.size() > kMostBindings) return finish(Presence::kUnknown, "bound too many times");
  for (const Binding& b : bindings) {
    if (b.kind == BindingKind::kAnnotation || b.kind == BindingKind::kDelete || b.kind == BindingKind::kGlobal) continue;
    if (b.kind == BindingKind::kExcept) continue;  // `except X as e` deletes e again where the handler ends
    if (imports_own_submodule(module, b)) {
      // What the statement finds is the submodule; there is none: the statement fails, and binds nothing.
      if (!out.submodule) continue;
    }
    Node place = module.at(b.node);
    if (type_checking_only(module, place)) {
      types_only = true;
      continue;
    }
    Truth alive = live(module, place);
    if (alive == Truth::kNo) continue;
    undecided |= alive == Truth::kUnknown;
    out.bindings.push_back(&b);
    out.import_only &= is_import(b.kind);
  }
  // Who imports after the redirect gets the stand-in's names, who came before has the module's own: both may be meant.
  const Module* stand_in = project_.stand_in(module);
  if (stand_in) {
    Member there = module_member(*stand_in, name);
    if (out.bindings.empty() && there.presence != Presence::kNo) return there;
    if (there.presence != Presence::kNo) {
      out.bindings.clear();  // it is there either way; which of the two is not known
      return finish(there.presence, "another module stands in for this one");
    }
  }
  if (!out.bindings.empty()) return finish(Presence::kYes);
  out.import_only = false;
  if (out.submodule) return finish(Presence::kYes);
  if (kModuleAttributes.count(name)) return finish(Presence::kYes);
  if (module.kind == ModuleKind::kNamespace) return finish(Presence::kNo);

  bool unknown_star = false;
  if (module.scopes().scopes()[kModuleScope].star_import) {
    for (NodeId star : module.scopes().star_imports()) {
      Node n = module.at(star);
      std::string source = imported_module_name(module, n.parent().child(Field::k_module_name));
      const Module* from = project_.find_loaded(source);
      if (!from) {
        unknown_star |= !project_.owns(source);
        continue;
      }
      std::set<std::string_view> names;
      if (live(module, n) == Truth::kNo) continue;
      if (!star_names(*from, names)) {
        Member there = module_member(*from, name);
        if (there.presence != Presence::kNo) unknown_star = true;
        continue;
      }
      if (!names.count(name)) continue;
      Member there = module_member(*from, name);
      if (there.presence == Presence::kYes) return there;
      unknown_star |= there.presence == Presence::kUnknown;
    }
  }
  if (unknown_star) return finish(Presence::kUnknown, "import * from a module that is not known");
  Member lazy = lazy_member(module, name);
  if (lazy.presence != Presence::kNo) {
    lazy.patches = out.patches;
    return lazy;
  }
  auto [writes, unasked] = writes_globals_.try_emplace(&module, false);
  if (unasked) writes->second = writes_globals(module) || has_unicode_names(module);
  if (!is_ascii(name) || (writes->second && has_unicode_names(module))) return finish(Presence::kUnknown, "names beyond ASCII are not normalised");
  if (writes->second) return finish(Presence::kUnknown, "the module writes its globals");
  if (hands_globals_on(module, name)) return finish(Presence::kUnknown, "the module's globals() and this name are given to a call");
  out.type_checking_only = types_only;
  return finish(Presence::kNo);
}

// A module-level __getattr__(name): the strings that `name` is compared with or looked up in are its table.
Member Semantics::lazy_member(const Module& module, std::string_view name) {
  Member out;
  out.module = &module;
  out.presence = Presence::kNo;
  auto definitions = module.scopes().in_scope(kModuleScope, "__getattr__");
  if (definitions.empty()) return out;
  Node function = module.at(definitions.back().node);
  std::string_view parameter = first_parameter(function);
  if (!function.is(Kind::k_function_definition) || parameter.empty()) {
    out.presence = Presence::kUnknown;
    out.reason = "module __getattr__";
    return out;
  }
  bool table_found = false, open = false;
  auto string_is = [&](Node n, std::string& text) { return string_value(n, text) && text == name; };
  auto look_in = [&](Node table) {
    std::string dotted = dotted_text(table);
    Values values = dotted.empty() ? infer(module, table) : infer(module, table);
    bool any = false;
    for (const Value& v : values.list) {
      if (v.kind != ValueKind::kLiteral) continue;
      any = true;
      for (Node item : v.definition().children()) {
        Node key = item.is(Kind::k_pair) ? item.child(Field::k_key) : item;
        std::string text;
        if (item.is_any(Kind::k_dictionary_splat, Kind::k_list_splat)) open = true;
        if (!string_is(key, text)) continue;
        out.presence = Presence::kYes;
        std::string target;
        if (item.is(Kind::k_pair) && string_value(item.child(Field::k_value), target)) out.lazy_target = project_.intern(target);
      }
    }
    if (any) table_found = true;
    if (!any || values.open) open |= !any;
  };
  for (Node n : function.child(Field::k_body).descendants()) {
    if (n.is(Kind::k_comparison_operator) && n.child_at(0).text() == parameter) {
      std::string_view op = n.child(Field::k_operators).text();
      Node right = n.child_at(2);
      if (op == "==") {
        std::string text;
        table_found = true;
        if (string_is(right, text)) out.presence = Presence::kYes;
      } else if (op == "in" || op == "not in") {
        look_in(strip_parens(right));
      }
    } else if (n.is(Kind::k_subscript) && n.child(Field::k_subscript).text() == parameter) {
      look_in(n.child(Field::k_value));
    }
  }
  if (out.presence == Presence::kYes) return out;
  if (!table_found || open) {
    out.presence = Presence::kUnknown;
    out.reason = "module __getattr__";
  }
  return out;
}

// Every module once: a diamond of star imports has as many paths as it has layers doubled, and circles have no end.
bool Semantics::star_names(const Module& module, std::set<std::string_view>& out) {
  std::vector<const Module*> todo = {&module};
  std::set<const Module*> seen = {&module};
  for (size_t i = 0; i < todo.size(); ++i) {
    const Module& m = project_.load(*todo[i]);
    if (m.kind != ModuleKind::kSource) return false;
    auto all = m.scopes().in_scope(kModuleScope, "__all__");
    for (const Binding& b : all) {
      Node value = strip_parens(m.at(b.statement).child(Field::k_right));
      if (!value.is_any(Kind::k_list, Kind::k_tuple)) return false;
      for (Node item : value.children()) {
        std::string text;
        if (!string_value(item, text)) return false;
        out.insert(project_.intern(text));
      }
    }
    if (!all.empty()) {
      // `__all__.append(…)`, `__all__.extend(…)`, `__all__ += other.__all__`
      if (m.syntax().source().find("__all__.") != std::string_view::npos) return false;
      continue;
    }
    for (const Binding& b : m.scopes().in_scope(kModuleScope)) {
      if (b.name[0] != '_' && b.kind != BindingKind::kAnnotation && b.kind != BindingKind::kExcept) out.insert(b.name);
    }
    if (!m.scopes().scopes()[kModuleScope].star_import) continue;
    for (Node n : m.root().descendants()) {
      if (!n.is(Kind::k_wildcard_import)) continue;
      const Module* from = project_.find_loaded(imported_module_name(m, n.parent().child(Field::k_module_name)));
      if (!from) return false;
      if (seen.insert(from).second) todo.push_back(from);
    }
  }
  return true;
}

Values Semantics::values_of(const Member& member) {
  if (member.presence == Presence::kNo) return Values::unknown("no such name");
  Values out;
  if (!member.lazy_target.empty()) {
    // "module:attribute" or "module.attribute", relative to the package or absolute
    std::string target(member.lazy_target);
    if (size_t colon = target.find(':'); colon != std::string::npos) target[colon] = '.';
    if (!target.empty() && target[0] == '.') target = member.module->package() + target;
    out = resolve_dotted(target);
    if (out.list.empty()) return Values::unknown("module __getattr__");
    return out;
  }
  // The last binding that certainly runs hides the ones before it.
  for (auto it = member.bindings.rbegin(); it != member.bindings.rend(); ++it) {
    out.merge(infer_binding(*member.module, **it));
    Node statement = member.module->at((*it)->statement);
    Node block = enclosing_statement(statement).parent();
    if (block.is(Kind::k_decorated_definition)) block = block.parent();
    if (block.is(Kind::k_module)) break;
  }
  if (member.bindings.empty()) {
    if (member.submodule) {
      out.add(module_value(*member.submodule));
    } else if (!member.patches) {
      return Values::unknown(*member.reason ? member.reason : "its value is not known");
    }
  }
  if (member.patches) {
    for (const Patch& p : *member.patches) {
      out.merge(p.value ? infer(*p.module, p.value) : Values::unknown("patched"));
    }
  }
  return out;
}

Values Semantics::resolve_dotted(std::string_view dotted) {
  // The longest prefix that is a module; the rest are attributes.
  std::string_view prefix = dotted;
  const Module* module = nullptr;
  while (!(module = project_.find(prefix))) {
    size_t dot = prefix.rfind('.');
    if (dot == std::string_view::npos) break;
    prefix = prefix.substr(0, dot);
  }
  if (!module) return project_.owns(dotted) ? Values::unknown("no such module") : Values::of(external_value(project_.intern(dotted)));
  Values current = Values::of(module_value(project_.load(*module)));
  std::string_view rest = dotted.substr(prefix.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);
    std::string_view part = rest.substr(0, rest.find('.'));
    rest.remove_prefix(part.size());
    Values next;
    for (const Value& v : current.list) next.merge(attribute(v, part));
    if (current.open) next.open = true, next.reason = current.reason;
    current = std::move(next);
  }
  return current;
}

std::string Semantics::qualified_name(const Module& module, Node definition) const {
  std::string out(definition.child(Field::k_name).text());
  if (definition.is(Kind::k_lambda)) out = "<lambda>";
  for (ScopeId s = module.scopes().scope_of(definition.id()); s != kNoScope; s = module.scopes().scopes()[s].parent) {
    const Scope& scope = module.scopes().scopes()[s];
    if (scope.kind != ScopeKind::kClass && scope.kind != ScopeKind::kFunction) continue;
    out = std::string(module.at(scope.node).child(Field::k_name).text()) + "." + out;
  }
  return module.name.empty() ? out : module.name + "." + out;
}

std::string Semantics::describe(const Value& v) {
  switch (v.kind) {
    case ValueKind::kModule: return v.module->name;
    case ValueKind::kClass:
    case ValueKind::kFunction: return qualified_name(*v.module, v.definition());
    case ValueKind::kInstance: {
      std::string cls = qualified_name(*v.module, v.definition());
      return v.text.empty() ? cls : cls + "." + std::string(v.text);
    }
    case ValueKind::kString: return "'" + std::string(v.text) + "'";
    case ValueKind::kInteger: return std::to_string(v.number);
    case ValueKind::kBool: return v.number ? "True" : "False";
    case ValueKind::kNone: return "None";
    case ValueKind::kLiteral: return std::string(v.definition().text().substr(0, 60));
    case ValueKind::kSuper: return "super()";
    default: return std::string(v.text);
  }
}

}  // namespace assay
