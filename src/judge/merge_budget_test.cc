#include "judge/merge_budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/random.h"
#include "formats/small_float.h"
#include "judge/accumulation.h"

namespace assay::num {
namespace {

std::vector<AttentionState> states(std::uint64_t seed, int count, std::int64_t rows, std::int64_t dim) {
  std::vector<AttentionState> all;
  for (int s = 0; s < count; ++s) {
    AttentionState state;
    for (std::int64_t r = 0; r < rows; ++r)
      state.lse.push_back(static_cast<float>(3 * Random(seed, s).normal(r)));
    for (std::int64_t i = 0; i < rows * dim; ++i)
      state.out.push_back(static_cast<float>(Random(seed, 100 + s).normal(i)));
    all.push_back(state);
  }
  return all;
}

// Weights that err by what one fast exponential may, up where a state lies above the result, stay inside; by
// sixty-four times that, a sixteen-bit exponential, they do not.
TEST(MergeBudget, TheWorstExponentialsAreInsideCoarserOnesAreOutside) {
  MergeContract c;
  c.out = DType::kF32;
  int outside = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto parts = states(seed, 3, 4, 8);
    const auto refs = merge_reference(parts, 4, 8, c);
    ASSERT_TRUE(refs);
    const Reference &out = (*refs)[0], &lse = (*refs)[1];
    for (std::int64_t r = 0; r < 4; ++r)
      for (std::int64_t d = 0; d < 8; ++d)
        for (double times : {1.0, 64.0}) {
          double top = 0, sum = 0;
          for (const AttentionState& s : parts) {
            const double v = s.out[r * 8 + d], sign = v > out.value[r * 8 + d] ? 1 : -1;
            const double w = std::exp(s.lse[r] - lse.value[r] + times * sign * 0x1p-22);
            top += w * v;
            sum += w;
          }
          const double error = std::fabs(top / sum - out.value[r * 8 + d]);
          if (times == 1.0) {
            EXPECT_LE(error, out.budget[r * 8 + d]);
          } else {
            outside += error > out.budget[r * 8 + d];
            ++all;
          }
        }
  }
  EXPECT_GT(outside, all / 2);
}

TEST(MergeBudget, AnHonestLseIsInsideOneOfTheOtherBaseIsNot) {
  for (bool base2 : {false, true}) {
    MergeContract c;
    c.base2 = base2;
    const auto parts = states(5, 4, 16, 2);
    const auto refs = merge_reference(parts, 16, 2, c);
    const Reference& lse = (*refs)[1];
    for (std::int64_t r = 0; r < 16; ++r) {
      float top = -1e30f, sum = 0, wrong = 0;
      for (const AttentionState& s : parts) top = std::max(top, static_cast<float>(s.lse[r]));
      for (const AttentionState& s : parts) {
        const float x = static_cast<float>(s.lse[r]) - top;
        sum += base2 ? std::exp2(x) : std::exp(x);
        wrong += base2 ? std::exp(x) : std::exp2(x);
      }
      EXPECT_LE(std::fabs(top + (base2 ? std::log2(sum) : std::log(sum)) - lse.value[r]), lse.budget[r]);
      EXPECT_GT(std::fabs(top + (base2 ? std::log2(wrong) : std::log(wrong)) - lse.value[r]), lse.budget[r]);
    }
  }
}

}  // namespace
}  // namespace assay::num
