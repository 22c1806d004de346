#include "cases/sim_arith.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "formats/random.h"

namespace assay::num {
namespace {

std::vector<float> numbers(std::uint64_t seed, std::int64_t n) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < n; ++i)
    x.push_back(static_cast<float>(std::ldexp(Random(seed).normal(i), Random(seed, 1).between(i, -9, 9))));
  return x;
}

// Σ x·y through mma_block(), the definition.
float plain_dot(const std::vector<float>& x, const std::vector<float>& y, int block, int fraction_bits) {
  float sum = 0;
  double terms[32];
  for (std::size_t t = 0; t < x.size(); t += block) {
    int count = 0;
    for (std::size_t i = t; i < std::min(x.size(), t + block); ++i)
      terms[count++] = static_cast<double>(x[i]) * y[i];
    sum = mma_block(sum, terms, count, fraction_bits);
  }
  return sum;
}

bool same_bits(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(SimulatedSums, MatrixUnitsAreTheirDefinition) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (std::int64_t n : {0, 1, 7, 8, 31, 64, 100}) {
      auto x = numbers(seed, n), y = numbers(seed + 1000, n);
      if (n > 0 && seed % 7 == 1) x[seed % n] = 0;
      if (n > 0 && seed % 7 == 2) x[seed % n] = std::numeric_limits<float>::infinity();
      if (n > 0 && seed % 7 == 3) y[seed % n] = std::nanf("");
      for (const Accumulation& a : {kVolta, kAmpere, kHopper, kHopperFp8}) {
        const bool fp8 = a.order == Accumulation::Order::kFp8;
        const float want = plain_dot(x, y, fp8 ? 32 : a.block, fp8 ? 13 : a.fraction_bits);
        EXPECT_TRUE(same_bits(dot_in_order(a, x.data(), y.data(), n), want)) << seed << " " << n;
      }
    }
}

TEST(SimulatedSums, RowsOnAMatrixUnitAreItsDefinitionInEveryDimension) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (std::int64_t dims : {1, 8, 20}) {
      const std::int64_t count = 1 + static_cast<std::int64_t>(seed % 37);
      const auto weights = numbers(seed, count);
      std::vector<std::vector<float>> held;
      std::vector<const float*> rows;
      for (std::int64_t j = 0; j < count; ++j) held.push_back(numbers(seed * 100 + j, dims));
      if (seed % 5 == 1) held[seed % count][0] = std::nanf("");
      for (const auto& row : held) rows.push_back(row.data());
      for (const Accumulation& a : {kVolta, kAmpere, kHopper}) {
        std::vector<float> sums(dims, 0.0f);
        add_rows_in_order(a, weights.data(), rows.data(), count, dims, sums.data());
        for (std::int64_t d = 0; d < dims; ++d) {
          std::vector<float> column;
          for (const auto& row : held) column.push_back(row[d]);
          EXPECT_TRUE(same_bits(sums[d], plain_dot(weights, column, a.block, a.fraction_bits))) << seed;
        }
      }
    }
}

TEST(SimulatedSums, ChainsAndLanesAddInTheirOrder) {
  const auto x = numbers(5, 103);
  std::vector<std::vector<float>> held;
  std::vector<const float*> y;
  for (int j = 0; j < 7; ++j) held.push_back(numbers(50 + j, 103));
  for (const auto& row : held) y.push_back(row.data());
  std::vector<float> chain(7), lanes(7);
  dots_in_order(kChain, x.data(), y.data(), 7, 103, chain.data());
  dots_in_order(kAnyOrder, x.data(), y.data(), 7, 103, lanes.data());
  for (int j = 0; j < 7; ++j) {
    std::vector<double> terms;
    double exact = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      terms.push_back(static_cast<double>(x[i]) * held[j][i]);
      exact += terms.back();
    }
    // The products of a chain may be rounded before they are added: one more u32 of each.
    double products = 0;
    for (double z : terms) products += kU32 * std::fabs(z);
    EXPECT_LE(std::fabs(chain[j] - exact), accumulation_error(kChain, terms) + products);
    EXPECT_LE(std::fabs(lanes[j] - exact), accumulation_error(kAnyOrder, terms));
    EXPECT_EQ(chain[j], dot_in_order(kChain, x.data(), y[j], 103));
  }
}

}  // namespace
}  // namespace assay::num
