// The references of an attention call: the oracle's results with each row's budget beside them.
#include <algorithm>
#include <cmath>

#include "judge/attention_budget.h"

namespace assay::num {
namespace {

struct Collector {
  const AttentionContract& contract;
  const AttentionInputs& inputs;
  Reference& out;
  Reference& lse;
  std::int64_t heads, tokens, v_dim;
  bool want_sigma;

  void operator()(const AttendedRow& row) const {
    const RowBudget b = row_budget(row, contract, want_sigma);
    const std::int64_t at = (row.token * heads + row.head) * v_dim;
    std::copy(b.out.begin(), b.out.end(), out.budget.begin() + at);
    std::copy(b.term.begin(), b.term.end(), out.term.begin() + at);
    std::copy(b.coarse.begin(), b.coarse.end(), out.coarse.begin() + at);
    if (want_sigma) std::copy(b.sigma.begin(), b.sigma.end(), out.sigma.begin() + at);
    const double base = contract.lse_base2 ? std::log2(std::exp(1.0)) : 1;
    lse.budget[row.head * tokens + row.token] = base * b.lse;
    // An LSE that is off by δ stands for a sum of weights that is off by e^δ - 1.
    lse.coarse[row.head * tokens + row.token] = b.lse > kCoarse;
    if (want_sigma) lse.likely[row.head * tokens + row.token] = base * b.likely_lse;
    if (inputs.out == Structured::kCounts) std::fill_n(out.multiplier.begin() + at, v_dim, std::exp(row.lse));
    if (lse.structured != Structured::kNone && row.sink_weight > 0)
      lse.multiplier[row.head * tokens + row.token] = std::exp(row.sink);
  }
};

void fill_lse(Reference& lse, const AttentionResult& result, const AttentionContract& c, std::int64_t tokens,
              std::int64_t heads) {
  for (std::int64_t t = 0; t < tokens; ++t)
    for (std::int64_t h = 0; h < heads; ++h) {
      const double natural = result.lse[t * heads + h];
      double& to = lse.value[h * tokens + t];
      to = std::isinf(natural) ? c.empty_lse : c.lse_base2 ? natural / std::log(2.0) : natural;
    }
}

}  // namespace

Expected<std::vector<Reference>> attention_reference(const AttentionProblem& p, const AttentionContract& c,
                                                     const AttentionInputs& inputs, int threads) {
  if (auto ok = check(p); !ok) return tl::unexpected(ok.error());
  const std::int64_t tokens = p.q.shape()[0], heads = p.q.shape()[1], v_dim = p.kv.v.shape()[3];
  // The independent roundings of gate 3 don't describe truncation, 14-bit sums or an approximate tanh.
  const bool independent = !c.p_truncated && c.scores.order != Accumulation::Order::kFp8 &&
                           (p.softcap == 0 || c.tanh == Tanh::kExact);
  const bool want_sigma = inputs.iid_values && independent && v_dim >= 64;
  std::vector<Reference> refs(2);
  Reference &out = refs[0], &lse = refs[1];
  out.name = "out";
  out.type = c.out;
  out.shape = {tokens, heads, v_dim};
  out.axes = {"token", "head", "dim"};
  out.terms = attention_terms();
  out.structured = inputs.out;
  lse.name = "lse";
  lse.shape = {heads, tokens};
  lse.axes = {"head", "token"};
  lse.structured = inputs.lse == Structured::kExpCounts && c.lse_base2 ? Structured::kExp2Counts : inputs.lse;
  const auto size = static_cast<std::size_t>(tokens * heads);
  out.budget.assign(size * v_dim, 0.0);
  out.term.assign(size * v_dim, 0);
  out.coarse.assign(size * v_dim, 0);
  if (inputs.out == Structured::kCounts) out.multiplier.assign(size * v_dim, 0.0);
  lse.value.assign(size, 0.0);
  lse.budget.assign(size, 0.0);
  lse.coarse.assign(size, 0);
  lse.multiplier.assign(size, 0.0);
  const bool scores_rounded = c.score_roundings > 0 || c.q_scaled_rounded || c.k_rounded;
  if (want_sigma) {
    out.sigma.assign(size * v_dim, 0.0);
    // Errors of the scores act on all dimensions at once: where a few keys hold all the weight and nothing
    // coarser hides them (rounded scores, or no 16-bit rounding at all) the row's RMS has the spread of one
    // or two numbers, not of 64.
    out.rms_limit = scores_rounded || c.out == DType::kF32 ? 3 : inputs.heavy_tailed ? 2 : 1.5;
    lse.likely.assign(size, 0.0);
  }
  auto result = attend(p, Collector{c, inputs, out, lse, heads, tokens, v_dim, want_sigma}, threads);
  if (!result) return tl::unexpected(result.error());
  out.value = std::move(result->out);
  fill_lse(lse, *result, c, tokens, heads);
  if (!c.writes_lse) refs.pop_back();
  return refs;
}

}  // namespace assay::num
