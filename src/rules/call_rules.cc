// call-missing-argument, call-unknown-argument, call-too-many-arguments, self-passed-explicitly.
#include <algorithm>

#include "rules/rules.h"

namespace assay {
namespace {

const char* rule_of(BindOutcome outcome) {
  switch (outcome) {
    case BindOutcome::kMissing: return "call-missing-argument";
    case BindOutcome::kTooManyPositional: return "call-too-many-arguments";
    default: return "call-unknown-argument";
  }
}

// f(self, …) on a method that is bound already.
bool passes_self(const Module& module, const Value& callee, const CallShape& shape, Node call) {
  if (callee.bound != Bound::kInstance || shape.positional_values.empty()) return false;
  Node function = enclosing_function(module.scopes(), call);
  Node first = shape.positional_values.front();
  Node object = call.child(Field::k_function).child(Field::k_object);
  return function && first && !first_parameter(function).empty() && first.text() == first_parameter(function) && object.text() == first.text();
}

bool from_target(RuleContext& ctx, const Callable& c) { return c.module && c.module->tree == &ctx.target; }

bool only_jit(Node kernel) {
  std::vector<Node> decorators = decorators_of(kernel);
  return decorators.size() == 1 && decorator_name(decorators[0]) == "triton.jit";
}

// A stand-in for something that is not installed.
bool only_raises(Node definition) {
  for (Node s : definition.child(Field::k_body).children()) {
    if (s.is(Kind::k_raise_statement)) return true;
  }
  return false;
}

// `self.method(self, *args)`: whatever the stars hold, the method gets its own object as its first argument.
void forwards_self(RuleContext& ctx, const Module& module, Node call, const Value& callee) {
  Callable c = ctx.sem.callable(callee);
  if (!c.known || c.signature.parameters.empty()) return;
  Finding* f = report(ctx, "self-passed-explicitly", module, call, c.name,
                      "self is passed to " + c.name + ", which is already bound to it: it arrives as '" + std::string(c.signature.parameters[0].name) + "'");
  if (!f) return;
  f->expected = c.name + to_string(c.signature);
  f->observed = std::string(call.text().substr(0, 200));
  relate(*f, *c.module, c.definition, c.name, "defined here as " + to_string(c.signature));
}

// Two branches of a condition that is not decided call the same thing in two ways: each is meant for another version of it.
bool other_branch_calls(RuleContext& ctx, const Module& module, Node call) {
  std::string_view callee = call.child(Field::k_function).text();
  for (Node n = call, holder = n.parent(); holder; n = holder, holder = holder.parent()) {
    if (holder.is_any(Kind::k_function_definition, Kind::k_class_definition)) return false;
    bool branches = holder.is(Kind::k_conditional_expression) || holder.is(Kind::k_if_statement);
    if (!branches || n.field() == Field::k_condition || ctx.sem.live(module, n) != Truth::kUnknown) continue;
    for (Node other : holder.children()) {
      if (other == n || other.field() == Field::k_condition) continue;
      for (Node c : other.descendants()) {
        if (c.is(Kind::k_call) && c.child(Field::k_function).text() == callee) return true;
      }
      if (other.is(Kind::k_call) && other.child(Field::k_function).text() == callee) return true;
    }
  }
  return false;
}

void check_call(RuleContext& ctx, const Module& module, Node call) {
  Node callee_node = call.child(Field::k_function);
  if (callee_node.is(Kind::k_call)) return;
  if (callee_node.child(Field::k_object).child(Field::k_function).text() == "super") return;  // see super_rules.cc
  Values callees = ctx.sem.infer(module, callee_node);
  if (callees.list.empty()) return;
  CallShape shape = call_shape(call);
  if (shape.unreadable) return;
  std::vector<std::pair<Callable, BindResult>> failures;
  bool all_known = !callees.open, target = false;
  bool self_passed = false, outside = false;
  for (const Value& v : callees.list) {
    // try: from package import f / except ImportError: def f(…): the package's own f is not known.
    if (v.kind == ValueKind::kExternal && callees.list.size() > 1) {
      outside = true;
      continue;
    }
    Callable c = ctx.sem.callable(v);
    target |= from_target(ctx, c);
    if (!c.known) {
      all_known = false;
      continue;
    }
    CallShape used = shape;
    if (v.kernel) {  // launch options that every Triton kernel takes
      for (size_t i = used.keywords.size(); i-- > 0;) {
        static constexpr std::string_view kOptions[] = {"num_warps", "num_stages", "num_ctas", "num_consumer_groups", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "launch_cooperative_grid", "launch_pdl", "enable_fp_fusion"};
        if (std::find(std::begin(kOptions), std::end(kOptions), used.keywords[i]) == std::end(kOptions)) continue;
        if (c.signature.find(used.keywords[i])) continue;
        used.keywords.erase(used.keywords.begin() + static_cast<long>(i));
        used.keyword_values.erase(used.keyword_values.begin() + static_cast<long>(i));
      }
    }
    BindResult result = bind(c.signature, used);
    // Autotuned and heuristic parameters are supplied, and each backend takes launch options of its own.
    bool supplied = result.outcome == BindOutcome::kUnexpectedKeyword || (result.outcome == BindOutcome::kMissing && !only_jit(c.definition));
    if (v.kernel && supplied) return;
    if (!result.certainly_fails()) {
      all_known = false;
    } else if (outside && only_raises(c.definition)) {
      all_known = false;
    } else {
      self_passed |= passes_self(module, v, shape, call);
      failures.emplace_back(std::move(c), std::move(result));
    }
  }
  if (target) callees.open ? ++ctx.stats.calls_unbound : ++ctx.stats.calls_bound;
  if (failures.empty() && shape.star_args && callees.single() && passes_self(module, *callees.single(), shape, call)) {
    return forwards_self(ctx, module, call, *callees.single());
  }
  if (!all_known || failures.empty() || error_caught(call, "TypeError", Handlers::kNamed) || other_branch_calls(ctx, module, call)) return;
  const auto& [callable, result] = failures.front();
  std::string rule = self_passed ? "self-passed-explicitly" : rule_of(result.outcome);
  std::string message = "the call of " + callable.name + " cannot be bound: " + assay::describe(result);
  if (self_passed) message += " (self is passed to a method that is already bound)";
  Finding* f = report(ctx, rule, module, call, callable.name, message);
  if (!f) return;
  f->expected = callable.name + to_string(callable.signature);
  f->observed = std::string(call.text().substr(0, 200));
  relate(*f, *callable.module, callable.definition, callable.name, "defined here as " + to_string(callable.signature));
  if (outside && f->level == Level::kError) {
    f->level = Level::kWarning;
    f->limits.push_back("where an outside package provides the name, its own signature counts, which is not known");
  }
}

}  // namespace

void check_calls(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_call)) check_call(ctx, module, n);
  }
}

}  // namespace assay
