// patched-signature: what is put in the place of a function must take the calls of that function.
#include <algorithm>

#include "rules/replaced_functions.h"
#include "rules/rules.h"
#include "rules/signature_compare.h"

namespace assay {
namespace {

struct Fault {
  const Module* module = nullptr;
  Node place;  // the call; null when no call is needed to tell
  std::string text;
};

bool fails(const Signature& original, const Signature& replacement, const CallShape& shape, Fault& fault) {
  if (shape.unreadable || bind(original, shape).certainly_fails()) return false;
  BindResult result = bind(replacement, shape);
  if (!result.certainly_fails()) return false;
  fault.text = describe(result);
  return true;
}

// `f[grid](…)` in the module of the kernel.
void kernel_launches(const ReplacedFunction& r, std::vector<Fault>& out) {
  const auto& original = r.original;
  const auto& replacement = r.replacement;
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
void indirect_calls(RuleContext& ctx, const ReplacedFunction& r, std::vector<Fault>& out) {
  const auto& original = r.original;
  const auto& replacement = r.replacement;
  std::string_view name = original.node.child(Field::k_name).text();
  for (Node n : original.module->root().descendants()) {
    if (!n.is(Kind::k_keyword_argument) || n.child(Field::k_name).text() != "target") continue;
    Node value = n.child(Field::k_value);
    Node last = value.is(Kind::k_attribute) ? value.child(Field::k_attribute) : value;
    if (last.text() != name || !names_original(ctx, *original.module, value, r)) continue;
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

void function_calls(RuleContext& ctx, const ReplacedFunction& r, std::vector<Fault>& out) {
  const auto& original = r.original;
  const auto& replacement = r.replacement;
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
    if (!names_original(ctx, *c.module, call.child(Field::k_function), r)) continue;
    fault.place = call;
    out.push_back(fault);
  }
}

void method_calls(RuleContext& ctx, const ReplacedFunction& r, std::vector<Fault>& out) {
  for (const ReachingCall& c : failing_calls(ctx, r.as_override())) {
    if (c.module->tree == r.original.module->tree) out.push_back({c.module, c.call, describe(c.failure)});
  }
}

std::vector<Fault> faults_of(RuleContext& ctx, const ReplacedFunction& r) {
  std::vector<Fault> out;
  if (r.original.kernel) {
    if (r.replacement.kernel) kernel_launches(r, out);
    return out;
  }
  if (r.replacement.kernel) return out;
  if (r.cls == kNoNode) {
    function_calls(ctx, r, out);
  } else {
    method_calls(ctx, r, out);
  }
  indirect_calls(ctx, r, out);
  return out;
}

bool called_anywhere(RuleContext& ctx, const ReplacedFunction& r) {
  for (const IndexedCall& c : ctx.definitions.calls().calls(r.attribute)) {
    if (c.module->tree == r.holder->tree) return true;
  }
  return false;
}

// The replacement is a method of a subclass too, and was reported as an override.
bool reported_as_override(RuleContext& ctx, const ReplacedFunction& r) {
  Location here = locate(*r.replacement.module, r.replacement.node);
  return std::any_of(ctx.findings.begin(), ctx.findings.end(), [&](const Finding& f) {
    return f.rule == "override-signature" && f.level == Level::kError && f.location == here;
  });
}

void check_replacement(RuleContext& ctx, const ReplacedFunction& r) {
  if (reported_as_override(ctx, r)) return;
  const auto& original = r.original;
  const auto& replacement = r.replacement;
  std::vector<Fault> faults = faults_of(ctx, r);
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

}  // namespace

void check_patched_signatures(RuleContext& ctx, const Module& module) {
  for (const ReplacedFunction& r : replaced_functions(ctx, module)) check_replacement(ctx, r);
}

}  // namespace assay
