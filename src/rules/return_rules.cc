// return-arity, override-return, implicit-none-return.
#include <fmt/format.h>

#include <algorithm>

#include "rules/replaced_functions.h"
#include "rules/return_facts.h"
#include "rules/rules.h"

namespace assay {
namespace {

constexpr size_t kMostCalls = 40;  // looked at for one override

std::string count_of(uint32_t n) { return std::to_string(n) + (n == 1 ? " value" : " values"); }

bool unpacks_other(const Use& use, uint32_t arity) {
  if (use.kind != Use::Kind::kUnpacked) return false;
  return use.starred ? arity + 1 < use.count : arity != use.count;
}

// What is called; an object that may be None is taken for the rest of what it may be, since the call needs that.
Values callees_of(RuleContext& ctx, const Module& module, Node call) {
  Node callee = call.child(Field::k_function);
  Values out = ctx.sem.infer(module, callee);
  if (!out.open || !callee.is(Kind::k_attribute)) return out;
  Values objects = ctx.sem.infer(module, callee.child(Field::k_object));
  if (objects.open) return out;
  Values rest;
  for (const Value& v : objects.list) {
    if (v.kind != ValueKind::kNone) rest.merge(ctx.sem.attribute(v, callee.child(Field::k_attribute).text()));
  }
  return rest;
}

// --- return-arity: a result unpacked into another number of names -----------------------------------------------------

void check_unpacking(RuleContext& ctx, const Module& module, Node call) {
  Use use = use_of(call);
  if (use.kind != Use::Kind::kUnpacked) return;
  Values callees = callees_of(ctx, module, call);
  const Value* f = callees.single();
  if (!f || f->kind != ValueKind::kFunction || !f->definition().is(Kind::k_function_definition)) return;
  Callable callee = ctx.sem.callable(*f);
  if (!callee.known || has_decorator(f->definition(), "contextmanager")) return;
  Returns r = returns_of(ctx, *f->module, f->definition());
  if (r.stub || r.generator || r.coroutine != use.awaited || r.nones > 0 || r.falls_through) return;
  if (!r.arity || !unpacks_other(use, *r.arity)) return;
  // A method of an object that is only declared may be another class's.
  if (f->bound != Bound::kNo && r.declared_arity && *r.declared_arity != *r.arity) return;
  Finding* finding = report(ctx, "return-arity", module, call, callee.name,
                            callee.name + " returns " + count_of(*r.arity) + ", unpacked into " + std::to_string(use.count));
  if (!finding) return;
  finding->expected = "a tuple of " + std::to_string(use.count);
  finding->observed = "return " + std::string(r.first_value.text().substr(0, 120));
  relate(*finding, *f->module, r.first_value, callee.name, "returned here");
}

// --- return-arity: a tuple of another length than the parameter declares ----------------------------------------------

void check_tuple_arguments(RuleContext& ctx, const Module& module, Node call) {
  CallShape shape = call_shape(call);
  if (shape.unreadable || shape.positional_values.empty()) return;
  // Cheap first: is there an argument that may be such a tuple at all?
  auto candidate = [](Node v) { return v.is_any(Kind::k_tuple, Kind::k_identifier, Kind::k_call); };
  if (std::none_of(shape.positional_values.begin(), shape.positional_values.end(), candidate)) return;
  Values callees = callees_of(ctx, module, call);
  const Value* f = callees.single();
  if (!f || f->kind != ValueKind::kFunction) return;
  Callable callee = ctx.sem.callable(*f);
  if (!callee.known || bind(callee.signature, shape).certainly_fails()) return;
  std::vector<const Parameter*> positional;
  const Parameter* rest = nullptr;
  for (const Parameter& p : callee.signature.parameters) {
    if (p.is_positional()) positional.push_back(&p);
    if (p.kind == ParameterKind::kVarPositional) rest = &p;
  }
  for (uint32_t i = 0; i < shape.positional_before_star && i < shape.positional_values.size(); ++i) {
    const Parameter* p = i < positional.size() ? positional[i] : rest;
    Node value = shape.positional_values[i];
    if (!p || !p->annotation || !candidate(value)) continue;
    auto wanted = annotated_arity(p->annotation);
    if (!wanted) continue;
    auto given = tuple_arity(ctx, module, value);
    if (!given || *given == *wanted) continue;
    std::string message = fmt::format("'{}' is a tuple of {}, and '{}' of {} is one of {}", value.text().substr(0, 60), *given, p->name,
                                      callee.name, *wanted);
    Finding* finding = report(ctx, "return-arity", module, value, callee.name, message);
    if (!finding) return;
    finding->expected = std::string(p->annotation.text());
    finding->observed = std::string(value.text().substr(0, 120)) + ": a tuple of " + std::to_string(*given);
    relate(*finding, *callee.module, p->node, callee.name, "the parameter");
    return;
  }
}

// --- override-return ----------------------------------------------------------------------------------------------------

struct Pair {
  const Module* module;  // of the one that stands in the place of the other
  Node function;
  const Module* base_module;
  Node base;
  std::string symbol;
  const char* what;  // "override", "replacement"
};

bool declares_none(Node function) {
  std::string_view type = function.child(Field::k_return_type).text();
  return type.find("None") != std::string_view::npos || type.find("Optional") != std::string_view::npos ||
         type.find("NoReturn") != std::string_view::npos || type.find("Never") != std::string_view::npos;
}

bool declares_awaitable(Node function) {
  std::string_view type = function.child(Field::k_return_type).text();
  for (std::string_view word : {"Await", "Coroutine", "Future", "Async", "Task"}) {
    if (type.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// What the callers of the base make of a result that is always None, or a tuple of another length, or no coroutine.
enum class Difference { kNone, kNothing, kArity, kAwaited, kNotAwaited };

Difference difference_of(const Pair& p, const Returns& own, const Returns& base) {
  if (own.stub || own.generator || base.generator) return Difference::kNone;
  if (own.coroutine != base.coroutine) {
    if (own.coroutine) return declares_awaitable(p.base) ? Difference::kNone : Difference::kAwaited;
    // What it returns may be a coroutine, unless it returns nothing.
    return own.values == 0 ? Difference::kNotAwaited : Difference::kNone;
  }
  bool base_gives = base.stub ? p.base.child(Field::k_return_type) && !declares_none(p.base)
                              : base.values > 0 && base.nones == 0 && !base.falls_through && !declares_none(p.base);
  if (own.values + own.nones == 0 && own.falls_through && base_gives) return Difference::kNothing;
  std::optional<uint32_t> wanted = base.arity ? base.arity : base.declared_arity;
  bool whole = own.nones == 0 && !own.falls_through;
  if (whole && own.arity && wanted && *own.arity != *wanted && base.nones == 0) return Difference::kArity;
  return Difference::kNone;
}

bool breaks(Difference d, const Use& use, const Returns& own, bool& certain) {
  certain = true;
  switch (d) {
    case Difference::kArity: return unpacks_other(use, *own.arity);
    case Difference::kAwaited: return !use.awaited && use.kind != Use::Kind::kOther && use.kind != Use::Kind::kUnknown;
    case Difference::kNotAwaited: return use.awaited;
    case Difference::kNothing:
      certain = use.kind != Use::Kind::kOther;
      return use.kind != Use::Kind::kIgnored && use.kind != Use::Kind::kUnknown;
    case Difference::kNone: break;
  }
  return false;
}

std::string text_of(Difference d, const Returns& own, const Use& use) {
  switch (d) {
    case Difference::kArity: return "returns " + count_of(*own.arity) + ", and a caller unpacks " + std::to_string(use.count);
    case Difference::kAwaited: return "is a coroutine, and a caller does not await it";
    case Difference::kNotAwaited: return "is no coroutine, and a caller awaits it";
    default: return "returns nothing, and a caller uses the result";
  }
}

void report_difference(RuleContext& ctx, const Pair& p, Difference d, const Returns& own, const Returns& base,
                       const std::vector<std::pair<const Module*, Node>>& calls) {
  for (auto [module, call] : calls) {
    Use use = use_of(call);
    bool certain = true;
    if (!breaks(d, use, own, certain)) continue;
    Finding* f = report(ctx, "override-return", *p.module, p.function, p.symbol,
                        std::string("the ") + p.what + " of " + p.symbol + " " + text_of(d, own, use));
    if (!f) return;
    if (!certain && f->level == Level::kError) f->level = Level::kWarning;
    f->observed = own.first_value ? "return " + std::string(own.first_value.text().substr(0, 120)) : "no return with a value";
    f->expected = base.first_value ? "return " + std::string(base.first_value.text().substr(0, 120))
                                   : std::string(p.base.child(Field::k_return_type).text());
    relate(*f, *p.base_module, p.base, p.symbol, "defined here");
    relate(*f, *module, call, p.symbol, "the result is used here");
    return;
  }
}

void check_override_return(RuleContext& ctx, const Override& o) {
  if (!o.own.function || !o.base.function || o.own.kind == MethodKind::kProperty || o.base.kind == MethodKind::kProperty) return;
  Returns own = returns_of(ctx, *o.own.module, o.own.function), base = returns_of(ctx, *o.base.module, o.base.function);
  Pair pair{o.own.module, o.own.function, o.base.module, o.base.function,
            ctx.sem.class_info(o.base.owner).name + "." + std::string(o.name), "override"};
  Difference d = difference_of(pair, own, base);
  if (d == Difference::kNone) return;
  std::vector<std::pair<const Module*, Node>> calls;
  for (const ReachingCall& c : reaching_calls(ctx, o, kMostCalls)) calls.emplace_back(c.module, c.call);
  report_difference(ctx, pair, d, own, base, calls);
}

void check_replaced_return(RuleContext& ctx, const ReplacedFunction& r) {
  if (r.original.kernel || r.replacement.kernel) return;
  Returns own = returns_of(ctx, *r.replacement.module, r.replacement.node);
  Returns base = returns_of(ctx, *r.original.module, r.original.node);
  Pair pair{r.replacement.module, r.replacement.node, r.original.module, r.original.node, r.symbol, "replacement"};
  Difference d = difference_of(pair, own, base);
  if (d == Difference::kNone) return;
  std::vector<std::pair<const Module*, Node>> calls;
  if (r.cls != kNoNode) {
    for (const ReachingCall& c : reaching_calls(ctx, r.as_override(), kMostCalls)) calls.emplace_back(c.module, c.call);
  } else {
    for (const IndexedCall& c : ctx.definitions.calls().calls(r.attribute)) {
      Node call = c.module->tree == r.original.module->tree ? call_node(ctx.project(), c) : Node();
      if (call && names_original(ctx, *c.module, call.child(Field::k_function), r)) calls.emplace_back(c.module, call);
      if (calls.size() >= kMostCalls) break;
    }
  }
  report_difference(ctx, pair, d, own, base, calls);
}

// --- implicit-none-return -----------------------------------------------------------------------------------------------

// The handler that swallows the exception and ends the function without a value, where the body of the try returns one.
Node silent_handler(Node last) {
  if (!last.is(Kind::k_try_statement)) return {};
  bool body_leaves = !may_fall_through(last.child(Field::k_body));
  for (Node c : last.children()) {
    if (c.is(Kind::k_finally_clause)) return {};
    if (c.is(Kind::k_else_clause)) body_leaves |= !may_fall_through(c.child(Field::k_body));
  }
  if (!body_leaves) return {};
  for (Node c : last.children()) {
    if (c.is(Kind::k_except_clause) && may_fall_through(c.child(Kind::k_block))) return c;
  }
  return {};
}

void check_implicit_none(RuleContext& ctx, const Module& module, Node function) {
  Node body = function.child(Field::k_body), last;
  for (Node s : body.children()) last = s;
  if (!last.is(Kind::k_try_statement) || !silent_handler(last)) return;
  Returns r = returns_of(ctx, module, function);
  if (r.generator || r.stub || r.values == 0 || r.nones > 0 || declares_none(function)) return;
  // Only where a caller certainly takes the result apart.
  std::string_view name = function.child(Field::k_name).text();
  for (const IndexedCall& c : ctx.definitions.calls().calls(name)) {
    if (c.module != &module) continue;
    Node call = call_node(ctx.project(), c);
    if (!call) continue;
    Use use = use_of(call);
    bool taken_apart = use.kind == Use::Kind::kUnpacked || use.kind == Use::Kind::kAttribute || use.kind == Use::Kind::kSubscript;
    Values callees = ctx.sem.infer(module, call.child(Field::k_function));
    const Value* f = callees.single();
    if (!taken_apart || !f || f->module != &module || f->node != function.id()) continue;
    std::string symbol = ctx.sem.qualified_name(module, function);
    Finding* finding = report(ctx, "implicit-none-return", module, silent_handler(last), symbol,
                              symbol + " ends without a value after this handler, and a caller takes the result apart");
    if (!finding) return;
    finding->observed = "None";
    finding->expected = "return " + std::string(r.first_value.text().substr(0, 120));
    relate(*finding, module, call, symbol, "the result is used here");
    return;
  }
}

}  // namespace

void check_returns(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    switch (n.kind()) {
      case Kind::k_call:
        check_unpacking(ctx, module, n);
        check_tuple_arguments(ctx, module, n);
        break;
      case Kind::k_class_definition:
        for (const Override& o : overrides_of(ctx, module, n)) check_override_return(ctx, o);
        break;
      case Kind::k_function_definition: check_implicit_none(ctx, module, n); break;
      default: break;
    }
  }
  for (const ReplacedFunction& r : replaced_functions(ctx, module)) check_replaced_return(ctx, r);
}

}  // namespace assay
