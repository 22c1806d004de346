#include "oracle/indexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/random.h"

namespace assay::num {
namespace {

struct Data {
  std::vector<double> q, k, s, w;
  IndexerProblem problem;
};

Data data(std::uint64_t seed, std::int64_t tokens, std::int64_t heads, std::int64_t dim, std::int64_t keys) {
  Data d;
  Draw draw(seed);
  for (std::int64_t i = 0; i < tokens * heads * dim; ++i) d.q.push_back(draw.normal());
  for (std::int64_t i = 0; i < keys * dim; ++i) d.k.push_back(draw.normal());
  for (std::int64_t i = 0; i < keys; ++i) d.s.push_back(std::exp2(static_cast<double>(draw.between(-2, 2))));
  for (std::int64_t i = 0; i < tokens * heads; ++i) d.w.push_back(draw.normal());
  d.problem = {tokens,
               heads,
               dim,
               keys,
               d.q,
               d.k,
               d.s,
               d.w,
               std::vector<std::int64_t>(tokens, 0),
               std::vector<std::int64_t>(tokens, keys)};
  return d;
}

TEST(Indexer, ReluComesBeforeTheSumOverHeads) {
  const std::vector<double> q = {1, -1}, k = {2}, w = {1, 1};
  const IndexerProblem p{1, 2, 1, 1, q, k, {}, w, {0}, {1}};
  EXPECT_EQ(indexer_logits(p)->logits[0], 2);  // 2 + 0; the other order gives relu(2 - 2) = 0
}

TEST(Indexer, LinearInScalesAndWeightsAndBlindToTheOrderOfHeads) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Data d = data(seed, 2, 3, 8, 10);
    const auto base = indexer_logits(d.problem);
    Data scaled = data(seed, 2, 3, 8, 10);
    for (double& s : scaled.s) s *= 4;
    for (double& w : scaled.w) w *= -0.5;
    scaled.problem.k_scale = scaled.s;
    scaled.problem.w = scaled.w;
    const auto other = indexer_logits(scaled.problem);
    for (std::size_t i = 0; i < base->logits.size(); ++i)
      EXPECT_NEAR(other->logits[i], -2 * base->logits[i], 1e-12);
    Data turned = data(seed, 2, 3, 8, 10);
    for (int t = 0; t < 2; ++t) {
      std::rotate(turned.q.begin() + t * 24, turned.q.begin() + t * 24 + 8, turned.q.begin() + t * 24 + 24);
      std::rotate(turned.w.begin() + t * 3, turned.w.begin() + t * 3 + 1, turned.w.begin() + t * 3 + 3);
    }
    turned.problem.q = turned.q;
    turned.problem.w = turned.w;
    const auto same = indexer_logits(turned.problem);
    for (std::size_t i = 0; i < base->logits.size(); ++i)
      EXPECT_NEAR(same->logits[i], base->logits[i], 1e-12);
  }
}

TEST(Indexer, RangesAreMinusInfinityOutside) {
  Data d = data(3, 2, 1, 4, 6);
  d.problem.first = {0, 4};
  d.problem.last = {2, 6};
  const auto r = indexer_logits(d.problem);
  for (int j = 0; j < 6; ++j) {
    EXPECT_EQ(std::isinf(r->logits[j]), j >= 2);
    EXPECT_EQ(std::isinf(r->logits[6 + j]), j < 4);
  }
  d.problem.last = {2, 7};
  EXPECT_EQ(indexer_logits(d.problem).error().message, "ranges[1]: 4 to 7 of 6 keys");
}

TEST(Indexer, EndsOfTheTokensOfARequest) {
  EXPECT_EQ(visible_ends(9, 2), (std::vector<std::int64_t>{8, 9}));
  EXPECT_EQ(visible_ends(1, 3), (std::vector<std::int64_t>{0, 0, 1}));
}

TEST(TopK, AcceptsEveryRightAnswerAndNothingElse) {
  // Against all subsets of five scores with ties.
  const std::vector<double> scores = {3, 1, 3, 2, 3};
  for (int mask = 0; mask < 32; ++mask) {
    std::vector<std::int64_t> chosen;
    double sum = 0;
    for (int i = 0; i < 5; ++i)
      if (mask >> i & 1) chosen.push_back(i), sum += scores[i];
    const bool right = chosen.size() == 2 && sum == 6;
    chosen.resize(std::max<std::size_t>(chosen.size(), 2), -1);
    EXPECT_EQ(!topk_fault(scores, {}, 0, 5, 2, chosen).has_value(), right) << mask;
  }
}

TEST(TopK, RangesPaddingAndSlack) {
  const std::vector<double> scores = {9, 5, 4, 3, 9};
  const auto fault = [&](std::vector<std::int64_t> chosen, std::int64_t k, std::vector<double> slack = {}) {
    return topk_fault(scores, slack, 1, 4, k, chosen).value_or("");
  };
  EXPECT_EQ(fault({1, 2}, 2), "");
  EXPECT_EQ(fault({1, 3}, 2), "index 3 with score 3 selected, the 2th is 4");
  EXPECT_EQ(fault({1, 3}, 2, {0, 0, 0.6, 0.4, 0}), "");
  EXPECT_EQ(fault({1, 3}, 2, {0, 0, 0.5, 0.4, 0}), "index 3 with score 3 selected, the 2th is 4");
  EXPECT_EQ(fault({0, 1}, 2), "index 0 outside of [1, 4)");
  EXPECT_EQ(fault({2, 2}, 2), "index 2 twice");
  EXPECT_EQ(fault({1, 2, 3, -1, -1}, 5), "");
  EXPECT_EQ(fault({1, 2, -1, -1, -1}, 5), "2 selected where 3 of 3 keys are wanted");
}

}  // namespace
}  // namespace assay::num
