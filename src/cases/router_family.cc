// ops.router: softmax or sigmoid, the choice of experts, their weights.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases/op_helpers.h"
#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "oracle/indexer.h"
#include "oracle/moe.h"

namespace assay::num {
namespace {

// --------------------------------------------------------------------------------------------------------
enum RouterBug {
  kNoneR,
  kNotRenormalised,
  kOtherScore,
  kBiasInWeight,
  kBiasIgnored,
  kScaleDropped,
  kLastExpertR,
  kDuplicateId,
  kTopOnly
};

struct RouterState {
  InputSet set;
  std::int64_t tokens = 0, experts = 0, topk = 0;
  bool softmax = true, renormalise = true;
  double scale = 1;
  std::vector<double> logits, bias;

  static Expected<std::shared_ptr<RouterState>> make(const Case& c) {
    auto s = std::make_shared<RouterState>();
    s->tokens = c.integer("tokens");
    s->experts = c.integer("experts");
    s->topk = c.integer("topk");
    if (s->topk > s->experts) return fail("topk: more than experts");
    if (auto ok = expect_few("tokens, experts", {s->tokens, s->experts}); !ok)
      return tl::unexpected(ok.error());
    s->softmax = c.word("score") == "softmax";
    s->renormalise = c.word("renormalise") == "on";
    s->scale = static_cast<float>(c.real("scale"));
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool flat = c.word("fill") == "flat";
    s->logits = s->set.add("logits", DType::kF32, {s->tokens, s->experts},
                           [&](std::int64_t i) { return (flat ? 0.002 : 2) * Random(seed, 1).normal(i); });
    if (c.word("bias") == "on")
      s->bias = s->set.add("bias", DType::kF32, {s->experts},
                           [&](std::int64_t e) { return 0.2 * Random(seed, 2).normal(e); });
    return s;
  }

  double slack(double score) const {
    return score * (0x1p-20 + static_cast<double>(experts) * kU32) + 0x1p-24;
  }

  // Weights are compared in the order of their size, since equal scores may come in either order; the chosen
  // experts by topk_fault. β: exponentials 2^-22 and the logits' magnitude in u32, the sums experts + topk
  // roundings.
  Expected<std::vector<Reference>> references(std::size_t) const {
    Reference w = rows_reference("weights", DType::kF32, tokens, topk);
    Reference ids;
    ids.name = "ids";
    ids.type = DType::kI32;
    ids.shape = {tokens, topk};
    ids.axes = {"token", "place"};
    auto choices = std::make_shared<std::vector<std::vector<double>>>();
    for (std::int64_t t = 0; t < tokens; ++t) {
      const auto r = route_topk({&logits[t * experts], static_cast<std::size_t>(experts)}, bias, topk,
                                softmax, renormalise, scale);
      // Where the last chosen expert and the next one are as good as equal, either may be chosen: weights
      // can't be judged.
      auto ranked = r.choice;
      std::sort(ranked.rbegin(), ranked.rend());
      const bool tie =
          topk < experts && ranked[topk - 1] - ranked[topk] <= 2 * slack(std::fabs(ranked[topk - 1]) + 1);
      auto sorted = r.weights;
      std::sort(sorted.rbegin(), sorted.rend());
      for (double x : sorted) {
        w.value.push_back(x);
        w.budget.push_back(tie ? std::numeric_limits<double>::infinity()
                               : std::fabs(x) * (0x1p-20 + static_cast<double>(experts + topk + 24) * kU32) +
                                     0x1p-126);
      }
      choices->push_back(r.choice);
    }
    const std::int64_t k = topk, n = experts;
    const auto slack_of = [this](double s) { return slack(s); };
    ids.rule = [choices, k, n, slack_of](const Actual& a) -> std::optional<std::string> {
      for (std::size_t t = 0; t < choices->size(); ++t) {
        std::vector<std::int64_t> chosen;
        for (std::int64_t i = 0; i < k; ++i) chosen.push_back(static_cast<std::int64_t>(a.value[t * k + i]));
        std::vector<double> slack_values;
        for (double s : (*choices)[t]) slack_values.push_back(slack_of(std::fabs(s) + 1));
        if (auto why = topk_fault((*choices)[t], slack_values, 0, n, k, chosen))
          return "token " + std::to_string(t) + ": " + *why;
      }
      return std::nullopt;
    };
    return std::vector<Reference>{std::move(w), std::move(ids)};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<RouterBug>(mutant);
    Actual w{"weights", DType::kF32, {tokens, topk}, std::vector<double>(tokens * topk)},
        ids{"ids", DType::kI32, {tokens, topk}, std::vector<double>(tokens * topk)};
    for (std::int64_t t = 0; t < tokens; ++t)
      route(t, bug, w.value.data() + t * topk, ids.value.data() + t * topk);
    return {w, ids};
  }

  void route(std::int64_t t, RouterBug bug, double* weights, double* ids) const {
    std::vector<float> score;
    float top = -1e30f, sum = 0, total = 0;
    for (std::int64_t e = 0; e < experts; ++e)
      top = std::max(top, static_cast<float>(logits[t * experts + e]));
    const bool soft = softmax != (bug == kOtherScore);
    for (std::int64_t e = 0; e < experts; ++e) {
      const auto x = static_cast<float>(logits[t * experts + e]);
      score.push_back(soft ? std::exp(x - top) : 1 / (1 + std::exp(-x)));
      sum += score.back();
    }
    if (soft)
      for (float& s : score) s /= sum;
    std::vector<std::int64_t> order;
    for (std::int64_t e = 0; e < experts - (bug == kLastExpertR && experts > topk); ++e) order.push_back(e);
    const auto choice = [&](std::int64_t e) {
      return score[e] + (bias.empty() || bug == kBiasIgnored ? 0.0f : static_cast<float>(bias[e]));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return choice(a) > choice(b); });
    if (bug == kDuplicateId && topk > 1) order[topk - 1] = order[0];
    std::vector<float> w;
    for (std::int64_t i = 0; i < topk; ++i)
      w.push_back(bug == kBiasInWeight ? choice(order[i]) : score[order[i]]), total += w.back();
    for (std::int64_t i = 0; i < topk; ++i) {
      if (renormalise != (bug == kNotRenormalised)) w[i] /= bug == kTopOnly ? total - w[0] + 1e-9f : total;
      if (bug != kScaleDropped) w[i] *= static_cast<float>(scale);
      ids[i] = static_cast<double>(order[i]);
    }
    std::sort(w.rbegin(), w.rend());
    std::copy(w.begin(), w.end(), weights);
  }
};

}  // namespace

Family router_family() {
  Family f;
  f.name = "ops.router";
  f.component = "ops";
  f.schema = {f.name,
              {{"score", KeyKind::kWord, "softmax", 0, 0, {"softmax", "sigmoid"}, ""},
               {"renormalise", KeyKind::kWord, "on", 0, 0, {"on", "off"}, ""},
               {"bias", KeyKind::kWord, "off", 0, 0, {"off", "on"}, "of the choice alone"},
               {"tokens", KeyKind::kInt, "6", 0, 1 << 18, {}, ""},
               count_key("experts", "16"),
               count_key("topk", "4"),
               {"scale", KeyKind::kReal, "1", 0.001, 1000, {}, ""},
               {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "flat"}, "flat: logits near each other"},
               seed_key()}};
  f.contracts = {"f32"};
  f.mutants = {{"not-renormalised", "router weights not renormalised"},
               {"other-score", "sigmoid for softmax, or the reverse"},
               {"bias-in-weight", "bias of the choice in the weights"},
               {"bias-ignored", "bias ignored"},
               {"scale-dropped", "routed scale dropped"},
               {"last-expert", "last expert never chosen"},
               {"duplicate-id", "one expert twice"},
               {"sum-without-first", "first weight left out of the sum"}};
  const std::string n = "ops.router";
  f.smoke = {n + " seed=1", n + " score=sigmoid bias=on scale=2.5 seed=2", n + " renormalise=off seed=3",
             n + " experts=8 topk=8 seed=4"};
  f.plain = {n + " tokens=1 experts=64 topk=60 seed=5",
             n + " tokens=1 experts=256 topk=8 scale=1.004 seed=6",
             n + " tokens=1 experts=256 topk=250 bias=on seed=7",
             n + " tokens=1 experts=8 topk=2 bias=on seed=8",
             n + " experts=64 tokens=1 seed=9",
             n + " tokens=1 experts=2 topk=2 bias=on seed=15",
             n + " tokens=1 experts=2 topk=2 bias=on seed=67",
             n + " tokens=1 experts=2 topk=2 bias=on seed=11",
             n + " tokens=1 experts=2 topk=2 bias=on seed=8",
             n + " tokens=1 experts=8 topk=1 seed=12",
             n + " fill=flat",
             n + " fill=flat seed=1"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "score", d.pick({"softmax", "sigmoid"}));
    set_key(c, "renormalise", d.pick({"on", "off"}));
    set_key(c, "bias", d.pick({"on", "off"}));
    set_key(c, "tokens", d.pick({"0", "1", "7"}));
    set_key(c, "experts", d.pick({"8", "64", "256"}));
    set_key(c, "topk", d.pick({"1", "4", "8"}));
    set_key(c, "scale", d.pick({"1", "2.5"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<RouterState>();
  return f;
}

}  // namespace assay::num
