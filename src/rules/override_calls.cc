#include "rules/override_calls.h"

#include <algorithm>
#include <set>

namespace assay {
namespace {

constexpr size_t kMostDefinitions = 80;  // of one name, looked into for one call whose receiver is not known
constexpr size_t kMostReported = 3;

bool is_constant(Node value) {
  return value.is_any(Kind::k_true, Kind::k_false, Kind::k_none, Kind::k_integer, Kind::k_float, Kind::k_string);
}

MethodDef from_member(RuleContext& ctx, ClassRef cls, std::string_view name, const Member& member) {
  // Patches aside: callers were written for what stands in the text.
  if (member.presence != Presence::kYes || !member.owner || member.bindings.size() != 1) return {};
  const Binding& b = *member.bindings[0];
  MethodDef out;
  out.owner = member.owner;
  out.module = member.module;
  out.definition = member.module->at(b.node);
  if (b.kind == BindingKind::kAssign) {
    out.kind = MethodKind::kProperty;
    Node statement = member.module->at(b.statement);
    return is_constant(statement.child(Field::k_right)) ? out : MethodDef();
  }
  if (b.kind != BindingKind::kFunction) return {};
  out.function = out.definition;
  for (Node d : decorators_of(out.function)) {
    std::string text = decorator_name(d);
    std::string last = text.substr(text.rfind('.') == std::string::npos ? 0 : text.rfind('.') + 1);
    if (last == "overload" || last == "setter" || last == "deleter") return {};
  }
  if (has_decorator(out.function, "property") || has_decorator(out.function, "cached_property")) {
    out.kind = MethodKind::kProperty;
    return out;
  }
  if (has_decorator(out.function, "classmethod") || name == "__init_subclass__" || name == "__class_getitem__") {
    out.kind = MethodKind::kClass;
  } else if (has_decorator(out.function, "staticmethod") || name == "__new__") {
    out.kind = MethodKind::kStatic;
  }
  // A decorator that is not known may give the function another signature.
  Values seen = ctx.sem.infer(*out.module, out.function);
  const Value* v = seen.single();
  if (!v || v->kind != ValueKind::kFunction || v->node != out.function.id()) return {};
  (void)cls;
  out.signature = signature_of(out.function);
  return out.signature.incomplete ? MethodDef() : out;
}

// `(self, *args, **kwargs)` leaves what is passed to each class.
bool explicitly_takes(const Signature& signature, const CallShape& shape) {
  if (signature.accepts_var_positional() && signature.accepts_var_keyword()) return false;
  for (std::string_view k : shape.keywords) {
    const Parameter* p = signature.find(k);
    if (!p || !p->takes_keyword()) return false;
  }
  return shape.positional <= signature.positional_count() && bind(signature, shape).outcome == BindOutcome::kOk;
}

// `super()`, `super(A, self)`.
bool is_super(Node receiver) { return receiver.is(Kind::k_call) && receiver.child(Field::k_function).text() == "super"; }

// The highest class of the MRO whose own definition takes the call by its named parameters.
ClassRef family_root(RuleContext& ctx, const Override& o, const CallShape& shape, bool through_class) {
  ClassRef out;
  for (const MroEntry& e : ctx.sem.class_info(o.cls).mro) {
    if (!e.ref || e.ref == o.cls) continue;
    MethodDef def = own_method(ctx, e.ref, o.name);
    if (def.function && def.kind != MethodKind::kProperty && explicitly_takes(def.bound(through_class), shape)) out = e.ref;
  }
  return out;
}

// Whether a class outside the family, or a plain function, could take the call as well.
bool others_take(RuleContext& ctx, const Override& o, ClassRef root, const CallShape& shape) {
  auto definitions = ctx.definitions.calls().definitions(o.name);
  if (definitions.size() > kMostDefinitions) return true;
  for (const IndexedDefinition& d : definitions) {
    Node function = definition_node(ctx.project(), d);
    if (!function) return true;
    const Module& module = *d.module;
    Node owner = enclosing_class(module.scopes(), function);
    bool method = owner && !enclosing_function(module.scopes(), function);
    if (method) {
      const ClassInfo& info = ctx.sem.class_info({&module, owner.id()});
      if (info.derives_from(root) || info.ref == root) continue;
    }
    Signature signature = signature_of(function);
    if (signature.incomplete) return true;
    if (method && !has_decorator(function, "staticmethod")) signature = signature.without_first();
    if (!bind(signature, shape).certainly_fails()) return true;
  }
  return false;
}

Reaches through_self(RuleContext& ctx, const Override& o, const Module& module, Node call) {
  Node caller = enclosing_function(module.scopes(), call);
  while (caller && enclosing_function(module.scopes(), caller)) caller = enclosing_function(module.scopes(), caller);
  Node owner = enclosing_class(module.scopes(), call);
  if (!caller || !owner) return Reaches::kNo;
  ClassRef at{&module, owner.id()};
  if (!ctx.sem.class_info(o.cls).derives_from(at)) return Reaches::kNo;
  std::string_view name = caller.child(Field::k_name).text();
  if (name == o.name) return Reaches::kNo;  // its own definition calls itself
  // The class must use the caller as it is inherited, not its own version of it.
  Member used = ctx.sem.class_member(o.cls, name);
  return used.owner == at ? Reaches::kYes : Reaches::kNo;
}

}  // namespace

Signature MethodDef::bound(bool through_class) const {
  if (kind == MethodKind::kStatic || (kind == MethodKind::kInstance && through_class)) return signature;
  return signature.without_first();
}

MethodDef method_of(RuleContext& ctx, ClassRef cls, std::string_view name, ClassRef after) {
  return from_member(ctx, cls, name, ctx.sem.class_member(cls, name, after));
}

MethodDef base_method(RuleContext& ctx, ClassRef cls, std::string_view name) {
  MethodDef nearest, none;
  ClassRef after = cls;
  for (size_t steps = ctx.sem.class_info(cls).mro.size(); steps > 0; --steps) {
    Member member = ctx.sem.class_member(cls, name, after);
    if (member.presence != Presence::kYes || !member.owner) break;
    MethodDef def = method_of(ctx, cls, name, after);
    if (!def) return none;
    if (def.module->tree == &ctx.target) return def;
    if (!nearest) nearest = def;
    after = member.owner;
  }
  return nearest;
}

MethodDef own_method(RuleContext& ctx, ClassRef cls, std::string_view name) {
  Member member = ctx.sem.class_member(cls, name);
  return member.owner == cls ? from_member(ctx, cls, name, member) : MethodDef();
}

Reaches reaches(RuleContext& ctx, const Override& o, const Module& module, Node call, const CallShape& shape,
                bool& through_class) {
  through_class = false;
  Node callee = call.child(Field::k_function);
  if (!callee.is(Kind::k_attribute)) return Reaches::kNo;
  Node receiver = callee.child(Field::k_object);
  if (is_super(receiver) || error_caught(call, "TypeError", Handlers::kAny)) return Reaches::kNo;
  if (ctx.sem.live(module, call) == Truth::kNo || ctx.sem.version_guarded(module, call)) return Reaches::kNo;
  Node function = enclosing_function(module.scopes(), call);
  if (receiver.is(Kind::k_identifier) && function && receiver.text() == first_parameter(function) &&
      enclosing_class(module.scopes(), call)) {
    through_class = has_decorator(function, "classmethod");
    return through_self(ctx, o, module, call);
  }
  Values values = ctx.sem.infer(module, receiver);
  bool known = false;
  for (const Value& v : values.list) {
    if (v.kind == ValueKind::kNone) continue;
    known = true;
    if (v.kind != ValueKind::kInstance && v.kind != ValueKind::kClass) continue;
    const ClassInfo& info = ctx.sem.class_info(v.class_ref());
    bool below = info.derives_from(o.cls);
    bool above = v.declared && ctx.sem.class_info(o.cls).derives_from(v.class_ref());
    if (!below && !above) continue;
    MethodDef found = method_of(ctx, v.class_ref(), o.name);
    bool on_class = v.kind == ValueKind::kClass;
    // An object of the plugin's class: what counts is whether the lookup ends at this override.
    if (below && found.owner == o.cls) {
      through_class = on_class;
      return Reaches::kYes;
    }
    // A declared base that does not have the method (or takes no such call) was narrowed in a way not followed here.
    if (!found || found.kind == MethodKind::kProperty || bind(found.bound(on_class), shape).certainly_fails()) continue;
    // A declared base that takes anything (*args) promises nothing: then a class in between must name what is passed.
    if (!below && !explicitly_takes(found.bound(on_class), shape) && !family_root(ctx, o, shape, on_class)) continue;
    through_class = on_class;
    return Reaches::kYes;
  }
  if (known && !values.open) return Reaches::kNo;
  if (shape.keywords.size() + shape.positional < 2) return Reaches::kNo;
  ClassRef root = family_root(ctx, o, shape, false);
  if (!root || others_take(ctx, o, root, shape)) return Reaches::kNo;
  return Reaches::kPerhaps;
}

std::vector<ReachingCall> failing_calls(RuleContext& ctx, const Override& o) {
  std::vector<ReachingCall> out;
  for (const IndexedCall& c : ctx.definitions.calls().calls(o.name)) {
    if (!c.call.has_receiver || (c.module->tree == &ctx.plugin && !ctx.reach.reached(*c.module))) continue;
    if (out.size() >= kMostReported && out.back().reaches == Reaches::kYes) break;
    // First by the text alone: nearly every call fits the override, or is meant for something else.
    CallShape scanned = shape_of(c.call);
    auto fails = [&](const CallShape& shape, bool on_class) {
      if (o.own.kind == MethodKind::kProperty) return !bind(o.base.bound(on_class), shape).certainly_fails();
      return !bind(o.base.bound(on_class), shape).certainly_fails() && bind(o.own.bound(on_class), shape).certainly_fails();
    };
    // The class of the platform in use is known: a call that is written for its signature counts even where the base takes no such call.
    const bool exact = !o.own.function ? false : ctx.sem.environment().platform_variables.count(last_part(c.call.receiver)) > 0;
    auto own_fails = [&](const CallShape& shape, bool on_class) { return exact && bind(o.own.bound(on_class), shape).certainly_fails(); };
    if (!c.call.ambiguous && !fails(scanned, false) && !fails(scanned, true) && !own_fails(scanned, false)) continue;
    Node call = call_node(ctx.project(), c);
    if (!call) continue;
    ReachingCall r;
    r.module = c.module;
    r.call = call;
    r.shape = call_shape(call);
    if (r.shape.unreadable || (!fails(r.shape, false) && !fails(r.shape, true) && !own_fails(r.shape, false))) continue;
    r.reaches = reaches(ctx, o, *c.module, call, r.shape, r.through_class);
    if (r.reaches == Reaches::kNo || (!fails(r.shape, r.through_class) && (r.reaches != Reaches::kYes || !own_fails(r.shape, r.through_class)))) continue;
    if (o.own.kind != MethodKind::kProperty) r.failure = bind(o.own.bound(r.through_class), r.shape);
    out.push_back(std::move(r));
  }
  std::stable_sort(out.begin(), out.end(), [](const ReachingCall& a, const ReachingCall& b) { return a.reaches > b.reaches; });
  if (out.size() > kMostReported) out.resize(kMostReported);
  return out;
}

std::vector<ReachingCall> reaching_calls(RuleContext& ctx, const Override& o, size_t limit, bool perhaps) {
  std::vector<ReachingCall> out;
  for (const IndexedCall& c : ctx.definitions.calls().calls(o.name)) {
    if (out.size() >= limit) break;
    if (!c.call.has_receiver) continue;
    if (!c.call.ambiguous && bind(o.base.bound(false), shape_of(c.call)).certainly_fails() &&
        bind(o.base.bound(true), shape_of(c.call)).certainly_fails()) {
      continue;
    }
    Node call = call_node(ctx.project(), c);
    if (!call) continue;
    ReachingCall r;
    r.module = c.module;
    r.call = call;
    r.shape = call_shape(call);
    r.reaches = reaches(ctx, o, *c.module, call, r.shape, r.through_class);
    if (r.reaches == Reaches::kYes || (perhaps && r.reaches == Reaches::kPerhaps)) out.push_back(std::move(r));
  }
  return out;
}

std::vector<Override> overrides_of(RuleContext& ctx, const Module& module, Node definition) {
  std::vector<Override> out;
  ClassRef cls{&module, definition.id()};
  const ClassInfo& info = ctx.sem.class_info(cls);
  ScopeId scope = module.scopes().scope_opened_by(definition.id());
  if (info.mro.size() < 2 || scope == kNoScope || ctx.sem.is_enum(cls)) return out;
  std::set<std::string_view> done;
  for (const Binding& b : module.scopes().in_scope(scope)) {
    if ((b.kind != BindingKind::kFunction && b.kind != BindingKind::kAssign) || b.name.substr(0, 2) == "__") continue;
    if (!done.insert(b.name).second) continue;
    Override o{cls, b.name, own_method(ctx, cls, b.name), {}};
    if (!o.own) continue;
    o.base = base_method(ctx, cls, b.name);
    if (o.base) out.push_back(std::move(o));
  }
  return out;
}

}  // namespace assay
