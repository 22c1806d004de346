#include "judge/attention_budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/testing.h"

namespace assay::num {
namespace {

AttentionContract contract(DType p) {
  AttentionContract c;
  c.name = "test";
  c.p = p;
  c.tile = 64;
  return c;
}

// All rows of a problem that have keys.
template <class F>
void each_row(const AttentionProblem& p, F&& f) {
  ASSERT_TRUE(attend(
      p, [&](const AttendedRow& row) { f(row); }, 1));
}

// The budget's parts move as their causes do: what is rounded more coarsely may err more.
TEST(AttentionBudget, GrowsWithEveryRounding) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto held = testing::random_problem(seed);
    each_row(held->problem, [&](const AttendedRow& row) {
      AttentionContract plain = contract(DType::kF32);
      plain.out = DType::kF32;
      const RowBudget base = row_budget(row, plain, false);
      const auto larger = [&](auto change) {
        AttentionContract c = plain;
        change(c);
        const RowBudget b = row_budget(row, c, false);
        for (std::size_t d = 0; d < b.out.size(); ++d) EXPECT_GE(b.out[d], base.out[d]);
        EXPECT_GE(b.lse, base.lse);
      };
      larger([](auto& c) { c.out = DType::kBf16; });
      larger([](auto& c) { c.p = DType::kBf16; });
      larger([](auto& c) { c.p = DType::kF16; });
      larger([](auto& c) { c.q_scaled_rounded = true; });
      larger([](auto& c) { c.score_roundings = 1; });
      larger([](auto& c) { c.v_type = DType::kBf16; });
      larger([](auto& c) { c.splits = 4, c.partial = DType::kBf16; });
      larger([](auto& c) { c.tile = 1; });
    });
  }
}

// One key: the weight is 1 exactly, so only the output's rounding and a few u32 are left.
TEST(AttentionBudget, OneKeyLeavesTheRoundingOfTheOutput) {
  testing::Held held;
  AttentionProblem& p = held.problem;
  p.q_lens = {1};
  p.kv_lens = {1};
  p.q = testing::fill(held.q, DType::kBf16, {1, 1, 16}, 1);
  p.kv.k = testing::fill(held.k, DType::kBf16, {1, 1, 1, 16}, 2);
  p.kv.v = testing::fill(held.v, DType::kBf16, {1, 1, 1, 16}, 3);
  each_row(p, [&](const AttendedRow& row) {
    const RowBudget b = row_budget(row, contract(DType::kF32), false);
    for (int d = 0; d < 16; ++d) {
      const double v = std::fabs(row.v[d]);
      EXPECT_GE(b.out[d], 0x1p-8 * v);
      EXPECT_LE(b.out[d], (0x1p-8 + 0x1p-18) * v + 1e-30);
    }
  });
}

// Adversaries that keep the contract, at its edge: every weight is rounded the worst way for one output. They
// are inside; weights that are wrong by four times their unit are outside.
TEST(AttentionBudget, WorstRoundingOfWeightsIsInsideFourTimesIsOutside) {
  int outside = 0, rows = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto held = testing::random_problem(seed);
    AttentionContract c = contract(DType::kBf16);
    c.out = DType::kF32;
    each_row(held->problem, [&](const AttendedRow& row) {
      if (row.keys == 0) return;  // a sink alone
      const RowBudget b = row_budget(row, c, false);
      for (std::int64_t d = 0; d < row.v_dim; ++d) {
        double moved = 0;
        for (std::int64_t j = 0; j < row.keys; ++j)
          moved += 0x1p-8 * row.weight[j] * std::fabs(row.v[j * row.v_dim + d]);
        EXPECT_LE(moved, b.out[d]);
        ++rows;
        outside += 4 * moved > b.out[d];
      }
    });
  }
  EXPECT_GT(outside, rows * 9 / 10);
}

TEST(AttentionBudget, ScoresWrongByTheirBudgetStayInsideTwiceThatDoesNot) {
  int outside = 0, rows = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto held = testing::random_problem(seed);
    held->problem.sink.clear();
    AttentionContract c = contract(DType::kF32);
    c.out = DType::kF32;
    c.score_roundings = 1;
    held->problem.softcap = 0;
    held->problem.alibi.clear();
    each_row(held->problem, [&](const AttendedRow& row) {
      if (row.keys < 2) return;
      const RowBudget b = row_budget(row, c, false);
      // Scores rounded to bf16 the worst way for one output dimension: up where the value lies above the
      // output.
      for (double times : {1.0, 4.0}) {
        double top = 0, sum = 0;
        for (std::int64_t j = 0; j < row.keys; ++j) {
          const double sign = row.v[j * row.v_dim] > row.out[0] ? 1 : -1;
          const double w = row.weight[j] * std::exp(times * sign * 0x1p-8 * std::fabs(row.score[j]));
          top += w * row.v[j * row.v_dim];
          sum += w;
        }
        const double error = std::fabs(top / sum - row.out[0]);
        if (times == 1.0) {
          EXPECT_LE(error, b.out[0]);
        } else {
          outside += error > b.out[0];
          ++rows;
        }
      }
    });
  }
  EXPECT_GT(outside, rows / 2);
}

// One key of weight nearly 1 and forty thousand of less than half a unit of it: a chain in binary32 swallows
// them all. That is honest rounding, far more than independent errors would add up to, and is allowed for.
TEST(AttentionBudget, ASumThatSwallowsSmallWeightsIsHonest) {
  constexpr std::int64_t kKeys = 40001;
  testing::Held held;
  AttentionProblem& p = held.problem;
  p.q_lens = {1};
  p.kv_lens = {kKeys};
  p.q = testing::fill(held.q, DType::kF32, {1, 1, 1}, 1);
  p.kv.k = testing::fill(held.k, DType::kF32, {1, kKeys, 1, 1}, 2, 0);
  p.kv.v = testing::fill(held.v, DType::kF32, {1, kKeys, 1, 64}, 3);
  p.q.set({0, 0, 0}, 1);
  p.kv.k.set({0, 0, 0, 0}, 17.5);  // e^-17.5 is 0.43 units of 2^-24
  AttentionContract c = contract(DType::kF32);
  c.out = DType::kF32;
  each_row(p, [&](const AttendedRow& row) {
    float sum = 0;
    for (std::int64_t j = 0; j < kKeys; ++j) sum += static_cast<float>(std::exp(row.score[j] - row.max));
    EXPECT_EQ(sum, 1.0f);
    const double error = std::log(row.sum);
    const RowBudget b = row_budget(row, c, true);
    EXPECT_LE(error, b.likely_lse);
    EXPECT_LE(error, b.lse);
    EXPECT_GT(error, b.likely_lse / 2);
    for (std::int64_t d = 0; d < 64; ++d) EXPECT_LE(std::fabs(row.out[d]) * error, 1.5 * b.sigma[d]);
  });
}

TEST(AttentionBudget, EmptyRowsAreTheSentinelExactly) {
  testing::Held held;
  AttentionProblem& p = held.problem;
  p.q_lens = {1};
  p.kv_lens = {0};
  p.q = testing::fill(held.q, DType::kBf16, {1, 2, 16}, 1);
  p.kv.k = testing::fill(held.k, DType::kBf16, {1, 1, 1, 16}, 2);
  p.kv.v = testing::fill(held.v, DType::kBf16, {1, 1, 1, 16}, 3);
  AttentionContract c = contract(DType::kBf16);
  c.empty_lse = std::numeric_limits<double>::infinity();
  const auto refs = attention_reference(p, c, {}, 1);
  ASSERT_TRUE(refs);
  EXPECT_EQ((*refs)[1].value[0], c.empty_lse);
  for (double b : (*refs)[0].budget) EXPECT_EQ(b, 0);
}

}  // namespace
}  // namespace assay::num
