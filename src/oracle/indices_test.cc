#include "oracle/indices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "formats/random.h"

namespace assay::num {
namespace {

TEST(Indices, ByHand) {
  const IndexSpaces spaces{4, 5, {{2, 7}, {3}}, {0, 8}};
  const ConvertedIndex x = convert_index(spaces, 0, 6);
  EXPECT_EQ(x.slot, 7 * 4 + 2);
  EXPECT_EQ(x.row, 7 * 5 + 2);
  EXPECT_EQ(x.workspace, 6);
  EXPECT_EQ(convert_index(spaces, 1, 1).workspace, 9);
  for (std::int64_t hole : {-1, -7, 4, 1 << 30}) EXPECT_EQ(convert_index(spaces, 1, hole).slot, -1);
}

TEST(Indices, DistinctKeysHaveDistinctSlotsRowsAndWorkspaceRows) {
  const IndexSpaces spaces{3, 4, {{5, 0, 9}, {1, 2}}, {0, 9}};
  std::set<std::int64_t> slots, rows, workspace;
  for (std::int64_t r = 0; r < 2; ++r)
    for (std::int64_t j = 0; j < (r == 0 ? 9 : 6); ++j) {
      const ConvertedIndex x = convert_index(spaces, r, j);
      EXPECT_TRUE(slots.insert(x.slot).second && rows.insert(x.row).second &&
                  workspace.insert(x.workspace).second);
    }
}

TEST(Batch, ByHand) {
  const std::vector<std::int64_t> q = {2, 7, 1, 0, 3};
  const auto s = split_batch(q, 2);
  EXPECT_EQ(s->order, (std::vector<std::int64_t>{0, 2, 1, 4}));
  EXPECT_EQ(s->decodes, 2);
  EXPECT_EQ(s->decode_tokens, 3);
  EXPECT_EQ(s->prefill_tokens, 10);
  EXPECT_EQ(s->query_start, (std::vector<std::int64_t>{0, 2, 3, 10, 13}));
  EXPECT_EQ(s->tokens, (std::vector<std::int64_t>{0, 1, 9, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12}));
  EXPECT_EQ(split_batch(std::vector<std::int64_t>{1, -2}, 1).error().message, "q_lens[1]: -2");
}

TEST(Batch, EveryTokenOnceAndDecodesFirst) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Draw draw(seed);
    std::vector<std::int64_t> q;
    std::int64_t total = 0;
    for (std::int64_t n = draw.between(0, 9); n > 0; --n) total += q.emplace_back(draw.between(0, 6));
    const std::int64_t threshold = draw.between(0, 6);
    const auto s = split_batch(q, threshold);
    auto tokens = s->tokens;
    std::sort(tokens.begin(), tokens.end());
    ASSERT_EQ(static_cast<std::int64_t>(tokens.size()), total);
    for (std::int64_t i = 0; i < total; ++i) ASSERT_EQ(tokens[i], i);
    for (std::size_t i = 0; i < s->order.size(); ++i)
      ASSERT_EQ(q[s->order[i]] <= threshold, static_cast<std::int64_t>(i) < s->decodes);
  }
}

}  // namespace
}  // namespace assay::num
