#include "oracle/merge.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "oracle/testing.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

AttentionState state(std::vector<double> out, std::vector<double> lse) {
  return {std::move(out), std::move(lse)};
}

TEST(Merge, TwoEmptyStatesAreEmpty) {
  for (double a : {-kInf, kInf})
    for (double b : {-kInf, kInf}) {
      const AttentionState states[] = {state({kNan}, {a}), state({7}, {b})};
      const auto m = merge_states(states, 1, 1, false);
      ASSERT_TRUE(m);
      EXPECT_EQ(m->out[0], 0);
      EXPECT_EQ(m->lse[0], -kInf);
    }
}

TEST(Merge, AnEmptyStateIsNeutralWhateverItHolds) {
  for (int place = 0; place < 3; ++place) {
    std::vector<AttentionState> states;
    for (int i = 0; i < 3; ++i)
      states.push_back(i == place ? state({kNan}, {-kInf}) : state({2.0 + i}, {0.5 * i}));
    std::vector<AttentionState> others;
    for (int i = 0; i < 3; ++i)
      if (i != place) others.push_back(states[i]);
    const auto with = merge_states(states, 1, 1, false), without = merge_states(others, 1, 1, false);
    EXPECT_EQ(with->out, without->out);
    EXPECT_EQ(with->lse, without->lse);
  }
}

// Prefix of 3 keys of value 0, suffix of one key of value 1, all logits 0: a quarter. The wrong bases give
// other numbers.
TEST(Merge, TheBaseDecides) {
  const AttentionState natural[] = {state({0}, {std::log(3.0)}), state({1}, {0})};
  EXPECT_NEAR(merge_states(natural, 1, 1, false)->out[0], 0.25, 1e-15);
  EXPECT_NEAR(merge_states(natural, 1, 1, true)->out[0], 0.3183, 1e-4);
  const AttentionState base2[] = {state({0}, {std::log2(3.0)}), state({1}, {0})};
  EXPECT_NEAR(merge_states(base2, 1, 1, true)->out[0], 0.25, 1e-15);
  EXPECT_NEAR(merge_states(base2, 1, 1, false)->out[0], 0.1701, 1e-4);
}

TEST(Merge, VeryNegativeScoresAreMergedLikeAnyOthers) {
  const AttentionState states[] = {state({1}, {-1e6}), state({0}, {-1e6 - 1})};
  EXPECT_NEAR(merge_states(states, 1, 1, false)->out[0], 0.7310585786, 1e-9);
}

TEST(Merge, OrderAndGroupingDoNotMatter) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Draw draw(seed);
    std::vector<AttentionState> states;
    for (int i = 0; i < 4; ++i) {
      AttentionState s;
      for (int r = 0; r < 3; ++r) s.lse.push_back(draw.chance(0.2) ? -kInf : 3 * draw.normal());
      for (int e = 0; e < 6; ++e) s.out.push_back(draw.normal());
      states.push_back(s);
    }
    const auto all = merge_states(states, 3, 2, false);
    const std::vector<AttentionState> reversed(states.rbegin(), states.rend());
    const auto other = merge_states(reversed, 3, 2, false);
    const std::vector<AttentionState> left = {states[0], states[1]}, right = {states[2], states[3]};
    const std::vector<AttentionState> halves = {*merge_states(left, 3, 2, false),
                                                *merge_states(right, 3, 2, false)};
    const auto grouped = merge_states(halves, 3, 2, false);
    for (int e = 0; e < 6; ++e) {
      EXPECT_NEAR(all->out[e], other->out[e], 1e-13);
      EXPECT_NEAR(all->out[e], grouped->out[e], 1e-13);
    }
  }
}

// Attention over parts of the keys, merged, is attention over all of them.
TEST(Merge, SplitAndMergeIsTheWhole) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto held = testing::random_problem(seed);
    AttentionProblem p = held->problem;
    p.sink.clear();
    const auto whole = attend(p);
    ASSERT_TRUE(whole);
    std::vector<AttentionState> parts;
    for (int part = 0; part < 3; ++part) {
      AttentionProblem q = p;
      std::int64_t token = 0;
      for (std::size_t r = 0; r < p.q_lens.size(); ++r)
        for (std::int64_t i = 0; i < p.q_lens[r]; ++i, ++token) {
          const bool causal = p.causal.empty() ? p.mask.causal : p.causal[r];
          const KeyRange seen = visible_keys(p.mask, causal, p.q_lens[r], p.kv_lens[r], i);
          q.selected.emplace_back();
          for (std::int64_t j = seen.first; j < seen.last; ++j)
            if (j % 3 == part) q.selected.back().push_back(j);
        }
      auto a = attend(q);
      ASSERT_TRUE(a);
      parts.push_back({a->out, a->lse});
    }
    const auto rows = static_cast<std::int64_t>(whole->lse.size());
    const auto merged = merge_states(parts, rows, p.kv.v.shape()[3], false);
    for (std::size_t e = 0; e < whole->out.size(); ++e) ASSERT_NEAR(merged->out[e], whole->out[e], 1e-12);
    for (std::int64_t r = 0; r < rows; ++r) {
      if (!std::isfinite(whole->lse[r])) continue;
      ASSERT_NEAR(merged->lse[r], whole->lse[r], 1e-12);
    }
  }
}

TEST(Merge, BadInputIsNamed) {
  const AttentionState one[] = {state({1, 2}, {0})};
  EXPECT_EQ(merge_states(one, 1, 1, false).error().message, "out[0]: 2 elements where 1 are needed");
  const AttentionState two[] = {state({1}, {kNan})};
  EXPECT_EQ(merge_states(two, 1, 1, false).error().message, "lse[0][0]: NaN");
  EXPECT_TRUE(merge_states({}, 0, 0, false)->out.empty());
  EXPECT_EQ(merge_states({}, 1, 1, false)->lse[0], -kInf);  // no state at all
}

}  // namespace
}  // namespace assay::num
