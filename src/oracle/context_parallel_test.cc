#include "oracle/context_parallel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/merge.h"
#include "oracle/testing.h"

namespace assay::num {
namespace {

TEST(ContextParallel, ByHand) {
  EXPECT_EQ(owned_positions({2, 1}, 5, 0), (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(owned_positions({2, 4}, 6, 0), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(owned_positions({2, 4}, 6, 1), (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(local_length({2, 1}, 33, 0), 17);
  EXPECT_EQ(local_length({2, 1}, 33, 1), 16);
  // Three new tokens of a request of five keys: rank 1 owns keys 1 and 3.
  EXPECT_EQ(local_causal_lengths({2, 1}, 5, 3, 1), (std::vector<std::int64_t>{1, 2, 2}));
}

TEST(ContextParallel, EveryKeyHasOneOwnerAndLengthsCountThem) {
  for (std::int64_t world : {1, 2, 3, 8})
    for (std::int64_t interleave : {1, 4, 16})
      for (std::int64_t n = 0; n < 150; ++n) {
        const ContextParallel cp{world, interleave};
        std::int64_t sum = 0;
        for (std::int64_t rank = 0; rank < world; ++rank) {
          const auto owned = static_cast<std::int64_t>(owned_positions(cp, n, rank).size());
          ASSERT_EQ(local_length(cp, n, rank), owned);
          sum += owned;
        }
        ASSERT_EQ(sum, n);
      }
}

// Ranks that attend to what they own, with their local causal lengths, give the whole when merged.
TEST(ContextParallel, RanksTogetherAreTheWhole) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto held = testing::random_problem(seed);
    AttentionProblem p = held->problem;
    p.sink.clear();
    p.causal.clear();
    p.mask = Mask{true, Corner::kBottomRight, -1, -1};
    const auto whole = attend(p);
    const ContextParallel cp{1 + static_cast<std::int64_t>(seed % 4),
                             1 + static_cast<std::int64_t>(seed % 3) * 3};
    std::vector<AttentionState> ranks;
    for (std::int64_t rank = 0; rank < cp.world; ++rank) {
      AttentionProblem local = p;
      for (std::size_t r = 0; r < p.q_lens.size(); ++r) {
        const auto owned = owned_positions(cp, p.kv_lens[r], rank);
        for (std::int64_t n : local_causal_lengths(cp, p.kv_lens[r], p.q_lens[r], rank))
          local.selected.emplace_back(owned.begin(), owned.begin() + n);
      }
      const auto part = attend(local);
      ASSERT_TRUE(part);
      ranks.push_back({part->out, part->lse});
    }
    const auto merged =
        merge_states(ranks, static_cast<std::int64_t>(whole->lse.size()), p.kv.v.shape()[3], false);
    for (std::size_t i = 0; i < whole->out.size(); ++i)
      ASSERT_NEAR(merged->out[i], whole->out[i], 1e-12) << seed;
  }
}

}  // namespace
}  // namespace assay::num
