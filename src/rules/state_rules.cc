// missing-attribute on objects: `self.name`, and `x.name` where the class of x is known from an annotation, a constructor
// call, an isinstance test, or the class that a free function is installed on.
#include <algorithm>
#include <set>

#include "rules/object_facts.h"
#include "rules/rules.h"

namespace assay {
namespace {

struct Lacking {
  ClassRef cls;
  std::string others;  // further classes that the object may be of
  Lack certainty = Lack::kCertain;
};

// Every object that the values may stand for lacks the attribute. None beside them says nothing: the code tests for it, or
// would fail for another reason.
bool all_lack(RuleContext& ctx, const Values& values, std::string_view name, Lacking& out) {
  if (!values.known()) return false;
  std::vector<const Value*> objects;
  for (const Value& v : values.list) {
    if (v.kind == ValueKind::kNone) continue;
    if (v.kind != ValueKind::kInstance || !v.text.empty()) return false;
    objects.push_back(&v);
  }
  if (objects.empty()) return false;
  // The cheap question first, for all of them.
  for (const Value* v : objects) {
    if (ctx.sem.instance_member(v->class_ref(), name).presence != Presence::kNo) return false;
  }
  for (const Value* v : objects) {
    out.certainty = std::min(out.certainty, lacks_attribute(ctx, v->class_ref(), name, v->declared));
    if (out.certainty == Lack::kNo) return false;
    if (!out.cls) {
      out.cls = v->class_ref();
    } else if (v->class_ref() != out.cls) {
      out.others += (out.others.empty() ? "" : ", ") + ctx.sem.class_info(v->class_ref()).name;
    }
  }
  return true;
}

void report_lack(RuleContext& ctx, const Module& module, Node n, const Lacking& lack) {
  std::string_view name = n.child(Field::k_attribute).text();
  const ClassInfo& info = ctx.sem.class_info(lack.cls);
  std::string symbol = info.name + "." + std::string(name);
  std::string object(n.child(Field::k_object).text().substr(0, 60));
  Finding* f = report(ctx, "missing-attribute", module, n, symbol,
                      "objects of the class " + info.name + " have no attribute '" + std::string(name) + "'");
  if (!f) return;
  f->observed = "'" + object + "' is a " + info.name + (lack.others.empty() ? "" : " (or " + lack.others + ")") +
                "; no class of its method resolution order defines '" + std::string(name) + "', and no code sets it";
  if (lack.certainty == Lack::kLikely && f->level == Level::kError) {
    f->level = Level::kWarning;
    f->limits.push_back("code that could not be followed may set '" + std::string(name) + "' or pass an object of another class");
  }
  f->expected = "an attribute that the class has";
  relate(*f, *info.ref.module, info.facts->definition, info.name, "the class of '" + object + "'");
  f->group = "missing-attribute:" + symbol;
  if (std::string close = closest_member(ctx, lack.cls, name); !close.empty()) f->fix = "the class has '" + close + "'";
}

// The function takes its object under another name than self: perhaps a plain function that stands in a class.
bool of_unusual_self(const Module& module, Node object) {
  while (object.is(Kind::k_attribute)) object = object.child(Field::k_object);
  Node function = enclosing_function(module.scopes(), object);
  return object.is(Kind::k_identifier) && object.text() != "self" && object.text() != "cls" && first_parameter(function) == object.text() &&
         enclosing_class(module.scopes(), function) && function.child(Field::k_parameters).first_child().is(Kind::k_identifier);
}

// Modules of torch are given attributes by libraries that no tree shows: what certainly fails are calls, and what an object
// reads of itself.
bool perhaps_given_by_library(RuleContext& ctx, Node n, ClassRef cls) {
  bool called = n.field() == Field::k_function && n.parent().is(Kind::k_call);
  return !called && n.child(Field::k_object).text() != "self" && ctx.sem.class_info(cls).derives_from("torch.nn.Module");
}

// The annotation of a parameter is wrong where most of what is read of it is nothing that the class has.
bool annotation_is_doubtful(RuleContext& ctx, const Module& module, Node object, ClassRef cls) {
  if (object.text() == "self") return false;
  Node function = enclosing_function(module.scopes(), object);
  Node area = object.is(Kind::k_attribute) ? enclosing_class(module.scopes(), object) : function;
  if (!area) return false;
  std::set<std::string_view> present, absent;
  for (Node n : area.descendants()) {
    if (!n.is(Kind::k_attribute) || n.child(Field::k_object).text() != object.text()) continue;
    std::string_view name = n.child(Field::k_attribute).text();
    bool lacks = ctx.sem.instance_member(cls, name).presence == Presence::kNo;
    (lacks ? absent : present).insert(name);
  }
  return absent.size() >= 2 && absent.size() >= present.size();
}

// Calls in the same file pass something unknown for the parameter: the annotation may name another class than the one that
// comes.
bool callers_pass_unknown(RuleContext& ctx, const Module& module, Node object) {
  Node function = enclosing_function(module.scopes(), object);
  if (!object.is(Kind::k_identifier) || !function.is(Kind::k_function_definition)) return false;
  Signature signature = signature_of(function);
  if (!signature.find(object.text())) return false;
  std::string_view name = function.child(Field::k_name).text();
  Node owner = enclosing_class(module.scopes(), function);
  if (owner) signature = signature.without_first();
  if (name == "__init__" && owner) name = owner.child(Field::k_name).text();
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_call)) continue;
    Node callee = n.child(Field::k_function);
    if ((callee.is(Kind::k_attribute) ? callee.child(Field::k_attribute) : callee).text() != name) continue;
    BindResult bound = bind(signature, call_shape(n));
    for (size_t i = 0; i < signature.parameters.size() && i < bound.arguments.size(); ++i) {
      if (signature.parameters[i].name != object.text() || !bound.arguments[i].value) continue;
      if (!ctx.sem.infer(module, bound.arguments[i].value).known()) return true;
    }
  }
  return false;
}

void check_read(RuleContext& ctx, const Module& module, Node n, const Frame* frame) {
  if (is_store_target(n)) return;
  Node object = n.child(Field::k_object);
  if (!object.is_any(Kind::k_identifier, Kind::k_attribute, Kind::k_call, Kind::k_subscript)) return;
  Values values = ctx.sem.infer(module, object, frame);
  Lacking lack;
  if (!all_lack(ctx, values, n.child(Field::k_attribute).text(), lack)) return;
  if (asked_before(module, n) || of_unusual_self(module, object)) return;
  if (annotation_is_doubtful(ctx, module, object, lack.cls)) return;
  if (perhaps_given_by_library(ctx, n, lack.cls) || callers_pass_unknown(ctx, module, object)) lack.certainty = std::min(lack.certainty, Lack::kLikely);
  report_lack(ctx, module, n, lack);
}

// The function that `f`, `property(f)` or `cached_property(f)` installs on a class; null for class and static methods.
const Value* installed_function(RuleContext& ctx, const Module& module, Node value, Values& storage) {
  value = strip_parens(value);
  if (value.is(Kind::k_call)) {
    std::string callee = dotted_text(value.child(Field::k_function));
    callee = callee.substr(callee.rfind('.') == std::string::npos ? 0 : callee.rfind('.') + 1);
    if (callee != "property" && callee != "cached_property") return nullptr;
    value = value.child(Field::k_arguments).first_child();
  }
  if (!value.is_any(Kind::k_identifier, Kind::k_attribute)) return nullptr;
  storage = ctx.sem.infer(module, value);
  const Value* f = storage.single();
  if (!f || f->kind != ValueKind::kFunction || f->bound != Bound::kNo || f->definition().is(Kind::k_lambda)) return nullptr;
  if (f->module->tree != &ctx.plugin || first_parameter(f->definition()) != "self") return nullptr;
  return enclosing_class(f->module->scopes(), f->definition()) ? nullptr : f;
}

// `Class.name = function`: the function's first parameter is an object of the class.
void check_installed(RuleContext& ctx, const Module& module, Node assignment, std::set<std::pair<const Module*, NodeId>>& seen) {
  Node target = assignment.child(Field::k_left);
  if (!target.is(Kind::k_attribute)) return;
  Values storage;
  const Value* function = installed_function(ctx, module, assignment.child(Field::k_right), storage);
  if (!function) return;
  Values owner = ctx.sem.infer(module, target.child(Field::k_object));
  const Value* cls = owner.single();
  if (!cls || cls->kind != ValueKind::kClass || !seen.insert({function->module, function->node}).second) return;
  Node definition = function->definition();
  std::string_view self = first_parameter(definition);
  Value receiver = instance_value(cls->class_ref());
  receiver.declared = true;
  Frame frame;
  frame.self = cls->class_ref();
  frame.arguments.emplace(self, Values::of(receiver));
  for (Node n : definition.child(Field::k_body).descendants()) {
    if (!n.is(Kind::k_attribute)) continue;
    Node root = n;
    while (root.is(Kind::k_attribute)) root = root.child(Field::k_object);
    if (root.text() == self) check_read(ctx, *function->module, n, &frame);
  }
}

}  // namespace

void check_state(RuleContext& ctx, const Module& module) {
  std::set<std::pair<const Module*, NodeId>> installed;
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_attribute)) check_read(ctx, module, n, nullptr);
    if (n.is(Kind::k_assignment)) check_installed(ctx, module, n, installed);
  }
}

}  // namespace assay
