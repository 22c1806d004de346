#include "vllm/patches.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "vllm/helper_run.h"

namespace assay {

namespace {

std::string called_name(Node call) { return std::string(last_part(call.child(Field::k_function).text())); }

bool is_setattr(Node n) { return n.is(Kind::k_call) && n.child(Field::k_function).text() == "setattr"; }

bool is_own_object(Node object) { return object.text() == "self" || object.text() == "cls"; }

// `X.attr = …` other than on self.
bool sets_attribute(Node n) {
  return n.is(Kind::k_attribute) && n.field() == Field::k_left && n.parent().is(Kind::k_assignment) &&
         !is_own_object(n.child(Field::k_object));
}

bool is_sys_modules(Semantics& semantics, const Module& module, Node object) {
  if (object.text() == "sys.modules") return true;
  if (!object.is_any(Kind::k_identifier, Kind::k_attribute)) return false;
  return place_of(semantics, module, object).dotted == "sys.modules";
}

class Finder {
 public:
  Finder(Semantics& semantics, const SourceTree& plugin, Patches& out)
      : semantics_(semantics), plugin_(plugin), out_(out) {}

  void run(const std::vector<const Module*>& modules) {
    for (const Module* m : modules) find_setters(*m);
    close_setters();
    for (const Module* m : modules) helper_calls(*m);
    for (const Module* m : modules) direct(*m);
    std::ranges::stable_sort(out_.sites, {},
                             [](const PatchSite& s) { return std::pair(s.module->file(), s.place.start()); });
  }

 private:
  // --- helpers ---
  // Names of functions that set attributes, and by which names each function calls others: what is worth
  // running.
  void find_setters(const Module& module) {
    for (Node n : module.root().descendants()) {
      bool sets = is_setattr(n) || sets_attribute(n);
      if (!sets && !n.is(Kind::k_call)) continue;
      for (Node f = enclosing_function(module.scopes(), n); f; f = enclosing_function(module.scopes(), f)) {
        std::string name(f.child(Field::k_name).text());
        if (name.empty()) continue;
        if (sets)
          setters_.insert(name);
        else
          callers_[called_name(n)].insert(name);
      }
    }
  }

  void close_setters() {
    std::vector<std::string> work(setters_.begin(), setters_.end());
    while (!work.empty()) {
      std::string name = std::move(work.back());
      work.pop_back();
      for (const std::string& caller : callers_[name]) {
        if (setters_.insert(caller).second) work.push_back(caller);
      }
    }
  }

  bool may_set(Node expression) const {
    Node function = expression.is(Kind::k_call) ? expression.child(Field::k_function) : expression;
    while (function.is(Kind::k_call)) function = function.child(Field::k_function);
    return setters_.count(std::string(last_part(function.text()))) > 0;
  }

  // An argument can name what is to be replaced: dotted text, or something that leads to an import.
  static bool names_target(const Module& module, Node call) {
    if (!call.is(Kind::k_call)) return false;
    if (call.child(Field::k_function).is(Kind::k_call) && names_target(module, call.child(Field::k_function)))
      return true;
    for (Node a : call.child(Field::k_arguments).children()) {
      Node value = a.is(Kind::k_keyword_argument) ? a.child(Field::k_value) : a;
      std::string text;
      if (value.is_any(Kind::k_identifier, Kind::k_attribute) && leads_to_import(module, value, 0))
        return true;
      if (string_value(value, text) && text.find('.') != std::string::npos &&
          text.find(' ') == std::string::npos)
        return true;
    }
    return false;
  }

  void helper_calls(const Module& module) {
    for (Node n : module.root().descendants()) {
      if (n.is(Kind::k_decorator)) {
        Node expression = n.first_child();
        if (may_set(expression)) helper_call(module, n, expression, n.parent().child(Field::k_definition));
      } else if (n.is(Kind::k_call) && !n.parent().is(Kind::k_decorator) && !is_inner_call(n) && may_set(n)) {
        bool method = is_own_object(n.child(Field::k_function).child(Field::k_object));
        if (!method && names_target(module, n)) helper_call(module, n, n, {});
      }
    }
  }

  // The `patch(…)` of `patch(…)(f)`.
  static bool is_inner_call(Node call) {
    return call.parent().is(Kind::k_call) && call.field() == Field::k_function;
  }

  void helper_call(const Module& module, Node place, Node expression, Node definition) {
    for (AttributeSet& set : attributes_set_by(semantics_, module, expression, definition)) {
      if (!is_foreign(set.owner, plugin_)) continue;
      by_helper_.insert({set.helper, set.statement.id()});
      PatchSite site;
      site.owner = set.owner;
      site.attribute = set.attribute;
      site.module = &module;
      site.place = place;
      site.value_module = set.module;
      site.value = set.value;
      if (definition) {
        site.value_module = &module;
        site.value = definition;
        site.decorator = true;
      }
      add(std::move(site));
    }
  }

  // --- assignments ---
  void direct(const Module& module) {
    for (Node n : module.root().descendants()) {
      if (sets_attribute(n))
        attribute_assignment(module, n);
      else if (is_setattr(n))
        setattr_call(module, n);
      else if (n.is(Kind::k_subscript))
        sys_modules_item(module, n);
    }
  }

  bool done_by_helper(const Module& module, Node n) const {
    return by_helper_.count({&module, enclosing_statement(n).id()}) > 0;
  }

  void attribute_assignment(const Module& module, Node target) {
    if (done_by_helper(module, target)) return;
    Node assignment = target.parent();
    while (assignment.parent().is(Kind::k_assignment)) assignment = assignment.parent();  // a.x = b.x = value
    Node value = target.parent().child(Field::k_right);
    while (value.is(Kind::k_assignment)) value = value.child(Field::k_right);
    if (!value) return;  // an annotation alone
    Place owner = owner_of(module, target.child(Field::k_object));
    if (owner)
      add_direct(module, target, std::move(owner), std::string(target.child(Field::k_attribute).text()),
                 value);
  }

  void setattr_call(const Module& module, Node call) {
    if (done_by_helper(module, call)) return;
    Node arguments = call.child(Field::k_arguments);
    if (is_own_object(arguments.child_at(0))) return;
    Place owner = owner_of(module, arguments.child_at(0));
    if (!owner) return;
    for (const std::string& name : names_of(module, arguments.child_at(1))) {
      add_direct(module, call, owner, name, arguments.child_at(2));
    }
  }

  // The module or class whose attribute is set; nothing for objects of other kinds, unless they are reached
  // by imports alone (a registry or a settings object of a foreign module).
  Place owner_of(const Module& module, Node object) {
    if (!leads_to_import(module, object, 0)) return {};
    Place place = place_of(semantics_, module, object);
    if (!place || !is_foreign(place, plugin_)) return {};
    if (place.kind == PlaceKind::kModule || place.kind == PlaceKind::kClass) return place;
    if (place.kind == PlaceKind::kInstance || place.cls || !imported(module, object)) return {};
    return place;
  }

  // Whether the expression can come to stand for a module or class: it starts with an imported name, with a
  // local name for such an expression, or with a call or table that hands out modules. Parameters and made
  // objects are none.
  static bool leads_to_import(const Module& module, Node object, int depth) {
    Node e = strip_parens(object);
    while (e.is(Kind::k_attribute)) e = e.child(Field::k_object);
    if (e.is(Kind::k_call)) {
      std::string name = called_name(e);
      return name == "import_module" || name == "__import__" || name == "getattr" || name == "get";
    }
    if (e.is(Kind::k_subscript)) return e.child(Field::k_value).text().ends_with("modules");
    if (!e.is(Kind::k_identifier) || depth > 5) return false;
    ScopeId holder = module.scopes().resolve(e.id(), e.text());
    if (holder == kNoScope) return module.scopes().scopes()[kModuleScope].star_import;
    for (const Binding& b : module.scopes().in_scope(holder, e.text())) {
      if (b.kind == BindingKind::kImport || b.kind == BindingKind::kFromImport) return true;
      if (b.kind != BindingKind::kAssign) continue;
      Node statement = module.at(b.statement);
      if (!statement.child(Field::k_left).is(Kind::k_identifier)) continue;
      if (leads_to_import(module, statement.child(Field::k_right), depth + 1)) return true;
    }
    return false;
  }

  // The expression starts with an imported name and goes on by attributes.
  static bool imported(const Module& module, Node object) {
    Node e = object;
    while (e.is(Kind::k_attribute)) e = e.child(Field::k_object);
    if (!e.is(Kind::k_identifier)) return false;
    ScopeId holder = module.scopes().resolve(e.id(), e.text());
    if (holder == kNoScope) return false;
    for (const Binding& b : module.scopes().in_scope(holder, e.text())) {
      if (b.kind != BindingKind::kImport && b.kind != BindingKind::kFromImport) return false;
    }
    return true;
  }

  // What a name expression may be: one constant, or the items of the literal that a loop around it runs over.
  std::vector<std::string> names_of(const Module& module, Node expression) {
    std::vector<std::string> out;
    Values values = semantics_.infer(module, expression);
    if (const Value* v = values.single(); v && v->kind == ValueKind::kString) return {std::string(v->text)};
    if (!expression.is(Kind::k_identifier)) return out;
    for (Node p = expression.parent(); p; p = p.parent()) {
      if (!p.is(Kind::k_for_statement) || p.child(Field::k_left).text() != expression.text()) continue;
      Values items = semantics_.infer(module, p.child(Field::k_right));
      const Value* list = items.single();
      if (!list || list->kind != ValueKind::kLiteral) return out;
      for (Node item : list->definition().children()) {
        std::string text;
        if (string_value(item.is(Kind::k_pair) ? item.child(Field::k_key) : item, text)) out.push_back(text);
      }
      return out;
    }
    return out;
  }

  void add_direct(const Module& module, Node place, Place owner, std::string attribute, Node value) {
    if (owner.dotted == "builtins" && attribute == "__import__") return import_hook(module, place, value);
    PatchSite site;
    site.owner = std::move(owner);
    site.attribute = std::move(attribute);
    site.module = &module;
    site.place = place;
    site.value_module = &module;
    site.value = value;
    add(std::move(site));
  }

  void add(PatchSite site) {
    site.target = site.owner.dotted + "." + site.attribute;
    if (seen_.insert({site.module, site.place.id(), site.target}).second)
      out_.sites.push_back(std::move(site));
  }

  // --- the import system ---
  void sys_modules_item(const Module& module, Node subscript) {
    bool stored = subscript.field() == Field::k_left && subscript.parent().is(Kind::k_assignment);
    bool deleted = false;
    for (Node p = subscript.parent(); p && !deleted; p = p.parent()) {
      deleted = p.is(Kind::k_delete_statement);
      if (!p.is(Kind::k_expression_list)) break;
    }
    if (!stored && !deleted) return;
    if (!is_sys_modules(semantics_, module, subscript.child(Field::k_value))) return;
    Place to = stored ? place_of(semantics_, module, subscript.parent().child(Field::k_right)) : Place();
    for (const std::string& name : names_of(module, subscript.child(Field::k_subscript))) {
      if (name == module.name) continue;  // a module that replaces itself
      out_.redirects.push_back({name, to.dotted, &module, subscript, deleted});
    }
  }

  // A function in place of builtins.__import__: the literal maps in it, and those that it names, are what it redirects.
  void import_hook(const Module& module, Node place, Node value) {
    size_t before = out_.redirects.size();
    for (const Value& f : semantics_.infer(module, value).list) {
      if (f.kind != ValueKind::kFunction) continue;
      std::set<NodeId> seen;
      for (Node n : f.definition().descendants()) {
        if (n.is(Kind::k_pair)) redirect_pair(*f.module, n);
        ScopeId holder = n.is(Kind::k_identifier) ? f.module->scopes().resolve(n.id(), n.text()) : kNoScope;
        if (holder != kModuleScope) continue;
        for (const Value& table : semantics_.infer(*f.module, n).list) {
          if (table.kind != ValueKind::kLiteral || table.module != f.module || !seen.insert(table.node).second) continue;
          for (Node item : table.definition().children())
            if (item.is(Kind::k_pair)) redirect_pair(*f.module, item);
        }
      }
    }
    if (out_.redirects.size() == before) out_.redirects.push_back({kImportHook, "", &module, place});
  }

  void redirect_pair(const Module& module, Node pair) {
    std::string from, to;
    if (!string_value(pair.child(Field::k_key), from) || !string_value(pair.child(Field::k_value), to)) return;
    if (from.empty() || !semantics_.project().owns(from)) return;
    out_.redirects.push_back({from, to, &module, pair});
  }

  Semantics& semantics_;
  const SourceTree& plugin_;
  Patches& out_;
  std::set<std::string> setters_;
  std::map<std::string, std::set<std::string>> callers_;
  std::set<std::pair<const Module*, NodeId>> by_helper_;
  std::set<std::tuple<const Module*, NodeId, std::string>> seen_;
};

}  // namespace

Patches find_patches(Semantics& semantics, const SourceTree& plugin,
                     const std::vector<const Module*>& modules) {
  Patches out;
  Finder(semantics, plugin, out).run(modules);
  return out;
}

PatchTable collect_patches(Semantics& semantics, const Patches& patches,
                           const std::function<bool(const PatchSite&)>& counts) {
  PatchTable out;
  for (const PatchSite& site : patches.sites) {
    bool module = site.owner.kind == PlaceKind::kModule && site.owner.module;
    bool cls = site.owner.kind == PlaceKind::kClass && site.owner.cls;
    if (!module && !cls) continue;
    if (semantics.live(*site.module, site.place) == Truth::kNo || (counts && !counts(site))) continue;
    Patch patch;
    patch.module = site.value_module ? site.value_module : site.module;
    patch.statement = enclosing_statement(site.place);
    patch.value = site.value;
    patch.target = site.target;
    auto place =
        cls ? std::pair(site.owner.cls.module, site.owner.cls.node) : std::pair(site.owner.module, kNoNode);
    out.by_place[{place, site.attribute}].push_back(std::move(patch));
  }
  return out;
}

}  // namespace assay
