// patched-signature: what is put in the place of a function must take the calls of that function.
#include <algorithm>
#include <set>

#include "rules/override_calls.h"
#include "rules/rules.h"
#include "rules/signature_compare.h"

namespace assay {
namespace {

// `holder.attribute = value`, where the holder is a module or class of another tree.
struct Replacement {
  const Module* module = nullptr;  // where the assignment stands
  Node statement, value;
  const Module* holder = nullptr;
  NodeId cls = kNoNode;  // of the holder, if it is a class
  std::string attribute;
  std::string symbol;
};

struct Function {
  const Module* module = nullptr;
  Node node;
  MethodDef method;
  bool kernel = false;
};

bool is_kernel(Node function) {
  return has_decorator(function, "jit") || has_decorator(function, "autotune") || has_decorator(function, "heuristics");
}

// A wrapped function may take other arguments than are written, except for kernels, whose decorators are known.
Function function_of(RuleContext& ctx, const Module& module, Node node) {
  Function f{&module, node, {}, is_kernel(node)};
  f.method.module = &module;
  f.method.function = f.method.definition = node;
  f.method.signature = signature_of(node);
  if (f.method.signature.incomplete) return {};
  if (f.kernel) {
    f.method.kind = MethodKind::kStatic;
    return f;
  }
  Values v = ctx.sem.infer(module, node);
  const Value* one = v.single();
  return one && one->kind == ValueKind::kFunction && one->node == node.id() ? f : Function();
}

// The only live function of that name, patches aside.
Function original_of(RuleContext& ctx, const Replacement& r) {
  std::vector<const Binding*> bindings;
  const Module* module = r.holder;
  if (r.cls != kNoNode) {
    Member m = ctx.sem.class_member({r.holder, r.cls}, r.attribute);
    if (m.presence != Presence::kYes || !m.owner) return {};
    bindings = m.bindings;
    module = m.module;
  } else {
    for (const Binding& b : module->scopes().in_scope(kModuleScope, r.attribute)) {
      if (ctx.sem.live(*module, module->at(b.node)) != Truth::kNo) bindings.push_back(&b);
    }
  }
  if (bindings.size() != 1 || bindings[0]->kind != BindingKind::kFunction) return {};
  Node node = module->at(bindings[0]->node);
  if (has_decorator(node, "property") || has_decorator(node, "cached_property") || has_decorator(node, "overload")) return {};
  Function f = function_of(ctx, *module, node);
  if (!f.node) return {};
  bool in_class = r.cls != kNoNode;
  f.method.kind = !in_class || has_decorator(node, "staticmethod") ? MethodKind::kStatic
                  : has_decorator(node, "classmethod")             ? MethodKind::kClass
                                                                   : MethodKind::kInstance;
  return f;
}

// The function that an identifier names in its own module, for decorators that inference does not see through.
Node named_function(const Module& module, Node value) {
  if (!value.is(Kind::k_identifier)) return {};
  auto bindings = module.scopes().in_scope(kModuleScope, value.text());
  return bindings.size() == 1 && bindings[0].kind == BindingKind::kFunction ? module.at(bindings[0].node) : Node();
}

Function replacement_of(RuleContext& ctx, const Replacement& r) {
  Node value = strip_parens(r.value);
  bool in_class = r.cls != kNoNode;
  MethodKind kind = in_class ? MethodKind::kInstance : MethodKind::kStatic;
  if (value.is(Kind::k_call)) {
    std::string_view wrapper = value.child(Field::k_function).text();
    if (wrapper != "staticmethod" && wrapper != "classmethod") return {};
    kind = wrapper == "staticmethod" ? MethodKind::kStatic : MethodKind::kClass;
    value = value.child(Field::k_arguments).first_child();
  }
  Function f;
  if (value.is(Kind::k_function_definition)) {
    f = function_of(ctx, *r.module, value);
  } else if (Node named = named_function(*r.module, value); named && is_kernel(named)) {
    f = function_of(ctx, *r.module, named);
  } else {
    Values values = ctx.sem.infer(*r.module, value);
    const Value* v = values.single();
    if (!v || v->kind != ValueKind::kFunction || !v->definition().is(Kind::k_function_definition)) return {};
    f = function_of(ctx, *v->module, v->definition());
    // `C.m = D.m` of a class method is bound to D already.
    if (v->bound != Bound::kNo) {
      f.method.signature = f.method.signature.without_first();
      kind = MethodKind::kStatic;
    }
  }
  if (f.node && !f.kernel) f.method.kind = kind;
  return f;
}

struct Fault {
  const Module* module = nullptr;
  Node place;  // the call; null when no call is needed to tell
  std::string text;
};

bool same_function(RuleContext& ctx, const Module& module, Node callee, const Function& original) {
  Values values = ctx.sem.infer(module, callee);
  for (const Value& v : values.list) {
    if (v.kind == ValueKind::kFunction && v.module == original.module && v.node == original.node.id()) return true;
  }
  return false;
}

bool fails(const Signature& original, const Signature& replacement, const CallShape& shape, Fault& fault) {
  if (shape.unreadable || bind(original, shape).certainly_fails()) return false;
  BindResult result = bind(replacement, shape);
  if (!result.certainly_fails()) return false;
  fault.text = describe(result);
  return true;
}

// `f[grid](…)` in the module of the kernel.
void kernel_launches(const Function& original, const Function& replacement, std::vector<Fault>& out) {
  std::string_view name = original.node.child(Field::k_name).text();
  for (Node n : original.module->root().descendants()) {
    if (!n.is(Kind::k_call)) continue;
    Node callee = n.child(Field::k_function);
    if (!callee.is(Kind::k_subscript) || callee.child(Field::k_value).text() != name) continue;
    // Decorators supply what is left out, so only what is passed counts.
    CallShape shape = call_shape(n);
    if (shape.unreadable || shape.star_kwargs) continue;
    std::vector<std::string_view> refused;
    for (std::string_view k : shape.keywords) {
      const Parameter* p = original.method.signature.find(k);
      if (p && !replacement.method.signature.accepts_keyword(k)) refused.push_back(k);
    }
    if (!refused.empty()) out.push_back({original.module, n, "it does not take " + quoted(refused)});
  }
}

// `Process(target=f, kwargs={…})` in the module of the original.
void indirect_calls(RuleContext& ctx, const Function& original, const Function& replacement, std::vector<Fault>& out) {
  std::string_view name = original.node.child(Field::k_name).text();
  for (Node n : original.module->root().descendants()) {
    if (!n.is(Kind::k_keyword_argument) || n.child(Field::k_name).text() != "target") continue;
    Node value = n.child(Field::k_value);
    Node last = value.is(Kind::k_attribute) ? value.child(Field::k_attribute) : value;
    if (last.text() != name || !same_function(ctx, *original.module, value, original)) continue;
    Node args, kwargs;
    for (Node a : n.parent().children()) {
      if (!a.is(Kind::k_keyword_argument)) continue;
      if (a.child(Field::k_name).text() == "args") args = a.child(Field::k_value);
      if (a.child(Field::k_name).text() == "kwargs") kwargs = a.child(Field::k_value);
    }
    Fault fault{original.module, n.parent().parent(), {}};
    if (fails(original.method.bound(true), replacement.method.bound(true), applied_call(args, kwargs), fault)) out.push_back(fault);
  }
}

void function_calls(RuleContext& ctx, const Replacement& r, const Function& original, const Function& replacement,
                    std::vector<Fault>& out) {
  for (const IndexedCall& c : ctx.definitions.calls().calls(r.attribute)) {
    if (out.size() >= 3) return;
    if (c.module->tree != original.module->tree) continue;
    Fault fault{c.module, {}, {}};
    const Signature& a = original.method.signature;
    const Signature& b = replacement.method.signature;
    if (!c.call.ambiguous && !fails(a, b, shape_of(c.call), fault)) continue;
    Node call = call_node(ctx.project(), c);
    if (!call || !fails(a, b, call_shape(call), fault)) continue;
    if (ctx.sem.live(*c.module, call) == Truth::kNo) continue;
    if (!same_function(ctx, *c.module, call.child(Field::k_function), original)) continue;
    fault.place = call;
    out.push_back(fault);
  }
}

void method_calls(RuleContext& ctx, const Replacement& r, const Function& original, const Function& replacement,
                  std::vector<Fault>& out) {
  Override o{{r.holder, r.cls}, r.attribute, replacement.method, original.method};
  o.base.owner = {r.holder, r.cls};
  for (const ReachingCall& c : failing_calls(ctx, o)) {
    if (c.module->tree == original.module->tree) out.push_back({c.module, c.call, describe(c.failure)});
  }
}

std::vector<Fault> faults_of(RuleContext& ctx, const Replacement& r, const Function& original, const Function& replacement) {
  std::vector<Fault> out;
  if (original.kernel) {
    if (replacement.kernel) kernel_launches(original, replacement, out);
    return out;
  }
  if (replacement.kernel) return out;
  if (r.cls == kNoNode) {
    function_calls(ctx, r, original, replacement, out);
  } else {
    method_calls(ctx, r, original, replacement, out);
  }
  indirect_calls(ctx, original, replacement, out);
  return out;
}

bool called_anywhere(RuleContext& ctx, const Replacement& r) {
  for (const IndexedCall& c : ctx.definitions.calls().calls(r.attribute)) {
    if (c.module->tree == r.holder->tree) return true;
  }
  return false;
}

void check_replacement(RuleContext& ctx, const Replacement& r) {
  Function original = original_of(ctx, r);
  if (!original.node || original.module->tree == r.module->tree) return;
  Function replacement = replacement_of(ctx, r);
  if (!replacement.node || replacement.module->tree == original.module->tree) return;
  std::vector<Fault> faults = faults_of(ctx, r, original, replacement);
  const Signature old_one = original.method.bound(false), new_one = replacement.method.bound(false);
  std::string message = "the replacement of " + r.symbol + " ";
  Level level = Level::kError;
  std::string never = original.kernel ? std::string() : never_fits(old_one, new_one);
  if (!faults.empty()) {
    const Fault& f = faults.front();
    message += "cannot take the call at " + f.module->file() + ":" + std::to_string(f.place.line()) + ": " + f.text;
  } else if (!never.empty()) {
    message += "fits no call that fits the original: " + never;
    if (!called_anywhere(ctx, r)) level = Level::kWarning;
  } else {
    return;
  }
  message += difference(old_one, new_one, "the original", "the replacement");
  std::vector<std::string_view> lacks = lacking_parameters(original.method.signature, replacement.method.signature, false);
  Finding* f = report(ctx, "patched-signature", *replacement.module, replacement.node, r.symbol, message);
  if (!f) return;
  if (f->level == Level::kError) f->level = level;
  Exposure where = exposure(ctx, *r.module, r.statement);
  if (where.kind != Exposure::Kind::kLive && where.kind != Exposure::Kind::kUndecided) {
    f->level = Level::kNote;
    f->limits.push_back("the assignment that puts it in place does not run: " + where.reason);
  }
  f->expected = r.symbol + to_string(original.method.signature);
  f->observed = std::string(replacement.node.child(Field::k_name).text()) + to_string(replacement.method.signature);
  if (!lacks.empty()) f->fix = "take " + quoted(lacks) + " as the original does";
  relate(*f, *original.module, original.node, r.symbol, "the original, " + to_string(original.method.signature));
  for (const Fault& fault : faults) relate(*f, *fault.module, fault.place, r.symbol, "called here");
  relate(*f, *r.module, r.statement, r.symbol, "replaced here");
}

bool holder_of(RuleContext& ctx, const Module& module, Node object, Replacement& r) {
  Values holders = ctx.sem.infer(module, object);
  const Value* h = holders.single();
  if (!h || !h->module || h->module->tree == module.tree) return false;
  if (h->kind == ValueKind::kModule) {
    r.symbol = h->module->name;
  } else if (h->kind == ValueKind::kClass && !h->declared) {
    r.cls = h->node;
    r.symbol = ctx.sem.class_info(h->class_ref()).name;
  } else {
    return false;
  }
  r.holder = &ctx.project().load(*h->module);
  r.symbol += "." + r.attribute;
  return r.holder->kind == ModuleKind::kSource;
}

// holder.name = value
void check_assignment(RuleContext& ctx, const Module& module, Node n) {
  Node left = n.child(Field::k_left), value = n.child(Field::k_right);
  if (!left.is(Kind::k_attribute) || !value) return;
  while (value.is(Kind::k_assignment)) value = value.child(Field::k_right);
  Replacement r;
  r.module = &module;
  r.statement = n;
  r.value = value;
  r.attribute = std::string(left.child(Field::k_attribute).text());
  if (holder_of(ctx, module, left.child(Field::k_object), r)) check_replacement(ctx, r);
}

// setattr(holder, "name", value)
void check_setattr(RuleContext& ctx, const Module& module, Node n) {
  Node arguments = n.child(Field::k_arguments);
  Replacement r;
  r.module = &module;
  r.statement = n;
  r.value = arguments.child_at(2);
  if (!r.value || !string_value(arguments.child_at(1), r.attribute)) return;
  if (holder_of(ctx, module, arguments.child_at(0), r)) check_replacement(ctx, r);
}

}  // namespace

void check_patched_signatures(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_assignment)) check_assignment(ctx, module, n);
    if (n.is(Kind::k_call) && n.child(Field::k_function).text() == "setattr") check_setattr(ctx, module, n);
  }
}

}  // namespace assay
