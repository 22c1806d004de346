// What an annotation says about the objects it stands for.
#include "project/semantics.h"

namespace assay {
namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

Values instances_of(const Values& classes) {
  Values out;
  if (classes.open) return Values::unknown(classes.reason);
  for (const Value& v : classes.list) {
    Value instance = v;
    instance.declared = true;
    if (v.kind == ValueKind::kClass) {
      instance.kind = ValueKind::kInstance;
    } else if (v.kind == ValueKind::kExternal) {
      instance.kind = ValueKind::kExternalInstance;
      std::string_view last = last_part(v.text);
      if (last == "Any" || last == "object" || last == "TypeVar" || last == "Callable") return Values::unknown("annotation says nothing");
    } else if (v.kind == ValueKind::kNone) {
      instance.declared = false;
    } else {
      return Values::unknown("annotation not followed");
    }
    out.add(instance);
  }
  return out;
}

}  // namespace

Values Semantics::infer_annotation(const Module& module, Node annotation) {
  Key key{&module, annotation.id()};
  auto [it, fresh] = annotations_.try_emplace(key, Values::unknown("depends on itself"));
  if (!fresh) return it->second;
  if (depth_ > 50) {
    annotations_.erase(key);
    return Values::unknown("too deep to follow");
  }
  ++depth_;
  Values result = annotation_uncached(module, annotation);
  --depth_;
  annotations_[key] = result;
  return result;
}

Values Semantics::annotation_uncached(const Module& module, Node annotation) {
  Node a = strip_parens(annotation);
  switch (a.kind()) {
    case Kind::k_none: return Values::of(Value());
    case Kind::k_identifier:
    case Kind::k_attribute:
    case Kind::k_member_type: return annotation_text(module, a, a.text());
    case Kind::k_string: {
      std::string text;
      return string_value(a, text) ? annotation_text(module, a, project_.intern(text)) : Values::unknown("annotation not followed");
    }
    case Kind::k_union_type:
    case Kind::k_binary_operator: {
      Node left = a.child(Field::k_left), right = a.child(Field::k_right);
      if (a.is(Kind::k_binary_operator) && a.child(Field::k_operator).text() != "|") return Values::unknown("annotation not followed");
      if (!left) left = a.child_at(0), right = a.child_at(1);
      Values out = infer_annotation(module, left);
      out.merge(infer_annotation(module, right));
      return out;
    }
    case Kind::k_generic_type:
    case Kind::k_subscript: return annotation_subscript(module, a);
    default: return Values::unknown("annotation not followed");
  }
}

Values Semantics::annotation_subscript(const Module& module, Node a) {
  Node head = a.first_child();
  std::string name = dotted_text(head);
  std::string_view last = last_part(name);
  // The arguments: children of type_parameter, or the subscript fields.
  std::vector<Node> arguments;
  if (a.is(Kind::k_generic_type)) {
    for (Node t : a.child(Kind::k_type_parameter).children()) arguments.push_back(t);
  } else {
    for (Node c : a.children()) {
      if (c.field() == Field::k_subscript) arguments.push_back(c);
    }
  }
  if (arguments.empty()) return Values::unknown("annotation not followed");
  if (last == "Optional") {
    Values out = infer_annotation(module, arguments[0]);
    out.add(Value());
    return out;
  }
  if (last == "Union") {
    Values out;
    for (Node t : arguments) out.merge(infer_annotation(module, t));
    return out;
  }
  if (last == "Annotated" || last == "Final" || last == "ClassVar" || last == "Required" || last == "NotRequired") {
    return infer_annotation(module, arguments[0]);
  }
  if (last == "type" || last == "Type") {
    Values instances = infer_annotation(module, arguments[0]), out;
    if (instances.open) return Values::unknown(instances.reason);
    for (Value v : instances.list) {
      if (v.kind != ValueKind::kInstance) return Values::unknown("annotation not followed");
      v.kind = ValueKind::kClass;
      out.add(v);
    }
    return out;
  }
  if (last == "Callable" || last == "Literal" || last == "Generator" || last == "Iterator" || last == "ContextManager") {
    return Values::unknown("annotation not followed");
  }
  return annotation_text(module, head, head.text());
}

// A (possibly quoted) annotation: dotted names joined by |.
Values Semantics::annotation_text(const Module& module, Node place, std::string_view text) {
  text = trimmed(text);
  if (text.find('|') != std::string_view::npos) {
    Values out;
    while (true) {
      size_t bar = text.find('|');
      out.merge(annotation_text(module, place, text.substr(0, bar)));
      if (bar == std::string_view::npos) return out;
      text.remove_prefix(bar + 1);
    }
  }
  if (text == "None") return Values::of(Value());
  if (text.empty() || text.find_first_of("[](), \"'") != std::string_view::npos) return Values::unknown("annotation not followed");
  std::string_view first = text.substr(0, text.find('.'));
  if (last_part(text) == "Self") {
    Node owner = enclosing_class(module.scopes(), place);
    if (!owner) return Values::unknown("Self outside a class");
    Value self = instance_value({&module, owner.id()});
    self.declared = true;
    return Values::of(self);
  }
  // Annotations see what stands under TYPE_CHECKING, and names bound later.
  ScopeId holder = module.scopes().resolve(place.id(), first);
  Values current;
  if (holder == kNoScope) {
    Member member = module_member(module, first);
    if (member.presence == Presence::kYes) {
      current = values_of(member);
    } else if (externals_.builtins.count(first)) {
      current = Values::of(external_value(project_.intern("builtins." + std::string(first))));
    } else {
      return Values::unknown("undefined name in an annotation");
    }
  } else {
    auto bindings = reaching(module, module.scopes().in_scope(holder, first), place, false, true);
    for (const Binding* b : bindings) {
      if (b->kind == BindingKind::kTypeParameter) return Values::unknown("type parameter");
      current.merge(infer_binding(module, *b));
    }
    // An alternative bound to None beside a real class (`else: X = None`) says nothing about types.
    if (current.list.size() > 1) std::erase_if(current.list, [](const Value& v) { return v.kind == ValueKind::kNone; });
    if (bindings.empty()) return Values::unknown("no assignment reaches it");
  }
  text.remove_prefix(first.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    std::string_view part = text.substr(0, text.find('.'));
    text.remove_prefix(part.size());
    Values next;
    if (current.open) next = Values::unknown(current.reason);
    for (const Value& v : current.list) next.merge(attribute(v, part));
    current = std::move(next);
  }
  return instances_of(current);
}

}  // namespace assay
