// override-signature: an override must take every call that reaches it.
#include "rules/override_calls.h"
#include "rules/rules.h"
#include "rules/signature_compare.h"

namespace assay {
namespace {

std::string place(const Module& module, Node node) { return module.file() + ":" + std::to_string(node.line()); }

bool from_target(RuleContext& ctx, const MethodDef& def) { return def.module && def.module->tree == &ctx.target; }

std::vector<std::string_view> lacking(const Override& o) {
  if (o.own.kind == MethodKind::kProperty) return {};
  return lacking_parameters(o.base.bound(false), o.own.bound(false), false);
}

std::string fault_text(const Override& o, const ReachingCall& call) {
  if (o.own.kind == MethodKind::kProperty) return o.own.function ? "is a property" : "is no method";
  return "cannot take the call at " + place(*call.module, call.call) + ": " + describe(call.failure);
}

Level level_of(const ReachingCall& call) {
  if (call.reaches == Reaches::kYes) return Level::kError;
  return call.failure.unexpected.empty() ? Level::kWarning : Level::kError;
}

std::string base_name(RuleContext& ctx, const Override& o) {
  return ctx.sem.class_info(o.base.owner).name + "." + std::string(o.name);
}

void show_sides(Finding& f, const Override& o, const std::string& symbol) {
  if (o.base.function) f.expected = symbol + to_string(o.base.signature);
  f.observed = o.own.function ? std::string(o.name) + to_string(o.own.signature)
                              : std::string(enclosing_statement(o.own.definition).text().substr(0, 120));
  relate(f, *o.base.module, o.base.definition, symbol,
         o.base.function ? "defined here as " + to_string(o.base.signature) : "defined here");
}

void report_failing(RuleContext& ctx, const Override& o, const std::vector<ReachingCall>& calls) {
  const ReachingCall& first = calls.front();
  std::string symbol = base_name(ctx, o);
  std::string message = "the override of " + symbol + " " + fault_text(o, first);
  std::vector<std::string_view> lacks = lacking(o);
  if (o.own.kind != MethodKind::kProperty) message += difference(o.base.bound(false), o.own.bound(false), "the base", "the override");
  Finding* f = report(ctx, "override-signature", *o.own.module, o.own.definition, symbol, message);
  if (!f) return;
  if (f->level == Level::kError) f->level = level_of(first);
  show_sides(*f, o, symbol);
  for (const ReachingCall& c : calls) relate(*f, *c.module, c.call, symbol, "called here");
  if (!lacks.empty()) f->fix = "take " + quoted(lacks) + " in the override";
  if (first.reaches == Reaches::kPerhaps) {
    f->limits.push_back("the object that receives the call is not known; no other class that defines the method takes this call");
  }
}

// No call was found that fails: the base's own promise is all there is.
void report_lacking(RuleContext& ctx, const Override& o) {
  std::vector<std::string_view> lacks = dropped_parameters(o.base.bound(false), o.own.bound(false));
  std::string symbol = base_name(ctx, o);
  std::string never = never_fits(o.base.bound(false), o.own.bound(false));
  if (lacks.empty() && never.empty()) return;
  std::string message = "the override of " + symbol + " ";
  if (never.empty()) {
    message += "lacks " + quoted(lacks) + " of the base; no call was found that passes " + (lacks.size() == 1 ? "it" : "them");
  } else {
    message += "fits no call that fits the base: " + never;
  }
  Finding* f = report(ctx, "override-signature", *o.own.module, o.own.definition, symbol, message);
  if (!f) return;
  f->level = Level::kNote;
  show_sides(*f, o, symbol);
}

void check_override(RuleContext& ctx, const Override& o) {
  bool called = o.base.function && o.base.kind != MethodKind::kProperty;
  if (!called) return;
  std::vector<ReachingCall> calls = failing_calls(ctx, o);
  if (!calls.empty()) return report_failing(ctx, o, calls);
  if (o.own.kind != MethodKind::kProperty && from_target(ctx, o.base)) report_lacking(ctx, o);
}

}  // namespace

void check_overrides(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (!n.is(Kind::k_class_definition)) continue;
    for (const Override& o : overrides_of(ctx, module, n)) check_override(ctx, o);
  }
}

}  // namespace assay
