// What calls return, and what they bind to.
#include <algorithm>

#include "project/constructors.h"
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
  bool on_class = is_class_method(function) || function.child(Field::k_name).text() == "__new__";
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
  // `__x` in a class is `_Class__x` for everyone.
  if (Node owner = enclosing_class(value.module->scopes(), definition)) {
    std::string_view name = owner.child(Field::k_name).text();
    name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
    for (Parameter& p : out.signature.parameters) {
      if (!name.empty() && p.name.starts_with("__") && !p.name.ends_with("__")) p.name = project_.intern("_" + std::string(name) + std::string(p.name));
    }
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
  // `super().__init__(…)` calls what a decorator of the base put there.
  if (value.bound == Bound::kInstance && definition.child(Field::k_name).text() == "__init__") {
    if (Node owner = enclosing_class(value.module->scopes(), definition)) {
      Value replaced = replaced_init(class_info({value.module, owner.id()}));
      if (replaced.kind == ValueKind::kFunction) wrap(out, replaced.definition());
    }
  }
  return out;
}

}  // namespace assay
