// What calling a class takes: written, made by a dataclass or NamedTuple, or put in place by a decorator.
#include "project/constructors.h"

#include <algorithm>

namespace assay {
namespace {

constexpr int kMostHelpers = 3;  // functions that a decorator hands the class on to

// `cls.__init__ = X` of a parameter of the function: the assignment.
Node assigns_init(Node function) {
  for (Node n : function.child(Field::k_body).descendants()) {
    if (!n.is(Kind::k_assignment) || n.child(Field::k_right).kind() != Kind::k_identifier) continue;
    Node target = n.child(Field::k_left);
    if (target.is(Kind::k_attribute) && target.child(Field::k_attribute).text() == "__init__" &&
        target.child(Field::k_object).text() == first_parameter(function)) {
      return n;
    }
  }
  return {};
}

bool writes_init(const ClassFacts& facts) {
  return std::any_of(facts.methods.begin(), facts.methods.end(), [](Node m) { return m.child(Field::k_name).text() == "__init__"; });
}

// The function hands all that it takes on: a call with both `*args` and `**kwargs` of its own.
bool forwards_all(Node function, const Signature& signature) {
  if (!signature.accepts_var_positional() || !signature.accepts_var_keyword()) return false;
  for (Node n : function.child(Field::k_body).descendants()) {
    if (!n.is(Kind::k_argument_list)) continue;
    bool list = false, dictionary = false;
    for (Node a : n.children()) {
      const Parameter* p = signature.find(a.first_child().text());
      list |= p && a.is(Kind::k_list_splat) && p->kind == ParameterKind::kVarPositional;
      dictionary |= p && a.is(Kind::k_dictionary_splat) && p->kind == ParameterKind::kVarKeyword;
    }
    if (list && dictionary) return true;
  }
  return false;
}

// What binds when `outer` takes some by name and hands the rest on to `inner`.
Signature through(const Signature& outer, const Signature& inner) {
  Signature out = inner;
  for (const Parameter& p : outer.parameters) {
    if (p.is_variadic()) continue;
    auto same = std::find_if(out.parameters.begin(), out.parameters.end(), [&](const Parameter& q) { return q.name == p.name && !q.is_variadic(); });
    if (same == out.parameters.end()) {
      out.parameters.push_back(p);
    } else {
      same->kind = p.kind;
      same->has_default = p.has_default;
    }
  }
  std::stable_sort(out.parameters.begin(), out.parameters.end(), [](const Parameter& a, const Parameter& b) { return a.kind < b.kind; });
  return out;
}

}  // namespace

void wrap(Callable& callable, Node wrapper) {
  Signature outer = signature_of(wrapper).without_first();
  if (outer.incomplete) return;
  const bool forwards = callable.known && forwards_all(wrapper, outer);
  callable.signature = forwards ? through(outer, callable.signature) : outer;
  callable.inspected = std::move(outer);
  callable.known = true;
  callable.reason = "";
}

// The function that a decorator of the class puts in the place of its __init__.
Value Semantics::replaced_init(const ClassInfo& info) {
  for (Node d : decorators_of(info.facts->definition)) {
    const std::string name = decorator_name(d);
    const std::string_view last = last_part(name);
    if (last == "dataclass" || last == "final" || last.starts_with("register") || externals_.transparent_decorators.count(last)) continue;
    Values values = infer(*info.ref.module, d.is(Kind::k_call) ? d.child(Field::k_function) : d);
    const Value* f = values.single();
    if (!f || f->kind != ValueKind::kFunction) continue;
    std::vector<Value> todo = {*f};
    for (size_t i = 0; i < todo.size() && i < kMostHelpers; ++i) {
      const Module& module = *todo[i].module;
      Node function = todo[i].definition();
      if (Node assignment = assigns_init(function)) {
        Values put = infer(module, assignment.child(Field::k_right));
        if (put.single() && put.single()->kind == ValueKind::kFunction) return *put.single();
      }
      for (Node n : function.child(Field::k_body).descendants()) {
        if (!n.is(Kind::k_call)) continue;
        Node around = enclosing_function(module.scopes(), n), first = n.child(Field::k_arguments).child_at(0);
        if (!first.is(Kind::k_identifier) || first.text() != first_parameter(around)) continue;
        Values helper = infer(module, n.child(Field::k_function));
        const Value* h = helper.single();
        if (h && h->kind == ValueKind::kFunction && std::find(todo.begin(), todo.end(), *h) == todo.end()) todo.push_back(*h);
      }
    }
  }
  return {};
}

Callable Semantics::constructor(ClassRef ref) {
  Callable out = plain_constructor(ref);
  const ClassInfo& info = class_info(ref);
  // The nearest class with a constructor of its own, written or put in place, decides.
  for (const MroEntry& e : info.mro) {
    if (!e.ref) break;
    const ClassInfo& c = class_info(e.ref);
    Value replaced = replaced_init(c);
    if (replaced.kind == ValueKind::kFunction) {
      wrap(out, replaced.definition());
      return out;
    }
    if (writes_init(*c.facts)) break;
  }
  return out;
}

Callable Semantics::plain_constructor(ClassRef ref) {
  Callable out;
  const ClassInfo& info = class_info(ref);
  out.name = info.name;
  out.module = ref.module;
  out.definition = ref.definition();
  if (is_enum(ref)) {
    out.reason = "enum lookup";
    return out;
  }
  for (const MroEntry& e : info.mro) {
    if (e.ref && class_info(e.ref).facts->metaclass) {
      out.reason = "metaclass";
      std::string_view meta = class_info(e.ref).facts->metaclass.text();
      if (meta != "ABCMeta" && meta != "abc.ABCMeta") return out;
    }
  }
  if (synthesised_constructor(info, out)) return out;
  Member init = class_member(ref, "__init__");
  Member make = class_member(ref, "__new__");
  if (make.owner) {
    const Binding* b = make.bindings.empty() ? nullptr : make.bindings.back();
    Signature s = b && b->kind == BindingKind::kFunction ? signature_of(make.module->at(b->node)) : Signature();
    if (!s.accepts_var_keyword() || !s.accepts_var_positional()) {
      out.reason = "the class has its own __new__";
      return out;
    }
  }
  if (init.presence == Presence::kUnknown) {
    out.reason = init.reason;
    return out;
  }
  if (!init.owner) {
    // object.__init__ takes nothing; those of other outside classes are not known.
    bool plain = std::all_of(info.mro.begin(), info.mro.end(), [](const MroEntry& e) {
      return e.ref || e.external == "builtins.object" || e.external == "abc.ABC" || e.external == "typing.Generic";
    });
    if (init.external_owner == "builtins.object" && plain && !make.owner && info.complete) {
      out.known = true;
      out.signature = Signature();
      out.reason = "";
      return out;
    }
    out.reason = "constructor of a class outside the project";
    return out;
  }
  // A base that is not known may make the constructor of classes that write none (__init_subclass__, a metaclass).
  bool inherits = init.owner != ref && std::any_of(info.mro.begin(), info.mro.end(), [&](const MroEntry& e) {
                    return !e.ref && externals_.class_members.find(e.external) == externals_.class_members.end();
                  });
  if (inherits) {
    out.reason = "a base that is not known may make the constructor";
    return out;
  }
  Values inits = attribute(instance_value(ref), "__init__");
  const Value* f = inits.single();
  if (!f || f->kind != ValueKind::kFunction) {
    out.reason = "its __init__ is not followed";
    return out;
  }
  Callable c = function_callable(*f);
  c.name = info.name;
  // Both take the arguments of the call; inspect shows the nearer one, of the same class the __new__.
  if (make.owner && !make.bindings.empty()) {
    auto place = [&](ClassRef owner) { return std::find_if(info.mro.begin(), info.mro.end(), [&](const MroEntry& e) { return e.ref == owner; }); };
    if (place(make.owner) <= place(init.owner)) c.inspected = signature_of(make.module->at(make.bindings.back()->node)).without_first();
  }
  return c;
}

namespace {

struct Field_ {
  Parameter parameter;
  bool keyword_only;
};

bool keyword_is(Node call, std::string_view name, std::string_view text) {
  for (Node a : call.child(Field::k_arguments).children()) {
    if (a.is(Kind::k_keyword_argument) && a.child(Field::k_name).text() == name) return a.child(Field::k_value).text() == text;
  }
  return false;
}

Node keyword_value(Node call, std::string_view name) {
  for (Node a : call.child(Field::k_arguments).children()) {
    if (a.is(Kind::k_keyword_argument) && a.child(Field::k_name).text() == name) return a.child(Field::k_value);
  }
  return {};
}

}  // namespace

// dataclasses (by any decorator that ends in `dataclass`), NamedTuple. Others (pydantic, msgspec, vLLM's config) are left
// unknown unless they are dataclasses too.
bool Semantics::synthesised_constructor(const ClassInfo& info, Callable& out) {
  auto dataclass_decorator = [](const ClassInfo& c) -> Node {
    for (Node d : decorators_of(c.facts->definition)) {
      if (last_part(decorator_name(d)) == "dataclass") return d;
    }
    return {};
  };
  bool named_tuple = info.derives_from("typing.NamedTuple");
  Node own = dataclass_decorator(info);
  if (info.derives_from("typing.TypedDict") || info.derives_from("typing.Protocol")) {
    out.reason = "constructor of a typing construct";
    return true;
  }
  // The nearest class of the MRO that has a constructor decides.
  for (const MroEntry& e : info.mro) {
    if (!e.ref) break;
    const ClassInfo& c = class_info(e.ref);
    bool writes_init = std::any_of(c.facts->methods.begin(), c.facts->methods.end(), [](Node m) { return m.child(Field::k_name).text() == "__init__"; });
    for (Node d : decorators_of(c.facts->definition)) {
      std::string last(last_part(decorator_name(d)));
      if (last == "config" || last == "attrs" || last == "define" || last == "frozen") {
        out.reason = "constructor made by a decorator";
        return true;
      }
    }
    if (writes_init) return false;
    if (dataclass_decorator(c) || named_tuple) {
      own = dataclass_decorator(c);
      break;
    }
  }
  if (!own && !named_tuple) return false;
  if (!info.complete) {
    out.reason = "a base of the dataclass is not known";
    return true;
  }
  if (own.is(Kind::k_call) && keyword_is(own, "init", "False")) return false;
  std::vector<Field_> fields;
  for (auto it = info.mro.rbegin(); it != info.mro.rend(); ++it) {
    if (!it->ref) continue;
    const ClassInfo& c = class_info(it->ref);
    Node deco = dataclass_decorator(c);
    if (!deco && !named_tuple) continue;
    bool class_keyword_only = deco.is(Kind::k_call) && keyword_is(deco, "kw_only", "True");
    bool keyword_only = class_keyword_only;
    for (Node s : c.facts->definition.child(Field::k_body).children()) {
      Node a = s.first_child();
      if (!s.is(Kind::k_expression_statement) || !a.is(Kind::k_assignment) || !a.child(Field::k_type)) continue;
      Node target = a.child(Field::k_left), type = a.child(Field::k_type), value = a.child(Field::k_right);
      if (!target.is(Kind::k_identifier)) continue;
      std::string_view type_text = type.text();
      if (type_text.find("ClassVar") != std::string_view::npos) continue;
      if (type_text == "KW_ONLY" || type_text == "dataclasses.KW_ONLY") {
        keyword_only = true;
        continue;
      }
      Field_ f;
      f.keyword_only = keyword_only;
      f.parameter.name = target.text();
      f.parameter.annotation = type;
      f.parameter.node = target;
      f.parameter.has_default = static_cast<bool>(value);
      f.parameter.default_value = value;
      bool in_init = true;
      if (value.is(Kind::k_call) && last_part(dotted_text(value.child(Field::k_function))) == "field") {
        f.parameter.has_default = keyword_value(value, "default") || keyword_value(value, "default_factory");
        f.parameter.default_value = keyword_value(value, "default");
        in_init = !keyword_is(value, "init", "False");
        if (keyword_is(value, "kw_only", "True")) f.keyword_only = true;
      }
      // A field declared again keeps its place.
      auto old = std::find_if(fields.begin(), fields.end(), [&](const Field_& o) { return o.parameter.name == f.parameter.name; });
      if (old != fields.end()) {
        if (in_init) *old = f;
        else fields.erase(old);
        continue;
      }
      if (in_init) fields.push_back(f);
    }
  }
  for (Field_& f : fields) f.parameter.kind = f.keyword_only ? ParameterKind::kKeywordOnly : ParameterKind::kPositionalOrKeyword;
  for (const Field_& f : fields) {
    if (!f.keyword_only) out.signature.parameters.push_back(f.parameter);
  }
  for (const Field_& f : fields) {
    if (f.keyword_only) out.signature.parameters.push_back(f.parameter);
  }
  out.known = true;
  out.reason = "";
  return true;
}

}  // namespace assay
