// argument-type-mismatch: a list, dictionary or string where the callee is annotated to take a tensor or a number and uses
// it as one.
#include <algorithm>

#include "rules/rules.h"

namespace assay {
namespace {

enum class Shape : uint8_t { kUnknown, kTensor, kNumber, kList, kDict, kText };

Shape shape_of_external(std::string_view name) {
  if (name == "torch.Tensor" || name == "torch.nn.Parameter") return Shape::kTensor;
  if (name == "builtins.int" || name == "builtins.float") return Shape::kNumber;
  if (name == "builtins.list") return Shape::kList;
  if (name == "builtins.dict") return Shape::kDict;
  if (name == "builtins.str") return Shape::kText;
  return Shape::kUnknown;
}

Shape shape_of_value(const Value& v) {
  switch (v.kind) {
    case ValueKind::kExternalInstance: return shape_of_external(v.text);
    case ValueKind::kString: return Shape::kText;
    case ValueKind::kLiteral:
      return v.definition().is(Kind::k_list) ? Shape::kList : v.definition().is(Kind::k_dictionary) ? Shape::kDict : Shape::kUnknown;
    default: return Shape::kUnknown;
  }
}

// All alternatives agree; None beside them is no answer.
Shape shape_of(const Values& values) {
  if (!values.known()) return Shape::kUnknown;
  Shape out = shape_of_value(values.list.front());
  for (const Value& v : values.list) {
    if (shape_of_value(v) != out) return Shape::kUnknown;
  }
  return out;
}

const char* word(Shape s) {
  switch (s) {
    case Shape::kTensor: return "a tensor";
    case Shape::kNumber: return "a number";
    case Shape::kList: return "a list";
    case Shape::kDict: return "a dictionary";
    case Shape::kText: return "a string";
    default: return "something else";
  }
}

std::string_view class_of(Shape s) { return s == Shape::kList ? "builtins.list" : s == Shape::kDict ? "builtins.dict" : "builtins.str"; }

bool never_fits(Shape given, Shape wanted) {
  bool container = given == Shape::kList || given == Shape::kDict || given == Shape::kText;
  return container && (wanted == Shape::kTensor || wanted == Shape::kNumber);
}

// The callee reads an attribute of the parameter that the given type does not have, before binding the name anew; null if
// it doesn't.
Node use_that_fails(RuleContext& ctx, const Callable& callee, std::string_view parameter, Shape given) {
  auto members = ctx.sem.externals().class_members.find(class_of(given));
  if (members == ctx.sem.externals().class_members.end()) return {};
  for (Node n : callee.definition.child(Field::k_body).descendants()) {
    if (n.is(Kind::k_identifier) && n.text() == parameter && n.field() == Field::k_left) return {};
    if (n.is(Kind::k_call) && n.child(Field::k_function).text() == "isinstance" && n.text().find(parameter) != std::string_view::npos) return {};
    if (!n.is(Kind::k_attribute) || n.child(Field::k_object).text() != parameter) continue;
    if (!members->second.count(n.child(Field::k_attribute).text())) return n;
  }
  return {};
}

// The parameter goes to a function of torch as it is.
bool handed_to_torch(const Callable& callee, std::string_view parameter) {
  bool out = false;
  for (Node n : callee.definition.child(Field::k_body).descendants()) {
    if (n.is(Kind::k_identifier) && n.text() == parameter && n.field() == Field::k_left) return false;
    if (!n.is(Kind::k_call)) continue;
    Node function = n.child(Field::k_function);
    if (function.text() == "isinstance" && n.text().find(parameter) != std::string_view::npos) return false;
    if (function.text().substr(0, 10) != "torch.ops.") continue;
    for (Node a : n.child(Field::k_arguments).children()) out |= a.text() == parameter;
  }
  return out;
}

void report_argument(RuleContext& ctx, const Module& module, const Callable& callee, const Parameter& p, Node value, Shape given, Shape wanted) {
  Node use = use_that_fails(ctx, callee, p.name, given);
  if (!use && (wanted != Shape::kTensor || !handed_to_torch(callee, p.name))) return;
  std::string symbol = callee.name + "." + std::string(p.name);
  Finding* f = report(ctx, "argument-type-mismatch", module, value, symbol,
                      callee.name + " is given " + word(given) + " for '" + std::string(p.name) + "', which is annotated as " + word(wanted));
  if (!f) return;
  if (!use && f->level == Level::kError) {
    f->level = Level::kWarning;
    f->limits.push_back("the callee hands the argument on to an operator of torch");
  }
  f->expected = std::string(p.node.text());
  f->observed = std::string(value.text().substr(0, 120)) + " is " + word(given);
  relate(*f, *callee.module, use ? use : callee.definition, symbol, use ? "used here as " + std::string(word(wanted)) : "annotated here");
}

void check_argument_types(RuleContext& ctx, const Module& module, Node call) {
  Node function = call.child(Field::k_function);
  if (!function.is_any(Kind::k_identifier, Kind::k_attribute)) return;
  Values callees = ctx.sem.infer(module, function);
  const Value* v = callees.single();
  if (!v || v->kind != ValueKind::kFunction || v->declared) return;
  Callable callee = ctx.sem.callable(*v);
  if (!callee.known || !callee.definition.is(Kind::k_function_definition) || v->kernel) return;
  CallShape shape = call_shape(call);
  if (shape.unreadable) return;
  BindResult bound = bind(callee.signature, shape);
  if (bound.certainly_fails()) return;
  for (size_t i = 0; i < callee.signature.parameters.size() && i < bound.arguments.size(); ++i) {
    const Parameter& p = callee.signature.parameters[i];
    const BoundArgument& a = bound.arguments[i];
    if (!a.value || !p.annotation || p.is_variadic() || (a.given != Given::kPositional && a.given != Given::kKeyword)) continue;
    Shape wanted = shape_of(ctx.sem.infer_annotation(*callee.module, p.annotation));
    if (wanted != Shape::kTensor && wanted != Shape::kNumber) continue;
    Shape given = shape_of(ctx.sem.infer(module, a.value));
    if (never_fits(given, wanted)) report_argument(ctx, module, callee, p, a.value, given, wanted);
  }
}

}  // namespace

void check_types(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_call)) check_argument_types(ctx, module, n);
  }
}

}  // namespace assay
