// The references of an attention call: the oracle's results with each row's budget beside them.
#include <algorithm>
#include <cmath>

#include "judge/attention_budget.h"

namespace assay::num {
namespace {

// The references of one contract in the making.
class Collector {
 public:
  Collector(const AttentionProblem& p, const AttentionContract& c, const AttentionInputs& inputs)
      : contract_(c),
        inputs_(inputs),
        heads_(p.q.shape()[1]),
        tokens_(p.q.shape()[0]),
        v_dim_(p.kv.v.shape()[3]) {
    // The independent roundings of gate 3 don't describe truncation, 14-bit sums or an approximate tanh.
    const bool independent = !c.p_truncated && c.scores.order != Accumulation::Order::kFp8 &&
                             (p.softcap == 0 || c.tanh == Tanh::kExact);
    want_sigma_ = inputs.iid_values && independent && v_dim_ >= 64;
    prepare_out();
    prepare_lse();
  }

  // From several threads at once, each for rows of its own.
  void add(const AttendedRow& row) {
    const RowBudget b = row_budget(row, contract_, want_sigma_);
    const std::int64_t at = (row.token * heads_ + row.head) * v_dim_, lse_at = row.head * tokens_ + row.token;
    std::copy(b.out.begin(), b.out.end(), out_.budget.begin() + at);
    std::copy(b.term.begin(), b.term.end(), out_.term.begin() + at);
    std::copy(b.coarse.begin(), b.coarse.end(), out_.coarse.begin() + at);
    if (want_sigma_) std::copy(b.sigma.begin(), b.sigma.end(), out_.sigma.begin() + at);
    const double base = contract_.lse_base2 ? std::log2(std::exp(1.0)) : 1;
    lse_.budget[lse_at] = base * b.lse;
    // An LSE that is off by δ stands for a sum of weights that is off by e^δ - 1.
    lse_.coarse[lse_at] = b.lse > kCoarse;
    if (want_sigma_) lse_.likely[lse_at] = base * b.likely_lse;
    if (inputs_.out == Structured::kCounts)
      std::fill_n(out_.multiplier.begin() + at, v_dim_, std::exp(row.lse));
    if (lse_.structured != Structured::kNone && row.sink_weight > 0)
      lse_.multiplier[lse_at] = std::exp(row.sink);
  }

  std::vector<Reference> finish(const AttentionResult& result) {
    out_.value = result.out;
    for (std::int64_t t = 0; t < tokens_; ++t)
      for (std::int64_t h = 0; h < heads_; ++h) {
        const double natural = result.lse[t * heads_ + h];
        lse_.value[h * tokens_ + t] = std::isinf(natural)   ? contract_.empty_lse
                                      : contract_.lse_base2 ? natural / std::log(2.0)
                                                            : natural;
      }
    std::vector<Reference> refs = {std::move(out_)};
    if (contract_.writes_lse) refs.push_back(std::move(lse_));
    return refs;
  }

 private:
  std::size_t rows() const { return static_cast<std::size_t>(tokens_ * heads_); }

  void prepare_out() {
    out_.name = "out";
    out_.type = contract_.out;
    out_.shape = {tokens_, heads_, v_dim_};
    out_.axes = {"token", "head", "dim"};
    out_.terms = attention_terms();
    out_.structured = inputs_.out;
    out_.budget.assign(rows() * v_dim_, 0.0);
    out_.term.assign(rows() * v_dim_, 0);
    out_.coarse.assign(rows() * v_dim_, 0);
    if (inputs_.out == Structured::kCounts) out_.multiplier.assign(rows() * v_dim_, 0.0);
    if (!want_sigma_) return;
    out_.sigma.assign(rows() * v_dim_, 0.0);
    // Errors of the scores act on all dimensions at once: where a few keys hold all the weight and nothing
    // coarser hides them (rounded scores, or no 16-bit rounding at all) the row's RMS has the spread of one
    // or two numbers, not of 64.
    const bool scores_rounded =
        contract_.score_roundings > 0 || contract_.q_scaled_rounded || contract_.k_rounded;
    out_.rms_limit = scores_rounded || contract_.out == DType::kF32 ? 3 : inputs_.heavy_tailed ? 2 : 1.5;
  }

  void prepare_lse() {
    lse_.name = "lse";
    lse_.shape = {heads_, tokens_};
    lse_.axes = {"head", "token"};
    lse_.structured =
        inputs_.lse == Structured::kExpCounts && contract_.lse_base2 ? Structured::kExp2Counts : inputs_.lse;
    lse_.value.assign(rows(), 0.0);
    lse_.budget.assign(rows(), 0.0);
    lse_.coarse.assign(rows(), 0);
    lse_.multiplier.assign(rows(), 0.0);
    if (want_sigma_) lse_.likely.assign(rows(), 0.0);
  }

  const AttentionContract& contract_;
  const AttentionInputs& inputs_;
  const std::int64_t heads_, tokens_, v_dim_;
  bool want_sigma_ = false;
  Reference out_, lse_;
};

}  // namespace

Expected<std::vector<std::vector<Reference>>> attention_references(
    const AttentionProblem& p, std::span<const AttentionContract> contracts,
    std::span<const AttentionInputs> inputs, int threads) {
  if (auto ok = check(p); !ok) return tl::unexpected(ok.error());
  std::vector<Collector> collectors;
  collectors.reserve(contracts.size());
  for (std::size_t k = 0; k < contracts.size(); ++k) collectors.emplace_back(p, contracts[k], inputs[k]);
  const auto result = attend(
      p,
      [&](const AttendedRow& row) {
        for (Collector& c : collectors) c.add(row);
      },
      threads);
  if (!result) return tl::unexpected(result.error());
  std::vector<std::vector<Reference>> all;
  for (Collector& c : collectors) all.push_back(c.finish(*result));
  return all;
}

Expected<std::vector<Reference>> attention_reference(const AttentionProblem& p, const AttentionContract& c,
                                                     const AttentionInputs& inputs, int threads) {
  auto all = attention_references(p, {&c, 1}, {&inputs, 1}, threads);
  if (!all) return tl::unexpected(all.error());
  return std::move(all->front());
}

}  // namespace assay::num
