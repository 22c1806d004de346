// What a field of a dataclass can hold, from the calls that make its objects.
#include <algorithm>

#include "project/definition_index.h"
#include "project/semantics.h"

namespace assay {
namespace {
constexpr size_t kMostCalls = 20;  // that make objects of one class; more stays unknown
}

// Some class derives from it, or may do so: a base that could not be resolved has its name.
bool Semantics::has_subclass(const ClassInfo& info) {
  const std::string_view name = info.facts->definition.child(Field::k_name).text();
  auto named = [&](Node base) {
    std::string dotted = dotted_text(base.is(Kind::k_subscript) ? base.child(Field::k_value) : base);
    return dotted == name || dotted.ends_with("." + std::string(name));
  };
  for (const ClassPlace& place : indexes_->members().subclasses(name)) {
    const Module& module = project_.load(*place.module);
    for (Node n : module.root().descendants()) {
      if (!n.is(Kind::k_class_definition) || n.line() != place.line) continue;
      const ClassInfo& other = class_info({&module, n.id()});
      if (other.ref == info.ref) continue;
      if (other.derives_from(info.ref) || (!other.complete && std::ranges::any_of(other.facts->bases, named))) return true;
    }
  }
  return false;
}

// Known only where every call that could make such an object is seen, and nothing stores the field afterwards.
Values Semantics::constructed_field(const Module& module, Node attribute) {
  const Values unknown = Values::unknown("field of an object");
  Values objects = indexes_ ? infer(module, attribute.child(Field::k_object)) : unknown;
  const Value* object = objects.single();
  if (!object || object->kind != ValueKind::kInstance || !object->text.empty()) return unknown;
  std::string_view name = attribute.child(Field::k_attribute).text();
  auto [it, fresh] = fields_.try_emplace({object->class_ref(), std::string(name)}, unknown);
  if (!fresh) return it->second;
  const ClassInfo& info = class_info(object->class_ref());
  Callable constructor;
  if (!synthesised_constructor(info, constructor) || !constructor.known) return unknown;
  const auto& parameters = constructor.signature.parameters;
  size_t at = 0;
  while (at < parameters.size() && parameters[at].name != name) ++at;
  std::string_view class_name = info.facts->definition.child(Field::k_name).text();
  if (at == parameters.size() || instance_member(info.ref, name).writes.size() || (indexes_->members().flags(name) & MemberIndex::kStoredOnOther)) return unknown;
  if (has_subclass(info)) return unknown;
  auto calls = indexes_->calls().calls(class_name);
  if (calls.empty() || calls.size() > kMostCalls) return unknown;
  Values out;
  for (const IndexedCall& indexed : calls) {
    Node call = call_node(project_, indexed);
    if (!call) return unknown;
    Values callees = infer(*indexed.module, call.child(Field::k_function));
    if (!callees.known()) return unknown;
    bool ours = false;
    for (const Value& v : callees.list) ours |= v.kind == ValueKind::kClass && v.class_ref() == info.ref;
    if (!ours || live(*indexed.module, call) == Truth::kNo) continue;
    BindResult bound = bind(constructor.signature, call_shape(call));
    if (bound.outcome != BindOutcome::kOk) return unknown;
    const BoundArgument& argument = bound.arguments[at];
    if (argument.given == Given::kNo && parameters[at].default_value) out.merge(infer(*constructor.module, parameters[at].default_value));
    else if (argument.value) out.merge(infer(*indexed.module, argument.value));
    else return unknown;
  }
  if (!out.known()) return unknown;
  fields_[{info.ref, std::string(name)}] = out;
  return out;
}

}  // namespace assay
