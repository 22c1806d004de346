#include "judge/accumulation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "formats/random.h"

namespace assay::num {
namespace {

std::vector<double> products(std::uint64_t seed, int n, bool one_sign) {
  std::vector<double> z;
  for (int i = 0; i < n; ++i) {
    const double x = Random(seed).normal(i);
    z.push_back(static_cast<float>(one_sign ? std::fabs(x) : x));
  }
  return z;
}

double exact(const std::vector<double>& z) {
  double sum = 0;
  for (double x : z) sum += x;
  return sum;
}

TEST(Accumulation, AnHonestChainStaysInsideBothForms) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (int n : {1, 2, 64, 1000}) {
      const auto z = products(seed, n, seed % 2 == 0);
      float sum = 0;
      for (double x : z) sum += static_cast<float>(x);
      const double error = std::fabs(sum - exact(z));
      EXPECT_LE(error, accumulation_error(kChain, z));
      EXPECT_LE(error, accumulation_error(kAnyOrder, z));
      EXPECT_LE(accumulation_error(kChain, z),
                accumulation_error(kAnyOrder, z) + 0x1p-20 * 1e-3 + 2 * kU32 * std::fabs(z[0]) * n);
    }
}

// The worst chain: each step rounds by nearly half a unit in the same direction, and stays just inside. The
// same chain cut instead of rounded isn't what the contract says, and leaves the bound.
TEST(Accumulation, TheWorstRoundingIsInsideCuttingIsNot) {
  const auto steps = [](double step) {
    std::vector<double> z(4097, step);
    z[0] = 1;
    return z;
  };
  const auto near_tie = steps(0x1.01p-24);
  float rounded = 0;
  for (double x : near_tie) rounded += static_cast<float>(x);
  const double error = std::fabs(rounded - exact(near_tie));
  EXPECT_LE(error, accumulation_error(kChain, near_tie));
  EXPECT_GE(error, 0.98 * accumulation_error(kChain, near_tie));
  const auto lost = steps(0x1.8p-24);  // less than the unit 2^-23: cutting loses all of it
  EXPECT_GT(std::fabs(1.0 - exact(lost)), accumulation_error(kChain, lost));
}

TEST(Accumulation, KnownOrderIsMuchTighterForMixedSigns) {
  const auto z = products(3, 4096, false);
  EXPECT_LT(50 * accumulation_error(kChain, z), accumulation_error(kAnyOrder, z));
}

TEST(Accumulation, EightBitFloatsOnCoarseUnitsHaveCoarseBounds) {
  EXPECT_NEAR(depth(kHopperFp8, 128) * kU32, 33 * 4 * 0x1p-13, 0.1 * 33 * 4 * 0x1p-13);
  EXPECT_EQ(accumulation_error(kChain, {}), 0);
}

}  // namespace
}  // namespace assay::num
