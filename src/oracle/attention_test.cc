#include "oracle/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/testing.h"

namespace assay::num {
namespace {

using testing::fill;
using testing::Held;
using testing::random_problem;

constexpr double kInf = std::numeric_limits<double>::infinity();

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;  // infinities included
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << "element " << i;
  }
}

TEST(Attention, BlockedEqualsPlain) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const auto held = random_problem(seed);
    const auto fast = attend(held->problem), plain = attend_plain(held->problem);
    ASSERT_TRUE(fast && plain) << seed << " " << (fast ? "" : fast.error().message);
    expect_near(fast->out, plain->out, 1e-12);
    expect_near(fast->lse, plain->lse, 1e-12);
  }
}

TEST(Attention, SelectedPositionsEqualPlain) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto held = random_problem(seed);
    AttentionProblem& p = held->problem;
    Draw draw(seed, 9);
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(p.q_lens.size()); ++r)
      for (std::int64_t i = 0; i < p.q_lens[r]; ++i) {
        p.selected.emplace_back();
        for (int n = 0; n < 12; ++n) p.selected.back().push_back(draw.between(-2, p.kv_lens[r] + 1));
      }
    const auto fast = attend(p), plain = attend_plain(p);
    ASSERT_TRUE(fast && plain);
    expect_near(fast->out, plain->out, 1e-12);
    expect_near(fast->lse, plain->lse, 1e-12);
  }
}

TEST(Attention, ZeroQueriesCountTheVisibleKeys) {
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    const auto held = random_problem(seed);
    AttentionProblem& p = held->problem;
    std::fill(held->q.begin(), held->q.end(), std::byte{0});
    p.sink.clear();
    p.alibi.clear();
    const auto result = attend(p);
    ASSERT_TRUE(result);
    std::int64_t token = 0;
    const std::int64_t heads = p.q.shape()[1];
    for (std::size_t r = 0; r < p.q_lens.size(); ++r)
      for (std::int64_t i = 0; i < p.q_lens[r]; ++i, ++token) {
        const bool causal = p.causal.empty() ? p.mask.causal : p.causal[r];
        const KeyRange seen = visible_keys(p.mask, causal, p.q_lens[r], p.kv_lens[r], i);
        EXPECT_NEAR(std::exp(result->lse[token * heads]), static_cast<double>(seen.last - seen.first), 1e-11);
      }
  }
}

// One request with all keys visible, so that the algebraic identities are easy to state.
std::unique_ptr<Held> simple(std::uint64_t seed, std::int64_t keys) {
  auto held = std::make_unique<Held>();
  AttentionProblem& p = held->problem;
  p.q_lens = {2};
  p.kv_lens = {keys};
  p.q = fill(held->q, DType::kF64, {2, 4, 16}, seed);
  p.kv.k = fill(held->k, DType::kF64, {keys, 1, 2, 16}, seed + 1);
  p.kv.v = fill(held->v, DType::kF64, {keys, 1, 2, 8}, seed + 2);
  return held;
}

TEST(Attention, PermutingKeysChangesNothing) {
  const auto held = simple(5, 37);
  const auto before = attend(held->problem);
  std::vector<std::int32_t> pages(37);
  for (int i = 0; i < 37; ++i) pages[i] = (i * 5 + 3) % 37;
  held->problem.kv.table = {pages};
  const auto after = attend(held->problem);
  expect_near(before->out, after->out, 1e-13);
  expect_near(before->lse, after->lse, 1e-13);
}

TEST(Attention, AddingAConstantToAllScoresShiftsOnlyTheLse) {
  const auto held = simple(6, 20);
  // Key dimension 0 is 1 everywhere, so query dimension 0 is a common constant of all scores.
  for (std::int64_t j = 0; j < 20; ++j)
    for (std::int64_t h = 0; h < 2; ++h) held->problem.kv.k.set({j, 0, h, 0}, 1);
  for (double c : {0.0, 3.5, -200.0}) {
    for (std::int64_t t = 0; t < 2; ++t)
      for (std::int64_t h = 0; h < 4; ++h) held->problem.q.set({t, h, 0}, c);
    static AttentionResult base;
    const auto result = attend(held->problem);
    if (c == 0) base = *result;
    expect_near(result->out, base.out, 1e-12);
    for (std::size_t i = 0; i < base.lse.size(); ++i) EXPECT_NEAR(result->lse[i] - base.lse[i], c, 1e-12);
  }
}

TEST(Attention, OneKeyGivesItsValue) {
  const auto held = simple(7, 1);
  const auto result = attend(held->problem);
  for (std::int64_t t = 0; t < 2; ++t)
    for (std::int64_t h = 0; h < 4; ++h)
      for (std::int64_t d = 0; d < 8; ++d)
        EXPECT_EQ(result->out[(t * 4 + h) * 8 + d], held->problem.kv.v.at({0, 0, h / 2, d}));
}

TEST(Attention, SinkOfMinusInfinityIsNoSinkAndASinkIsAKeyOfValueZero) {
  const auto held = simple(8, 9);
  const auto without = attend(held->problem);
  held->problem.sink.assign(4, -kInf);
  expect_near(attend(held->problem)->out, without->out, 0);
  held->problem.sink.assign(4, 0.7);
  const auto with = attend(held->problem);
  for (std::size_t row = 0; row < 8; ++row) {
    const double all = std::exp(without->lse[row]) + std::exp(0.7);
    EXPECT_NEAR(with->lse[row], std::log(all), 1e-13);
    EXPECT_NEAR(with->out[row * 8], without->out[row * 8] * std::exp(without->lse[row]) / all, 1e-13);
  }
}

// By hand: zero scores, V = 1, 2, 4, 8, 16.
TEST(Attention, CausalCornersByHand) {
  const auto held = simple(9, 5);
  std::fill(held->q.begin(), held->q.end(), std::byte{0});
  for (std::int64_t j = 0; j < 5; ++j) held->problem.kv.v.set({j, 0, 0, 0}, 1 << j);
  held->problem.mask.causal = true;
  auto result = attend(held->problem);
  EXPECT_NEAR(result->out[0], 3.75, 1e-14);
  EXPECT_NEAR(result->out[4 * 8], 6.2, 1e-14);
  held->problem.mask.corner = Corner::kUpperLeft;
  result = attend(held->problem);
  EXPECT_NEAR(result->out[0], 1, 1e-14);
  EXPECT_NEAR(result->out[4 * 8], 1.5, 1e-14);
}

TEST(Attention, BadFieldsAreNamed) {
  const auto message = [](auto change) {
    const auto held = simple(1, 4);
    change(held->problem);
    const auto result = attend(held->problem);
    return result ? std::string("accepted") : result.error().message;
  };
  EXPECT_EQ(message([](auto&) {}), "accepted");
  EXPECT_EQ(message([](auto& p) { p.q_lens = {3}; }), "q_lens: their sum is 3, q has 2 tokens");
  EXPECT_EQ(message([](auto& p) { p.kv_lens = {4, 1}; }), "kv_lens: 2 requests where q_lens has 1");
  EXPECT_EQ(message([](auto& p) { p.kv_lens = {-1}; }), "kv_lens[0]: -1");
  EXPECT_EQ(message([](auto& p) { p.kv_lens = {5}; }), "kv_lens[0]: 5 blocks of 4");
  EXPECT_EQ(message([](auto& p) { p.kv.table = {{0, 1, 9, 2}}; }), "block_table[0][2]: page 9 of 4");
  EXPECT_EQ(message([](auto& p) { p.kv.table = {{0}}; }), "block_table[0]: 1 pages where 4 are needed");
  EXPECT_EQ(message([](auto& p) { p.alibi = {1}; }), "alibi: 1 slopes for 4 heads");
  EXPECT_EQ(message([](auto& p) { p.sink = {1}; }), "sink: 1 logits for 4 heads");
  EXPECT_EQ(message([](auto& p) { p.softcap = -1; }), "softcap: negative or NaN");
  EXPECT_EQ(message([](auto& p) { p.scale = NAN; }), "scale: nan is no finite number");
  EXPECT_EQ(message([](auto& p) { p.alibi = {0, NAN, 0, 0}; }), "alibi[1]: nan is no finite number");
  EXPECT_EQ(message([](auto& p) { p.sink = {0, 0, 0, INFINITY}; }), "sink[3]: inf");
  EXPECT_EQ(message([](auto& p) {
              p.kv.v_scale.head = {1, 2, 3};
            }),
            "v_scale: 3 elements where 2 are needed");
  EXPECT_EQ(message([](auto& p) {
              p.q.set({1, 2, 5}, NAN);
            }),
            "q[token 1][head 2][dim 5]: nan is no finite number");
  EXPECT_EQ(message([](auto& p) {
              p.kv.k.set({3, 0, 0, 1}, NAN);
            }),
            "k[request 0][position 3][head 0][dim 1]: no finite number");
  EXPECT_EQ(message([](auto& p) {
              p.kv.v.set({2, 0, 0, 0}, NAN);
            }),
            "v[request 0][position 2][head 0][dim 0]: no finite number");
}

TEST(Attention, NothingToDo) {
  Held held;
  AttentionProblem& p = held.problem;
  p.q = fill(held.q, DType::kF32, {0, 2, 8}, 1);
  p.kv.k = fill(held.k, DType::kF32, {0, 4, 2, 8}, 1);
  p.kv.v = fill(held.v, DType::kF32, {0, 4, 2, 0}, 1);
  const auto result = attend(p);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->out.empty());
}

}  // namespace
}  // namespace assay::num
