#include "vllm/registrations.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "python/bind.h"

namespace assay {

namespace {

// A call of a registering function, or a decorator that is one.
struct Site {
  const Module* module;
  Node place;  // decorator or call
  Node call;   // null for a bare decorator
  Node callee;
  Node decorated;  // class or function definition
  const ExtensionPoint* point = nullptr;
};

class Finder {
 public:
  Finder(Semantics& semantics, const Catalog& catalog, std::vector<RegistrationSite>& out)
      : semantics_(semantics), out_(out) {
    for (const ExtensionPoint& point : catalog.extension_points) {
      for (const std::string& call : point.calls) {
        by_call_.emplace(call, &point);
        names_.insert(std::string(last_part(call)));
      }
      if (!point.method.empty()) {
        methods_.push_back(&point);
        names_.insert(point.method);
      }
    }
  }

  void run(const std::vector<const Module*>& modules) {
    for (const Module* m : modules) direct(*m);
    if (helpers_.empty()) return;
    for (const Module* m : modules) helper_calls(*m);
    std::ranges::stable_sort(
        out_, {}, [](const RegistrationSite& s) { return std::pair(s.module->file(), s.place.start()); });
  }

 private:
  // A registering call whose key comes from the parameters of the plugin's function around it.
  struct Helper {
    Site site;
    Place receiver;
    Node function;
  };

  void direct(const Module& module) {
    for (Node n : module.root().descendants()) {
      if (n.is(Kind::k_decorator)) {
        Node e = n.first_child();
        Site site{&module,
                  n,
                  e.is(Kind::k_call) ? e : Node(),
                  e.is(Kind::k_call) ? e.child(Field::k_function) : e,
                  n.parent().child(Field::k_definition),
                  nullptr};
        examine(site);
      } else if (n.is(Kind::k_call) && !n.parent().is(Kind::k_decorator)) {
        Site site{&module, n, n, n.child(Field::k_function), {}, nullptr};
        // register(key)(cls): what the outer call passes is what is decorated.
        bool curried = n.field() == Field::k_function && n.parent().is(Kind::k_call);
        examine(site, curried ? n.parent() : Node());
      }
    }
  }

  // Calls and decorators of those functions: each registers on its own.
  void helper_calls(const Module& module) {
    for (Node n : module.root().descendants()) {
      bool decorator = n.is(Kind::k_decorator);
      Node call = decorator ? n.first_child() : n;
      if (!call.is(Kind::k_call) || (!decorator && n.parent().is(Kind::k_decorator))) continue;
      Node callee = call.child(Field::k_function);
      std::string name = std::string(last_part(callee.text()));
      for (const Helper& helper : helpers_) {
        if (helper.function.child(Field::k_name).text() != name) continue;
        for (const Value& v : semantics_.infer(module, callee).list) {
          if (v.kind != ValueKind::kFunction || v.module != helper.site.module ||
              v.node != helper.function.id())
            continue;
          helper_call(helper, module, n, call, decorator ? n.parent().child(Field::k_definition) : Node());
        }
      }
    }
  }

  void helper_call(const Helper& helper, const Module& module, Node place, Node call, Node decorated) {
    Signature signature = signature_of(helper.function);
    BindResult bound = bind(signature, call_shape(call));
    for (Round round : rounds_of(semantics_, module, place)) {
      for (size_t i = 0; i < signature.parameters.size() && i < bound.arguments.size(); ++i) {
        Node value = bound.arguments[i].value;
        if (value) round[std::string(signature.parameters[i].name)] = resolve_term(round, module, value);
      }
      size_t first = out_.size();
      Site site = helper.site;
      if (!site.decorated) site.decorated = decorated;
      add(site, helper.receiver, {}, round, decorated ? &module : nullptr);
      for (size_t i = first; i < out_.size(); ++i) {
        out_[i].module = &module;
        out_[i].place = place;
      }
      drop_repeated(first);
    }
  }

  // A helper may define an op and implement it: one row.
  void drop_repeated(size_t first) {
    for (size_t i = out_.size(); i-- > first;) {
      for (size_t j = 0; j < i; ++j) {
        if (out_[j].point->kind != out_[i].point->kind || out_[j].key != out_[i].key ||
            out_[j].place != out_[i].place)
          continue;
        out_.erase(out_.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    }
  }

  void examine(Site& site, Node outer_call = {}) {
    std::string_view name =
        site.callee.is(Kind::k_attribute) ? site.callee.child(Field::k_attribute).text() : site.callee.text();
    if (!names_.count(name) && !renamed(*site.module, site.callee)) return;
    Place receiver;
    site.point = point_of(site, receiver);
    if (!site.point) return;
    size_t before = out_.size();
    for (const Round& round : rounds_of(semantics_, *site.module, site.place))
      add(site, receiver, outer_call, round);
    if (out_.size() > before) return;
    Node function = enclosing_function(site.module->scopes(), site.place);
    if (function.is(Kind::k_function_definition)) helpers_.push_back({site, receiver, function});
  }

  // `from m import register as r`: the name in the file says nothing.
  bool renamed(const Module& module, Node callee) const {
    if (!callee.is(Kind::k_identifier)) return false;
    ScopeId holder = module.scopes().resolve(callee.id(), callee.text());
    if (holder == kNoScope) return false;
    for (const Binding& b : module.scopes().in_scope(holder, callee.text())) {
      Node clause = module.at(b.node);
      if (clause.is(Kind::k_aliased_import) && names_.count(std::string(last_part(clause.child(Field::k_name).text()))))
        return true;
    }
    return false;
  }

  const ExtensionPoint* point_of(const Site& site, Place& receiver) {
    const Module& module = *site.module;
    if (site.callee.is(Kind::k_attribute))
      receiver = place_of(semantics_, module, site.callee.child(Field::k_object));
    Values values = semantics_.infer(module, site.callee);
    for (const Value& v : values.list) {
      std::string dotted = v.kind == ValueKind::kFunction
                               ? semantics_.qualified_name(*v.module, v.definition())
                           : v.kind == ValueKind::kExternal ? std::string(v.text)
                                                            : std::string();
      if (auto it = by_call_.find(dotted); it != by_call_.end()) return it->second;
    }
    // By the way it is imported, where the target no longer has it.
    Place place =
        site.callee.is(Kind::k_attribute) && receiver ? Place() : place_of(semantics_, module, site.callee);
    std::string dotted =
        place      ? place.dotted
        : receiver ? receiver.dotted + "." + std::string(site.callee.child(Field::k_attribute).text())
                   : std::string();
    if (auto it = by_call_.find(dotted); it != by_call_.end()) return it->second;
    if (site.callee.is(Kind::k_attribute)) {
      for (const ExtensionPoint* point : methods_) {
        if (point->method == site.callee.child(Field::k_attribute).text() &&
            made_by(module, site.callee.child(Field::k_object), *point)) {
          return point;
        }
      }
    }
    return nullptr;
  }

  // The call that made the object, or the decorated function that it replaced.
  Term maker(const Module& module, Node object) {
    Node e = strip_parens(object);
    if (e.is(Kind::k_call)) return {&module, e};
    Place place = e.is_any(Kind::k_identifier, Kind::k_attribute) ? place_of(semantics_, module, e) : Place();
    const Module* where = nullptr;
    std::span<const Binding> bindings;
    if (place.kind == PlaceKind::kObject && place.module && !place.cls) {
      where = &semantics_.project().load(*place.module);
      if (place.dotted.size() <= where->name.size()) return {};
      bindings = where->scopes().in_scope(kModuleScope,
                                          std::string_view(place.dotted).substr(where->name.size() + 1));
    } else if (e.is(Kind::k_identifier)) {
      where = &module;
      ScopeId holder = module.scopes().resolve(e.id(), e.text());
      if (holder != kNoScope) bindings = module.scopes().in_scope(holder, e.text());
    }
    for (const Binding& b : bindings) {
      Node node = where->at(b.node), statement = where->at(b.statement);
      if (b.kind == BindingKind::kFunction) return {where, node};
      if (b.kind == BindingKind::kAssign && statement.child(Field::k_right).is(Kind::k_call)) {
        return {where, statement.child(Field::k_right)};
      }
    }
    return {};
  }

  bool is_one_of(const Module& module, Node callee, const std::vector<std::string>& names) {
    Values values = semantics_.infer(module, callee);
    for (const Value& v : values.list) {
      if (v.kind == ValueKind::kFunction || v.kind == ValueKind::kClass) {
        if (std::ranges::count(names, semantics_.qualified_name(*v.module, v.definition()))) return true;
      }
      if (v.kind == ValueKind::kExternal && std::ranges::count(names, v.text)) return true;
    }
    return std::ranges::count(names, place_of(semantics_, module, callee).dotted) > 0;
  }

  bool made_by(const Module& module, Node object, const ExtensionPoint& point) {
    Term made = maker(module, object);
    if (!made) return false;
    if (made.node.is(Kind::k_call))
      return is_one_of(*made.module, made.node.child(Field::k_function), point.on_result_of);
    for (Node d : decorators_of(made.node)) {
      Node callee = d.is(Kind::k_call) ? d.child(Field::k_function) : d;
      if (is_one_of(*made.module, callee, point.on_result_of)) return true;
    }
    return false;
  }

  // --- arguments ---
  Node argument(const Site& site, const ArgumentSpec& spec) const {
    int position = 0;
    for (Node a : site.call.child(Field::k_arguments).children()) {
      if (a.is(Kind::k_keyword_argument)) {
        if (a.child(Field::k_name).text() == spec.name) return a.child(Field::k_value);
      } else if (position++ == spec.position && !a.is_any(Kind::k_list_splat, Kind::k_dictionary_splat)) {
        return a;
      }
    }
    return {};
  }

  Term term(const Site& site, const ArgumentSpec& spec, const Round& round) const {
    Node node = argument(site, spec);
    return node ? resolve_term(round, *site.module, node) : Term();
  }

  // --- rows ---
  void add(const Site& site, const Place& receiver, Node outer_call, const Round& round,
           const Module* decorated_in = nullptr) {
    RegistrationSite base;
    base.point = site.point;
    base.module = site.module;
    base.place = site.place;
    base.receiver = receiver;
    find_value(site, outer_call, round, base, decorated_in ? *decorated_in : *site.module);
    for (std::string& key : keys_of(site, base, round)) {
      RegistrationSite row = base;
      row.key = std::move(key);
      out_.push_back(std::move(row));
    }
  }

  void find_value(const Site& site, Node outer_call, const Round& round, RegistrationSite& out,
                  const Module& decorated_in) {
    std::vector<std::string> texts;
    for (const ArgumentSpec& spec : site.point->value) {
      Term value = term(site, spec, round);
      if (!value || value.node.is(Kind::k_none)) continue;
      std::string text;
      if (term_text(semantics_, round, value, text)) {
        texts.push_back(text);
        out.strings.push_back(value);
      } else {
        return set_object(value, out);
      }
    }
    if (!texts.empty()) {
      for (const std::string& t : texts) out.effective += (out.effective.empty() ? "" : ".") + t;
      std::string dotted = out.effective;
      std::ranges::replace(dotted, ':', '.');
      for (const Value& v : semantics_.resolve_dotted(dotted).list) {
        if (v.kind == ValueKind::kClass || v.kind == ValueKind::kFunction)
          out.value = {v.module, v.definition()};
      }
      return;
    }
    if (site.decorated) return set_object({&decorated_in, site.decorated}, out);
    Node outer = outer_call.child(Field::k_arguments).child_at(0);
    if (outer) set_object({site.module, outer}, out);
  }

  void set_object(Term value, RegistrationSite& out) {
    Node e = value.node;
    if (e.is_any(Kind::k_class_definition, Kind::k_function_definition)) {
      out.value = value;
      out.effective = semantics_.qualified_name(*value.module, e);
      return;
    }
    for (const Value& v : semantics_.infer(*value.module, e).list) {
      if (v.kind != ValueKind::kClass && v.kind != ValueKind::kFunction) continue;
      out.value = {v.module, v.definition()};
      out.effective = semantics_.qualified_name(*v.module, v.definition());
      return;
    }
    Place place = place_of(semantics_, *value.module, e);
    out.effective = place ? place.dotted : std::string(e.text().substr(0, 80));
  }

  std::vector<std::string> keys_of(const Site& site, const RegistrationSite& row, const Round& round) {
    const ExtensionPoint& point = *site.point;
    Term first = point.key.empty() ? Term() : term(site, point.key[0], round);
    switch (point.key_rule) {
      case KeyRule::kString:
        return term_texts(semantics_, round, first);
      case KeyRule::kEnum:
        return enum_names(first);
      case KeyRule::kBaseName: {
        std::vector<std::string> given = term_texts(semantics_, round, first);
        if (!given.empty() || !row.receiver) return given;
        return {std::string(last_part(row.receiver.dotted))};
      }
      case KeyRule::kClass:
        if (first) return {class_name(first)};
        return row.effective.empty() ? std::vector<std::string>() : std::vector{std::string(last_part(row.effective))};
      case KeyRule::kClassType:
        return class_types(site, first, round);
      case KeyRule::kName: {
        std::vector<std::string> given = term_texts(semantics_, round, first);
        if (!given.empty() || row.effective.empty()) return given;
        return {std::string(last_part(row.effective))};
      }
      case KeyRule::kOp:
        return op_names(site, first, round);
      case KeyRule::kOpProvider: {
        std::string provider;
        if (!term_text(semantics_, round, first, provider)) return {};
        return {std::string(last_part(row.receiver ? row.receiver.dotted : site.callee.child(Field::k_object).text())) +
                ":" + provider};
      }
    }
    return {};
  }

  std::vector<std::string> enum_names(const Term& member) {
    if (!member) return {};
    Values values = semantics_.infer(*member.module, member.node);
    const Value* v = values.single();
    if (v && v->kind == ValueKind::kInstance && !v->text.empty()) return {std::string(v->text)};
    // The member as it is written, where the enum has none of that name.
    if (member.node.is(Kind::k_attribute)) return {std::string(member.node.child(Field::k_attribute).text())};
    std::string text;
    if (member.node.is(Kind::k_subscript) && string_value(member.node.child(Field::k_subscript), text))
      return {text};
    return {};
  }

  std::string class_name(const Term& cls) {
    for (const Value& v : semantics_.infer(*cls.module, cls.node).list) {
      if (v.kind == ValueKind::kClass) return std::string(v.definition().child(Field::k_name).text());
    }
    return std::string(last_part(cls.node.text()));
  }

  std::vector<std::string> class_types(const Site& site, const Term& cls, const Round& round) {
    if (!cls || site.point->key.size() < 2) return {};
    const ArgumentSpec& spec = site.point->key[1];
    std::string type = spec.fallback;
    if (Term given = term(site, spec, round); given && !term_text(semantics_, round, given, type)) return {};
    return {class_name(cls) + ":" + type};
  }

  // The namespace of torch.library.Library("ns", …).
  std::string library_namespace(const Module& module, Node library) {
    Term made = library ? maker(module, library) : Term();
    std::string text;
    if (!made || !made.node.is(Kind::k_call)) return text;
    term_text(semantics_, {}, {made.module, made.node.child(Field::k_arguments).child_at(0)}, text);
    return text;
  }

  std::vector<std::string> op_names(const Site& site, Term first, const Round& round) {
    const ExtensionPoint& point = *site.point;
    std::string space = point.name_space;
    Node library = point.key.size() > 1 ? argument(site, point.key[1]) : Node();
    if (!point.method.empty()) library = site.callee.child(Field::k_object);
    if (library && !library.is(Kind::k_none)) {
      std::string found = library_namespace(*site.module, library);
      // torch.library.impl(lib, "name", …): the name stands behind the library.
      if (!found.empty() && first.node == library) first = term(site, {"", 1, ""}, round);
      if (!found.empty()) space = found;
    }
    // name + schema: the schema may be computed.
    bool sum =
        first && first.node.is(Kind::k_binary_operator) && term_texts(semantics_, round, first).empty();
    if (sum) first = {first.module, first.node.child(Field::k_left)};
    std::vector<std::string> out;
    for (std::string& name : term_texts(semantics_, round, first)) {
      name = name.substr(0, name.find('('));
      bool qualified = name.find("::") != std::string::npos || space.empty();
      out.push_back(qualified ? name : space + "::" + name);
    }
    return out;
  }

  Semantics& semantics_;
  std::vector<RegistrationSite>& out_;
  std::vector<Helper> helpers_;
  std::map<std::string, const ExtensionPoint*, std::less<>> by_call_;
  std::vector<const ExtensionPoint*> methods_;
  std::set<std::string, std::less<>> names_;
};

}  // namespace

std::vector<RegistrationSite> find_registrations(Semantics& semantics, const Catalog& catalog,
                                                 const std::vector<const Module*>& modules) {
  std::vector<RegistrationSite> out;
  Finder(semantics, catalog, out).run(modules);
  return out;
}

}  // namespace assay
