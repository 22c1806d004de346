#include "formats/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::num {
namespace {

TEST(Random, SameNumbersEverywhere) {
  // Fixed for ever: a case line names its bytes by them.
  EXPECT_EQ(Random(7).bits(0), Random(7).bits(0));
  EXPECT_NE(Random(7).bits(0), Random(8).bits(0));
  EXPECT_NE(Random(7, 1).bits(0), Random(7, 2).bits(0));
}

TEST(Random, NormalHasUnitVarianceAndNoCorrelation) {
  const Random random(42);
  double sum = 0, squares = 0, neighbours = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal(i);
    sum += x;
    squares += x * x;
    neighbours += x * random.normal(i + 1);
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(neighbours / n, 0, 0.01);
}

TEST(Random, BetweenCoversItsRange) {
  const Random random(3);
  int seen[5] = {};
  for (int i = 0; i < 1000; ++i) ++seen[random.between(i, -2, 2) + 2];
  for (int count : seen) EXPECT_GT(count, 140);
}

}  // namespace
}  // namespace assay::num
