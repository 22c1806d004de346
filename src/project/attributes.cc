// `value.name` for every kind of value.
#include "project/semantics.h"

namespace assay {

Values Semantics::attribute(const Value& value, std::string_view name) {
  if (depth_ > 60) return Values::unknown("too deep to follow");
  ++depth_;
  Values out;
  switch (value.kind) {
    case ValueKind::kModule: out = module_attribute(*value.module, name); break;
    case ValueKind::kClass: out = class_attribute(value, name); break;
    case ValueKind::kInstance: out = instance_attribute(value, name); break;
    case ValueKind::kSuper: out = super_attribute(value, name); break;
    case ValueKind::kExternal: out = Values::of(external_value(project_.intern(std::string(value.text) + "." + std::string(name)))); break;
    case ValueKind::kFunction:
      if (name == "__name__") out = Values::of(string_constant(value.definition().child(Field::k_name).text()));
      else out = Values::unknown("attribute of a function");
      break;
    case ValueKind::kSignature: out = name == "parameters" ? Values::of(value) : Values::unknown("part of a signature"); break;
    default: out = Values::unknown("attribute of a value that is not followed");
  }
  --depth_;
  return out;
}

Values Semantics::module_attribute(const Module& module, std::string_view name) {
  auto special = environment_.instances.find(module.name + "." + std::string(name));
  if (special != environment_.instances.end()) return special->second;
  if (name == "__name__") return Values::of(string_constant(project_.intern(module.name)));
  if (name == "__version__" && module.tree && !module.tree->version.empty() && module.name.find('.') == std::string::npos) {
    return Values::of(string_constant(project_.intern(module.tree->version)));
  }
  Member member = module_member(module, name);
  if (member.presence == Presence::kNo) return Values::unknown("missing attribute");
  if (member.presence == Presence::kUnknown) return Values::unknown(member.reason);
  return values_of(member);
}

// What a class-level binding gives when it is looked up on the class or on an instance.
Values Semantics::member_as_attribute(const Member& member, std::string_view name, ClassRef on, bool on_instance) {
  if (member.presence != Presence::kYes) return Values::unknown(member.presence == Presence::kNo ? "missing attribute" : member.reason);
  if (!member.external_owner.empty()) {
    return Values::of(external_value(project_.intern(std::string(member.external_owner) + "." + std::string(name))));
  }
  Values raw;
  const Module& module = *member.module;
  for (auto it = member.bindings.rbegin(); it != member.bindings.rend(); ++it) {
    const Binding& b = **it;
    if (b.kind == BindingKind::kAnnotation) {
      if (member.writes.empty()) raw.merge(infer_annotation(module, module.at(b.statement).child(Field::k_type)));
      continue;
    }
    Node node = module.at(b.node);
    if (b.kind == BindingKind::kFunction) {
      // A property: the setter of the same name stands behind the getter.
      bool accessor = false;
      for (Node d : decorators_of(node)) {
        std::string last = decorator_name(d);
        last = last.substr(last.rfind('.') == std::string::npos ? 0 : last.rfind('.') + 1);
        accessor |= last == "setter" || last == "deleter";
      }
      if (accessor) continue;
    }
    // `x: T = default` in a class body: objects hold what their constructor was given, no bound method.
    Node statement = module.at(b.statement);
    if (b.kind == BindingKind::kAssign && statement.child(Field::k_type) && on_instance) {
      raw.merge(infer_annotation(module, statement.child(Field::k_type)));
      if (raw.list.empty()) raw.merge(Values::unknown("attribute"));
      break;
    }
    raw.merge(infer_binding(module, b));
    Node block = enclosing_statement(module.at(b.statement)).parent();
    if (block.is(Kind::k_decorated_definition)) block = block.parent();
    if (block.parent().is(Kind::k_class_definition)) break;
  }
  if (member.patches) {
    for (const Patch& p : *member.patches) raw.merge(p.value ? infer(*p.module, p.value) : Values::unknown("patched"));
  }
  for (const AttributeWrite& w : member.writes) {
    if (w.annotation) {
      Values declared = infer_annotation(module, w.annotation);
      Values value = w.value ? infer(module, w.value) : Values::unknown("no value");
      raw.merge(value.known() && value.list[0].kind != ValueKind::kNone ? value : declared.list.empty() ? Values::unknown("attribute") : declared);
    } else {
      raw.merge(w.value ? infer(module, w.value) : Values::unknown("unpacked"));
    }
  }
  Values out;
  if (raw.open) out = Values::unknown(raw.reason);
  for (Value v : raw.list) {
    if (v.kind != ValueKind::kFunction || v.bound != Bound::kNo || !member.writes.empty()) {
      out.add(v);
      continue;
    }
    Node function = v.definition();
    if (has_decorator(function, "property") || has_decorator(function, "cached_property") || has_decorator(function, "lazy_property")) {
      if (!on_instance) {
        out.merge(Values::unknown("property of a class"));
        continue;
      }
      Node type = function.child(Field::k_return_type);
      if (type) {
        out.merge(infer_annotation(*v.module, type));
      } else {
        Frame frame;
        frame.self = on;
        out.merge(returned(v, frame));
      }
      continue;
    }
    v.self = on;
    if (is_class_method(function)) {
      v.bound = Bound::kClass;
    } else if (!has_decorator(function, "staticmethod") && on_instance) {
      v.bound = Bound::kInstance;
    }
    out.add(v);
  }
  return out;
}

Values Semantics::class_attribute(const Value& cls, std::string_view name) {
  if (name == "__name__" || name == "__qualname__") return Values::of(string_constant(cls.definition().child(Field::k_name).text()));
  if (name == "__class__" || name == "__mro__" || name == "__dict__") return Values::unknown("attribute of a class object");
  Member member = class_member(cls.class_ref(), name);
  if (member.presence == Presence::kYes && is_enum(cls.class_ref()) && member.owner && !member.bindings.empty() &&
      member.bindings.back()->kind == BindingKind::kAssign && name[0] != '_') {
    Value v = instance_value(cls.class_ref());
    v.text = name;
    // An alias is the member that it repeats.
    Node value = member.module->at(member.bindings.back()->statement).child(Field::k_right);
    if (value.is(Kind::k_identifier)) v.text = value.text();
    return Values::of(v);
  }
  return member_as_attribute(member, name, cls.class_ref(), false);
}

Values Semantics::instance_attribute(const Value& instance, std::string_view name) {
  ClassRef ref = instance.class_ref();
  if (name == "__class__") return Values::of(class_value(ref));
  if (!instance.text.empty() && (name == "name" || name == "_name_")) return Values::of(string_constant(instance.text));
  if (!instance.text.empty() && (name == "value" || name == "_value_")) {
    Member member = class_member(ref, instance.text);
    if (member.presence == Presence::kYes && !member.bindings.empty()) {
      return infer(*member.module, member.module->at(member.bindings.back()->statement).child(Field::k_right));
    }
  }
  if (is_enum(ref)) {
    Member member = class_member(ref, name);
    if (member.presence == Presence::kYes && !member.bindings.empty() && member.bindings.back()->kind == BindingKind::kAssign) {
      return class_attribute(class_value(ref), name);
    }
  }
  return member_as_attribute(instance_member(ref, name), name, ref, true);
}

Values Semantics::super_attribute(const Value& super, std::string_view name) {
  const ClassInfo& info = class_info(super.receiver);
  if (!info.derives_from(super.self)) return Values::unknown("super() of a class that is not a base");
  return member_as_attribute(class_member(super.receiver, name, super.self), name, super.receiver, super.bound == Bound::kInstance);
}

}  // namespace assay
