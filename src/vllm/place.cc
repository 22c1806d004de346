#include "vllm/place.h"

#include <algorithm>

namespace assay {

namespace {

constexpr int kDeepest = 40;  // names and attributes followed one behind the other

Place module_place(const Module& module) {
  Place out;
  out.kind = PlaceKind::kModule;
  out.dotted = module.name;
  out.module = &module;
  return out;
}

Place class_place(Semantics& semantics, ClassRef cls, PlaceKind kind) {
  Place out;
  out.kind = kind;
  out.cls = cls;
  out.dotted = semantics.qualified_name(*cls.module, cls.definition());
  return out;
}

Place object_place(std::string dotted, const Module* module = nullptr) {
  Place out;
  out.kind = PlaceKind::kObject;
  out.dotted = std::move(dotted);
  out.module = module;
  return out;
}

// What an inferred value says of the place: modules, classes and objects of classes have one of their own.
Place place_of_values(Semantics& semantics, const Values& values) {
  const Value* v = values.list.empty() ? nullptr : &values.list[0];
  for (const Value& other : values.list) {
    if (other.kind != v->kind || other.module != v->module || other.node != v->node) return {};
  }
  if (!v) return {};
  switch (v->kind) {
    case ValueKind::kModule:
      return module_place(*v->module);
    case ValueKind::kClass:
      return class_place(semantics, v->class_ref(), PlaceKind::kClass);
    case ValueKind::kInstance:
      return v->text.empty() ? class_place(semantics, v->class_ref(), PlaceKind::kInstance) : Place();
    case ValueKind::kExternal:
      return object_place(std::string(v->text));
    default:
      return {};
  }
}

Place module_member_place(Semantics& semantics, const Module& unloaded, std::string_view name, int depth);

Place imported_place(Semantics& semantics, const Module& importer, const Binding& b, int depth) {
  Node clause = importer.at(b.node);
  Node name = clause.is(Kind::k_aliased_import) ? clause.child(Field::k_name) : clause;
  std::string dotted = dotted_text(name);
  const Project& project = semantics.project();
  if (b.kind == BindingKind::kImport) {
    if (!clause.is(Kind::k_aliased_import)) dotted = dotted.substr(0, dotted.find('.'));
    if (const Module* m = project.find_loaded(dotted)) return module_place(*m);
    Place outside = object_place(dotted);
    outside.kind = PlaceKind::kModule;
    return outside;
  }
  std::string source = imported_module_name(importer, importer.at(b.statement).child(Field::k_module_name));
  if (source.empty()) return {};
  const Module* from = project.find_loaded(source);
  return from ? module_member_place(semantics, *from, dotted, depth + 1)
              : object_place(source + "." + dotted);
}

// `module.name`, followed through re-exports.
Place module_member_place(Semantics& semantics, const Module& unloaded, std::string_view name, int depth) {
  const Module& module = semantics.project().load(unloaded);
  Member member = semantics.module_member(module, name);
  Place here = object_place(module.name + "." + std::string(name), &module);
  if (member.presence != Presence::kYes || depth > kDeepest) return here;
  const Module* definer = member.module ? member.module : &module;
  if (!member.bindings.empty()) {
    const Binding& last = *member.bindings.back();
    bool imported = last.kind == BindingKind::kImport || last.kind == BindingKind::kFromImport;
    if (imported) return imported_place(semantics, *definer, last, depth);
    if (last.kind == BindingKind::kClass)
      return class_place(semantics, {definer, last.node}, PlaceKind::kClass);
    return object_place(definer->name + "." + std::string(name), definer);
  }
  if (member.submodule) return module_place(semantics.project().load(*member.submodule));
  Place found = place_of_values(semantics, semantics.values_of(member));
  return found && found.kind != PlaceKind::kInstance ? found : here;
}

// A class attribute whose value all instances share: assigned in the class body, and no dataclass field.
bool is_shared(const Member& member) {
  if (!member.owner || member.bindings.empty()) return false;
  for (const Binding* b : member.bindings) {
    Node statement = member.module->at(b->statement);
    Node value = statement.child(Field::k_right);
    bool class_var = statement.child(Field::k_type).text().find("ClassVar") != std::string_view::npos;
    bool table = value.is_any(Kind::k_list, Kind::k_dictionary, Kind::k_set, Kind::k_list_comprehension) ||
                 (value.is(Kind::k_call) && !statement.child(Field::k_type));
    if (!class_var && !table) return false;
  }
  return true;
}

Place expression_place(Semantics& semantics, const Module& module, Node expression, int depth);

// A field that says what kind of table it is, and that is not left out of the constructor.
bool is_setting(const Member& member) {
  for (const Binding* b : member.bindings) {
    Node statement = member.module->at(b->statement);
    std::string_view type = statement.child(Field::k_type).text();
    bool table = false;
    for (std::string_view word :
         {"dict", "list", "set[", "Dict", "List", "Set[", "Mapping", "Sequence", "deque"}) {
      table |= type.find(word) != std::string_view::npos;
    }
    for (Node a : statement.child(Field::k_right).child(Field::k_arguments).children()) {
      bool left_out = a.is(Kind::k_keyword_argument) && a.child(Field::k_name).text() == "init" &&
                      a.child(Field::k_value).is(Kind::k_false);
      table &= !left_out;
    }
    if (table) return true;
  }
  return false;
}

Place identifier_place(Semantics& semantics, const Module& module, Node name, int depth) {
  const ModuleScopes& scopes = module.scopes();
  ScopeId holder = scopes.resolve(name.id(), name.text());
  if (holder == kNoScope) {
    Member member = semantics.module_member(module, name.text());
    if (member.presence != Presence::kYes) return {};
    return module_member_place(semantics, module, name.text(), depth + 1);
  }
  // Imports of one name in several branches (if/else, try/except): all lead to a place of that name; the last
  // one counts.
  const Binding* import = nullptr;
  bool only_imports = true;
  for (const Binding& b : scopes.in_scope(holder, name.text())) {
    bool is_import = b.kind == BindingKind::kImport || b.kind == BindingKind::kFromImport;
    only_imports &= is_import;
    Node place = module.at(b.node);
    if (is_import && semantics.live(module, place) != Truth::kNo &&
        !semantics.type_checking_only(module, place))
      import = &b;
  }
  if (import && only_imports) return imported_place(semantics, module, *import, depth);
  Place inferred = place_of_values(semantics, semantics.infer(module, name));
  if (inferred) return inferred;
  if (holder != kModuleScope) {
    // A local name for another place: `table = module.TABLE`
    const Binding* only = nullptr;
    for (const Binding& b : scopes.in_scope(holder, name.text())) {
      if (only || b.kind != BindingKind::kAssign) return {};
      only = &b;
    }
    if (!only || depth > kDeepest) return {};
    Node statement = module.at(only->statement);
    if (!statement.child(Field::k_left).is(Kind::k_identifier)) return {};
    return expression_place(semantics, module, statement.child(Field::k_right), depth + 1);
  }
  return object_place(module.name + "." + std::string(name.text()), &module);
}

Place expression_place(Semantics& semantics, const Module& module, Node expression, int depth) {
  if (depth > kDeepest) return {};
  Node e = strip_parens(expression);
  if (e.is(Kind::k_identifier)) return identifier_place(semantics, module, e, depth);
  if (e.is(Kind::k_attribute)) {
    // The value knows best, where it is a module, a class or an object of one.
    if (Place found = place_of_values(semantics, semantics.infer(module, e)); found) return found;
    Place base = expression_place(semantics, module, e.child(Field::k_object), depth + 1);
    return member_place(semantics, base, e.child(Field::k_attribute).text());
  }
  if (e.is(Kind::k_subscript) && e.child(Field::k_value).text() == "sys.modules") {
    Values names = semantics.infer(module, e.child(Field::k_subscript));
    const Value* name = names.single();
    if (name && name->kind == ValueKind::kString) return place_of_dotted(semantics, name->text);
    return {};
  }
  if (e.is(Kind::k_call)) return place_of_values(semantics, semantics.infer(module, e));
  return {};
}

}  // namespace

Place member_place(Semantics& semantics, const Place& base, std::string_view name) {
  switch (base.kind) {
    case PlaceKind::kNone:
      return {};
    case PlaceKind::kModule:
      if (base.module) return module_member_place(semantics, *base.module, name, 0);
      [[fallthrough]];
    case PlaceKind::kObject: {
      Place out = base;
      out.kind = PlaceKind::kObject;
      if (base.cls) out.shared = out.setting = false;
      out.dotted += "." + std::string(name);
      return out;
    }
    case PlaceKind::kClass:
    case PlaceKind::kInstance:
      break;
  }
  Member member = base.kind == PlaceKind::kClass ? semantics.class_member(base.cls, name)
                                                 : semantics.instance_member(base.cls, name);
  ClassRef owner = member.owner ? member.owner : base.cls;
  Place out = object_place(
      semantics.qualified_name(*owner.module, owner.definition()) + "." + std::string(name), owner.module);
  out.cls = owner;
  out.shared = is_shared(member) || base.kind == PlaceKind::kClass;
  out.setting = member.owner && is_setting(member);
  return out;
}

Place place_of_dotted(Semantics& semantics, std::string_view dotted) {
  if (const Module* m = semantics.project().find_loaded(dotted)) return module_place(*m);
  size_t dot = dotted.rfind('.');
  bool deep = std::ranges::count(dotted, '.') > kDeepest;
  if (dot == std::string_view::npos || deep) return object_place(std::string(dotted));
  if (!semantics.project().find(dotted.substr(0, dotted.find('.')))) return object_place(std::string(dotted));
  return member_place(semantics, place_of_dotted(semantics, dotted.substr(0, dot)), dotted.substr(dot + 1));
}

Place place_of(Semantics& semantics, const Module& module, Node expression) {
  return expression_place(semantics, module, expression, 0);
}

bool is_foreign(const Place& place, const SourceTree& plugin) {
  if (!place) return false;
  const Module* module = place.cls ? place.cls.module : place.module;
  if (module) return module->tree != &plugin;
  std::string_view top = std::string_view(place.dotted).substr(0, place.dotted.find('.'));
  return std::ranges::find(plugin.packages, top) == plugin.packages.end();
}

}  // namespace assay
