#include "vllm/helper_values.h"

namespace assay {

namespace {

constexpr size_t kMostItems = 64;  // of a list that is looped over

Abstract none() {
  Abstract out;
  out.kind = Abstract::Kind::kNone;
  return out;
}

}  // namespace

Abstract abstract_text(std::string text) {
  Abstract out;
  out.kind = Abstract::Kind::kText;
  out.text = std::move(text);
  return out;
}

const Abstract* AbstractNames::find(std::string_view name) const {
  for (const AbstractNames* e = this; e; e = e->outer) {
    if (auto it = e->names.find(name); it != e->names.end()) return &it->second;
  }
  return nullptr;
}

AbstractNames* AbstractValues::new_env(Env* outer) {
  envs_.emplace_back();
  envs_.back().outer = outer;
  return &envs_.back();
}

Abstract AbstractValues::code(const Module& module, Node definition, Env* closure) {
  Abstract out;
  out.kind = Abstract::Kind::kCode;
  out.module = &module;
  out.node = definition;
  out.closure = closure;
  return out;
}

Abstract AbstractValues::of_place(Place place, const Module& module, Node node) {
  Abstract out;
  if (place) out.kind = Abstract::Kind::kPlace;
  out.place = std::move(place);
  out.module = &module;
  out.node = node;
  return out;
}

Abstract AbstractValues::outside(const Module& module, Node node) {
  Values values = semantics_.infer(module, node);
  const Value* v = values.single();
  Abstract out;
  out.module = &module;
  out.node = node;
  if (!v) return of_place(place_of(semantics_, module, node), module, node);
  switch (v->kind) {
    case ValueKind::kString:
      out.kind = Abstract::Kind::kText;
      out.text = v->text;
      break;
    case ValueKind::kNone:
      out.kind = Abstract::Kind::kNone;
      break;
    case ValueKind::kBool:
      out.kind = Abstract::Kind::kBool;
      out.truth = v->number != 0;
      break;
    case ValueKind::kFunction:
      out = code(*v->module, v->definition(), nullptr);
      break;
    case ValueKind::kLiteral:
      return literal(*v->module, v->definition(), new_env(nullptr));
    case ValueKind::kExternal:
      out.kind = Abstract::Kind::kPlace;
      out.place.kind = PlaceKind::kObject;
      out.place.dotted = v->text;
      break;
    default:
      return of_place(place_of(semantics_, module, node), module, node);
  }
  return out;
}

Abstract AbstractValues::literal(const Module& module, Node node, Env* env) {
  Abstract out;
  out.module = &module;
  out.node = node;
  if (!node.is_any(Kind::k_list, Kind::k_tuple, Kind::k_set, Kind::k_expression_list)) return out;
  out.kind = Abstract::Kind::kList;
  for (Node item : node.children()) {
    if (out.items.size() < kMostItems) out.items.push_back(eval(module, item, env));
  }
  for (const Abstract& item : out.items) out.from_call |= item.from_call;
  return out;
}

Abstract AbstractValues::eval(const Module& module, Node expression, Env* env) {
  if (depth_ >= kDeepest) return {};
  ++depth_;
  Abstract out = eval_here(module, expression, env);
  --depth_;
  return out;
}

Abstract AbstractValues::eval_here(const Module& module, Node expression, Env* env) {
  Node e = strip_parens(expression);
  if (!e || !step()) return {};
  switch (e.kind()) {
    case Kind::k_identifier:
      return name(module, e, env);
    case Kind::k_call:
      return call(module, e, env);
    case Kind::k_attribute:
      return attribute(module, e, env);
    case Kind::k_string:
    case Kind::k_concatenated_string:
      return string(module, e, env);
    case Kind::k_none:
      return none();
    case Kind::k_list:
    case Kind::k_tuple:
    case Kind::k_set:
    case Kind::k_expression_list:
      return literal(module, e, env);
    case Kind::k_lambda:
      return code(module, e, env);
    case Kind::k_boolean_operator:
      return boolean(module, e, env);
    case Kind::k_binary_operator:
      return sum(module, e, env);
    case Kind::k_conditional_expression: {
      Truth t = truth(module, e.child_at(1), env);
      return t == Truth::kNo ? eval(module, e.child_at(2), env) : eval(module, e.child_at(0), env);
    }
    case Kind::k_named_expression: {
      Abstract v = eval(module, e.child(Field::k_value), env);
      env->names[std::string(e.child(Field::k_name).text())] = v;
      return v;
    }
    default:
      return outside(module, e);
  }
}

Abstract AbstractValues::name(const Module& module, Node e, Env* env) {
  if (const Abstract* known = env->find(e.text())) return *known;
  return outside(module, e);
}

Abstract AbstractValues::attribute(const Module& module, Node e, Env* env) {
  Abstract object = eval(module, e.child(Field::k_object), env);
  std::string_view attribute_name = e.child(Field::k_attribute).text();
  Abstract out = member(object, attribute_name);
  if (out.kind != Abstract::Kind::kUnknown || object.from_call) return out;
  return outside(module, e);
}

Abstract AbstractValues::member(const Abstract& object, std::string_view attribute_name) {
  Abstract out;
  bool named = attribute_name == "__name__" || attribute_name == "__qualname__";
  if (object.kind == Abstract::Kind::kCode && named)
    out = abstract_text(std::string(object.node.child(Field::k_name).text()));
  if (object.kind == Abstract::Kind::kPlace) {
    if (named && object.place.kind == PlaceKind::kClass) {
      out = abstract_text(object.place.dotted.substr(object.place.dotted.rfind('.') + 1));
    } else if (named && object.place.kind == PlaceKind::kModule) {
      out = abstract_text(object.place.dotted);
    } else {
      out.place = member_place(semantics_, object.place, attribute_name);
      if (out.place) out.kind = Abstract::Kind::kPlace;
    }
  }
  out.from_call = object.from_call;
  return out;
}

Abstract AbstractValues::string(const Module& module, Node e, Env* env) {
  std::string text;
  if (string_value(e, text)) return abstract_text(std::move(text));
  if (!e.is(Kind::k_string)) return {};
  // f"{package}.{name}": the pieces between the placeholders are text as it stands.
  Abstract out = abstract_text("");
  uint32_t at = static_cast<uint32_t>(e.text().find_first_of("'\"")) + e.start() + 1;
  std::string_view source = e.tree()->source();
  for (Node piece : e.children()) {
    if (!piece.is(Kind::k_interpolation)) return {};
    out.text += source.substr(at, piece.start() - at);
    Abstract value = eval(module, piece.first_child(), env);
    if (value.kind != Abstract::Kind::kText) return {};
    out.text += value.text;
    out.from_call |= value.from_call;
    at = piece.end();
  }
  out.text += source.substr(at, e.end() - at - 1);
  return out;
}

Abstract AbstractValues::boolean(const Module& module, Node e, Env* env) {
  Abstract left = eval(module, e.child(Field::k_left), env);
  bool is_or = e.child(Field::k_operator).text() == "or";
  Truth t = truth_of_value(left);
  if (t == Truth::kUnknown && left.kind == Abstract::Kind::kUnknown)
    return eval(module, e.child(Field::k_right), env);
  return (t == Truth::kYes) == is_or ? left : eval(module, e.child(Field::k_right), env);
}

Abstract AbstractValues::sum(const Module& module, Node e, Env* env) {
  Abstract a = eval(module, e.child(Field::k_left), env), b = eval(module, e.child(Field::k_right), env);
  if (a.kind != Abstract::Kind::kText || b.kind != a.kind || e.child(Field::k_operator).text() != "+")
    return {};
  a.text += b.text;
  a.from_call |= b.from_call;
  return a;
}

Truth AbstractValues::truth_of_value(const Abstract& v) {
  switch (v.kind) {
    case Abstract::Kind::kNone:
      return Truth::kNo;
    case Abstract::Kind::kText:
      return truth_of(!v.text.empty());
    case Abstract::Kind::kBool:
      return truth_of(v.truth);
    case Abstract::Kind::kList:
      return truth_of(!v.items.empty());
    case Abstract::Kind::kPlace:
    case Abstract::Kind::kCode:
      return Truth::kYes;
    default:
      return Truth::kUnknown;
  }
}

Truth AbstractValues::truth(const Module& module, Node condition, Env* env) {
  if (!step() || depth_ >= kDeepest) return Truth::kUnknown;
  ++depth_;
  Truth out = truth_here(module, condition, env);
  --depth_;
  return out;
}

Truth AbstractValues::truth_here(const Module& module, Node condition, Env* env) {
  Node e = strip_parens(condition);
  if (e.is(Kind::k_not_operator)) return !truth(module, e.child(Field::k_argument), env);
  if (e.is(Kind::k_boolean_operator)) {
    Truth a = truth(module, e.child(Field::k_left), env);
    bool is_or = e.child(Field::k_operator).text() == "or";
    if (a == (is_or ? Truth::kYes : Truth::kNo)) return a;
    Truth b = truth(module, e.child(Field::k_right), env);
    return a == Truth::kUnknown && b != (is_or ? Truth::kYes : Truth::kNo) ? Truth::kUnknown : b;
  }
  if (e.is(Kind::k_comparison_operator)) return comparison(module, e, env);
  return truth_of_value(eval(module, e, env));
}

Truth AbstractValues::comparison(const Module& module, Node e, Env* env) {
  if (e.child_count() != 3) return Truth::kUnknown;
  std::string_view op = e.child(Field::k_operators).text();
  Abstract a = eval(module, e.child_at(0), env), b = eval(module, e.child_at(2), env);
  using K = Abstract::Kind;
  if (a.kind == K::kUnknown || b.kind == K::kUnknown) return Truth::kUnknown;
  Truth out = Truth::kUnknown;
  bool negated = op == "!=" || op == "is not" || op == "not in";
  if (op == "in" || op == "not in") {
    if (a.kind == K::kText && b.kind == K::kText) out = truth_of(b.text.find(a.text) != std::string::npos);
  } else if (a.kind == K::kNone || b.kind == K::kNone) {
    out = truth_of(a.kind == b.kind);
  } else if (a.kind == K::kText && b.kind == K::kText) {
    out = truth_of(a.text == b.text);
  }
  return negated ? !out : out;
}

}  // namespace assay
