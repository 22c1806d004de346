#include "judge/gemm_budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/random.h"
#include "formats/small_float.h"

namespace assay::num {
namespace {

constexpr std::int64_t kM = 4, kK = 96, kN = 5;

struct Product {
  std::vector<double> a, w;
  explicit Product(std::uint64_t seed, std::int64_t k = kK) {
    for (std::int64_t i = 0; i < kM * k; ++i) a.push_back(round_to(DType::kBf16, Random(seed).normal(i)));
    for (std::int64_t i = 0; i < k * kN; ++i) w.push_back(round_to(DType::kBf16, Random(seed, 1).normal(i)));
  }
  double size(std::int64_t i, std::int64_t j, std::int64_t k = kK) const {
    double sum = 0;
    for (std::int64_t x = 0; x < k; ++x) sum += std::fabs(a[i * k + x] * w[x * kN + j]);
    return sum;
  }
};

// Every weight rounded the worst way for one output stays inside; weights wrong by four units do not.
TEST(GemmBudget, TheWorstRoundingOfWeightsIsInsideFourTimesIsOutside) {
  GemmContract c;
  c.out = DType::kF32;
  c.weight = DType::kBf16;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Product p(seed);
    const Reference r = gemm_reference(p.a, p.w, {}, kM, kK, kN, c, false);
    for (std::int64_t i = 0; i < kM; ++i)
      for (std::int64_t j = 0; j < kN; ++j) {
        const double moved = 0x1p-8 * p.size(i, j);
        EXPECT_LE(moved, r.budget[i * kN + j]);
        EXPECT_GT(4 * moved, r.budget[i * kN + j]);
      }
  }
}

TEST(GemmBudget, PartsStoredInTheirTypeAndAtomicsAreInsideUndeclaredOnesAreNot) {
  GemmContract declared;
  declared.out = DType::kF32;
  declared.splits = 4;
  declared.partial = DType::kBf16;
  declared.partials_added = true;
  GemmContract undeclared = declared;
  undeclared.partial = DType::kF32;
  int outside = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Product p(seed);
    const Reference r = gemm_reference(p.a, p.w, {}, kM, kK, kN, declared, false),
                    strict = gemm_reference(p.a, p.w, {}, kM, kK, kN, undeclared, false);
    for (std::int64_t i = 0; i < kM; ++i)
      for (std::int64_t j = 0; j < kN; ++j) {
        double sum = 0;
        for (std::int64_t s = 0; s < 4; ++s) {
          double part = 0;
          for (std::int64_t x = s * kK / 4; x < (s + 1) * kK / 4; ++x)
            part += p.a[i * kK + x] * p.w[x * kN + j];
          sum = round_to(DType::kBf16, sum + round_to(DType::kBf16, part));
        }
        const double error = std::fabs(sum - r.value[i * kN + j]);
        EXPECT_LE(error, r.budget[i * kN + j]);
        outside += error > strict.budget[i * kN + j];
      }
  }
  EXPECT_GT(outside, 300);  // of 400
}

// A long dot product on a unit that cuts: its drift outgrows independent errors, and sigma knows.
TEST(GemmBudget, DriftOfAUnitThatCutsIsPartOfSigma) {
  constexpr std::int64_t kLong = 32768;
  GemmContract c;
  c.out = DType::kF32;
  c.order = kAmpere;
  const Product p(7, kLong);
  const Reference r = gemm_reference(p.a, p.w, {}, kM, kLong, kN, c, true);
  GemmContract any = c;
  any.order = kAnyOrder;
  const Reference random = gemm_reference(p.a, p.w, {}, kM, kLong, kN, any, true);
  const auto cut = [](double x) {  // to 24 bits, towards zero
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0x1fffffff});
  };
  int unexplained = 0;
  for (std::int64_t j = 0; j < kN; ++j) {
    double sum = 0;
    for (std::int64_t x = 0; x < kLong; x += 8) {
      for (std::int64_t b = 0; b < 8; ++b) sum += p.a[x + b] * p.w[(x + b) * kN + j];
      sum = cut(sum);
    }
    const double error = std::fabs(sum - r.value[j]);
    EXPECT_LE(error, r.budget[j]);
    EXPECT_LE(error, r.rms_limit * r.sigma[j]);
    unexplained += error > random.rms_limit * random.sigma[j];
  }
  EXPECT_GT(unexplained, 0);
}

// 14-bit sums over thousands of terms of one sign say nothing: flagged, so that nobody takes it for a pass.
TEST(GemmBudget, SumsWithoutPromotionAreTooInaccurateToJudge) {
  const Product p(3, 1024);
  GemmContract c;
  c.order = kHopperFp8;
  const Reference r = gemm_reference(p.a, p.w, {}, kM, 1024, kN, c, false);
  const Actual right{"out", c.out, {kM, kN}, r.value};
  EXPECT_TRUE(judge({&r, 1}, {&right, 1}).undecided());
  c.order = kAnyOrder;
  const Reference usual = gemm_reference(p.a, p.w, {}, kM, 1024, kN, c, false);
  EXPECT_FALSE(judge({&usual, 1}, {&right, 1}).undecided());
}

}  // namespace
}  // namespace assay::num
