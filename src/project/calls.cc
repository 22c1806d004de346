// What calls return, and what they bind to.
#include <algorithm>

#include "project/semantics.h"

namespace assay {
namespace {

constexpr size_t kMostReturns = 16;
constexpr uint32_t kMostBody = 800;  // nodes of a function that is looked into
constexpr int kMostFollowed = 300;  // functions for one call

bool is_generator(const Module& module, Node function) {
  for (Node n : function.child(Field::k_body).descendants()) {
    if (n.is(Kind::k_yield) && enclosing_function(module.scopes(), n) == function) return true;
  }
  return false;
}

}  // namespace

Values Semantics::call_result(const Value& callee, const Module& module, Node call, const Frame* frame) {
  switch (callee.kind) {
    case ValueKind::kClass: {
      if (is_enum(callee.class_ref())) {
        Value member = instance_value(callee.class_ref());
        member.declared = true;
        return Values::of(member);
      }
      Member made = class_member(callee.class_ref(), "__new__");
      if (made.owner && !made.bindings.empty()) return Values::unknown("the class has its own __new__");
      const ClassInfo& info = class_info(callee.class_ref());
      if (info.facts->metaclass) return Values::unknown("the class has a metaclass");
      Value instance = instance_value(callee.class_ref());
      instance.declared = callee.declared;  // `cls()` or a parameter of type[X]: perhaps a subclass
      return Values::of(instance);
    }
    case ValueKind::kFunction: return function_result(callee, module, call, frame);
    case ValueKind::kExternal: return builtin_call(callee.text, module, call, frame);
    case ValueKind::kInstance: {
      Values out;
      Values methods = attribute(callee, "__call__");
      if (methods.open) return Values::unknown("call of an object");
      for (const Value& m : methods.list) {
        if (m.kind != ValueKind::kFunction) return Values::unknown("call of an object");
        out.merge(function_result(m, module, call, frame));
      }
      return out;
    }
    default: return Values::unknown("call of a value that is not followed");
  }
}

Values Semantics::function_result(const Value& function, const Module& module, Node call, const Frame* frame) {
  Node definition = function.definition();
  if (definition.child(Kind::kAsync)) return Values::unknown("coroutine");
  Frame inner;
  inner.self = function.bound != Bound::kNo ? function.self : ClassRef();
  // The body is looked into where it is short enough to be a predicate, a version test or a factory.
  Node body = definition.child(Field::k_body);
  bool small = body && body.subtree_end() - body.id() < kMostBody;
  Values result = Values::unknown("function not followed");
  if (active_calls_.empty()) followed_ = 0;
  // Functions that call two others each, and those two more, would be looked into without end.
  if (small && depth_ < 30 && call && followed_ < kMostFollowed) {
    ++followed_;
    Signature signature = signature_of(definition);
    if (function.bound != Bound::kNo) signature = signature.without_first();
    BindResult bound = bind(signature, call_shape(call));
    if (!bound.certainly_fails()) {
      for (size_t i = 0; i < signature.parameters.size() && i < bound.arguments.size(); ++i) {
        const Parameter& p = signature.parameters[i];
        const BoundArgument& a = bound.arguments[i];
        Values v = Values::unknown("argument not known");
        if (a.value && (a.given == Given::kPositional || a.given == Given::kKeyword)) v = infer(module, a.value, frame);
        else if (a.given == Given::kNo && p.default_value) v = infer(*function.module, p.default_value);
        inner.arguments.emplace(p.name, std::move(v));
      }
      result = returned(function, inner);
    }
  }
  if (!result.open) return result;
  if (Node type = definition.child(Field::k_return_type)) {
    if (is_generator(*function.module, definition)) return Values::unknown("generator");
    Values declared = infer_annotation(*function.module, type);
    if (!declared.list.empty()) return declared;
  }
  return result;
}

// The union of what the live return statements give.
Values Semantics::returned(const Value& function, const Frame& frame) {
  Node definition = function.definition();
  const Module& module = *function.module;
  if (definition.is(Kind::k_lambda)) return infer(module, definition.child(Field::k_body), &frame);
  Key key{&module, definition.id()};
  if (!active_calls_.insert(key).second) return Values::unknown("recursive");
  Values out;
  size_t count = 0;
  bool falls_through = true;
  Node body = definition.child(Field::k_body);
  for (Node s : body.children()) {
    if (always_leaves(s)) falls_through = false;
  }
  bool decided = true;
  for (Node n : body.descendants()) {
    if (n.is(Kind::k_yield)) {
      out = Values::unknown("generator");
      decided = false;
      break;
    }
    if (!n.is(Kind::k_return_statement) || enclosing_function(module.scopes(), n) != definition) continue;
    if (++count > kMostReturns) {
      out = Values::unknown("too many returns");
      break;
    }
    // Conditions of this call: those inside the function, with its arguments.
    Truth runs = Truth::kYes;
    for (const Guard& g : guards_of(n)) {
      if (g.kind == GuardKind::kFunctionBody) break;
      if (g.kind == GuardKind::kHandler) {
        runs = Truth::kUnknown;
        continue;
      }
      if (g.kind != GuardKind::kCondition) continue;
      Truth t = condition(module, g.node, &frame);
      if (g.negated) t = !t;
      if (t == Truth::kNo) runs = Truth::kNo;
      if (t == Truth::kUnknown && runs == Truth::kYes) runs = Truth::kUnknown;
      if (runs == Truth::kNo) break;
    }
    if (runs == Truth::kNo) continue;
    Node value = n.first_child();
    if (value) out.merge(infer(module, value, &frame));
    else out.add(Value());
    // A return that certainly runs hides what follows.
    if (runs == Truth::kYes && n.parent() == body) {
      falls_through = false;
      break;
    }
  }
  if (falls_through && decided) out.add(Value());
  active_calls_.erase(key);
  return out;
}

Values Semantics::super_value(const Module& module, Node call, const Frame* frame) {
  Node owner = enclosing_class(module.scopes(), call);
  Node function = enclosing_function(module.scopes(), call);
  if (!owner) return Values::unknown("super() outside a class");
  Value v;
  v.kind = ValueKind::kSuper;
  v.self = {&module, owner.id()};
  Node arguments = call.child(Field::k_arguments);
  if (Node first = arguments.first_child()) {
    Values classes = infer(module, first, frame);
    const Value* c = classes.single();
    if (!c || c->kind != ValueKind::kClass) return Values::unknown("super() of a class that is not known");
    v.self = c->class_ref();
  }
  v.receiver = frame && frame->self ? frame->self : ClassRef{&module, owner.id()};
  bool on_class = has_decorator(function, "classmethod") || function.child(Field::k_name).text() == "__new__";
  v.bound = on_class ? Bound::kClass : Bound::kInstance;
  return Values::of(v);
}

Values Semantics::builtin_call(std::string_view name, const Module& module, Node call, const Frame* frame) {
  Node arguments = call.child(Field::k_arguments);
  Node first = arguments.child_at(0);
  std::string_view last = last_part(name);
  if (name == "builtins.getattr" && first) {
    Values names = infer(module, arguments.child_at(1), frame);
    Values objects = infer(module, first, frame), out;
    const Value* n = names.single();
    if (!n || n->kind != ValueKind::kString || objects.open) return Values::unknown("getattr");
    for (const Value& o : objects.list) out.merge(attribute(o, n->text));
    if (arguments.child_at(2)) out.merge(infer(module, arguments.child_at(2), frame));
    return out;
  }
  if (name == "builtins.hasattr") {
    Truth t = has_attribute(module, first, arguments.child_at(1), frame);
    return t == Truth::kUnknown ? Values::unknown("hasattr") : Values::of(bool_value(t == Truth::kYes));
  }
  if (name == "builtins.bool") {
    Truth t = condition(module, first, frame);
    return t == Truth::kUnknown ? Values::unknown("bool") : Values::of(bool_value(t == Truth::kYes));
  }
  if (name == "builtins.type" && arguments.child_count() == 1) {
    Values objects = infer(module, first, frame), out;
    if (objects.open) return Values::unknown("type()");
    for (const Value& o : objects.list) {
      if (o.kind != ValueKind::kInstance || o.declared) return Values::unknown("type()");
      out.add(class_value(o.class_ref()));
    }
    return out;
  }
  if (name == "importlib.import_module" || name == "builtins.__import__") {
    Values names = infer(module, first, frame);
    const Value* n = names.single();
    if (n && n->kind == ValueKind::kString) return resolve_dotted(n->text);
    return Values::unknown("computed import");
  }
  if ((name == "packaging.version.Version" || name == "packaging.version.parse" || last == "parse_version") && first) {
    Values texts = infer(module, first, frame);
    const Value* t = texts.single();
    if (!t || t->kind != ValueKind::kString) return Values::unknown("version");
    Value v = *t;
    v.kind = ValueKind::kVersion;
    return Values::of(v);
  }
  if (name == "importlib.metadata.version" && first) {
    Values texts = infer(module, first, frame);
    const Value* t = texts.single();
    const SourceTree* target = project_.tree("target");
    if (t && t->kind == ValueKind::kString && t->text == "vllm" && target && !target->version.empty()) {
      return Values::of(string_constant(project_.intern(target->version)));
    }
    return Values::unknown("version of a distribution");
  }
  if (name == "inspect.signature" && first) {
    Values functions = infer(module, first, frame);
    const Value* f = functions.single();
    if (!f || (f->kind != ValueKind::kFunction && f->kind != ValueKind::kClass)) return Values::unknown("signature");
    Value v = *f;
    v.kind = ValueKind::kSignature;
    return Values::of(v);
  }
  if (name == "builtins.list" || name == "builtins.dict" || name == "builtins.tuple" || name == "builtins.set" ||
      name == "builtins.str" || name == "builtins.int" || name == "builtins.float") {
    Value v;
    v.kind = ValueKind::kExternalInstance;
    v.text = name;
    return Values::of(v);
  }
  return Values::unknown("call of something outside the project");
}

Callable Semantics::callable(const Value& value) {
  Callable out;
  switch (value.kind) {
    case ValueKind::kFunction: return function_callable(value);
    case ValueKind::kClass: return constructor(value.class_ref());
    case ValueKind::kInstance: {
      if (!value.text.empty()) break;
      const ClassInfo& info = class_info(value.class_ref());
      std::string_view name = info.derives_from("torch.nn.Module") ? "forward" : "__call__";
      Member own = class_member(value.class_ref(), "__call__");
      if (own.owner) name = "__call__";
      Values methods = attribute(value, name);
      const Value* m = methods.single();
      if (m && m->kind == ValueKind::kFunction && !value.declared) return function_callable(*m);
      out.reason = "call of an object";
      return out;
    }
    default: break;
  }
  out.reason = "not a function or class of the project";
  return out;
}

Callable Semantics::function_callable(const Value& value) {
  Callable out;
  Node definition = value.definition();
  out.name = qualified_name(*value.module, definition);
  out.module = value.module;
  out.definition = definition;
  bool jit = false;
  for (Node d : decorators_of(definition)) {
    std::string last(last_part(decorator_name(d)));
    if (last == "jit" || last == "autotune" || last == "heuristics") jit = true;
    if (last == "overload") {
      out.reason = "overload stub";
      return out;
    }
    if (last == "setter" || last == "deleter" || last == "property" || last == "singledispatch" || last == "dispatch") {
      out.reason = "not called directly";
      return out;
    }
  }
  if (jit) {
    out.reason = "device function";
    if (!value.kernel) return out;
  }
  out.signature = signature_of(definition);
  if (out.signature.incomplete) {
    out.reason = "syntax error in its parameters";
    return out;
  }
  if (value.bound != Bound::kNo) {
    if (out.signature.positional_count() == 0 && !out.signature.accepts_var_positional()) {
      out.reason = "method without a first parameter";
      return out;
    }
    out.signature = out.signature.without_first();
  }
  out.known = true;
  out.reason = "";
  return out;
}

Callable Semantics::constructor(ClassRef ref) {
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
  Values inits = attribute(instance_value(ref), "__init__");
  const Value* f = inits.single();
  if (!f || f->kind != ValueKind::kFunction) {
    out.reason = "its __init__ is not followed";
    return out;
  }
  Callable c = function_callable(*f);
  c.name = info.name;
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
