// argument-shifted: positional arguments that carry the names of other parameters than the ones they land on.
#include <algorithm>

#include <fmt/format.h>

#include "rules/rules.h"

namespace assay {
namespace {

// `x`, `self.x`, `self._x` → x
std::string_view name_of(Node value) {
  if (value.is(Kind::k_attribute)) value = value.child(Field::k_attribute);
  if (!value.is(Kind::k_identifier)) return {};
  std::string_view name = value.text();
  while (!name.empty() && name.front() == '_') name.remove_prefix(1);
  return name;
}

struct Shift {
  uint32_t first = 0, count = 0;
  int by = 0;
};

// The longest run of arguments that all stand the same number of places away from the parameter of their name.
Shift longest_shift(const std::vector<std::string_view>& parameters, const std::vector<Node>& values, uint32_t certain) {
  Shift best, run;
  for (uint32_t i = 0; i < certain && i < values.size() && i < parameters.size(); ++i) {
    std::string_view name = name_of(values[i]);
    auto at = name.empty() ? parameters.end() : std::find(parameters.begin(), parameters.end(), name);
    int by = at == parameters.end() ? 0 : static_cast<int>(at - parameters.begin()) - static_cast<int>(i);
    if (by == 0) {
      run = {};
    } else if (run.count > 0 && run.by == by) {
      ++run.count;
    } else {
      run = {i, 1, by};
    }
    if (run.count > best.count) best = run;
  }
  return best;
}

void check_call(RuleContext& ctx, const Module& module, Node call) {
  CallShape shape = call_shape(call);
  if (shape.unreadable || shape.positional_values.size() < 3) return;
  Values callees = ctx.sem.infer(module, call.child(Field::k_function));
  const Value* v = callees.single();
  if (!v) return;
  Callable callee = ctx.sem.callable(*v);
  if (!callee.known || bind(callee.signature, shape).certainly_fails()) return;
  std::vector<std::string_view> parameters;
  for (const Parameter& p : callee.signature.parameters) {
    if (p.is_positional()) parameters.push_back(p.name);
  }
  Shift shift = longest_shift(parameters, shape.positional_values, shape.positional_before_star);
  // Two that trade places may be meant so; three in a row that all stand one off are a parameter that came or went.
  if (shift.count < 3) return;
  Node first = shape.positional_values[shift.first];
  std::string_view lands = parameters[shift.first];
  Finding* f = report(ctx, "argument-shifted", module, first, callee.name,
                      fmt::format("'{}' and the arguments after it land {} in {}: '{}' takes it", first.text(),
                                  shift.by > 0 ? "one parameter early" : "one parameter late", callee.name, lands));
  if (!f) return;
  if (shift.by != 1 && shift.by != -1) {
    f->message = fmt::format("'{}' and the arguments after it land on other parameters of {} than those of their names: '{}' takes it",
                             first.text(), callee.name, lands);
  }
  f->expected = callee.name + to_string(callee.signature);
  f->observed = std::string(call.text().substr(0, 200));
  relate(*f, *callee.module, callee.definition, callee.name, "defined here as " + to_string(callee.signature));
}

}  // namespace

void check_shifted(RuleContext& ctx, const Module& module) {
  for (Node n : module.root().descendants()) {
    if (n.is(Kind::k_call)) check_call(ctx, module, n);
  }
}

}  // namespace assay
