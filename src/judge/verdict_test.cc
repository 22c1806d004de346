#include "judge/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "formats/random.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Reference reference(std::vector<double> value, std::vector<double> budget) {
  Reference r;
  r.name = "out";
  r.type = DType::kBf16;
  r.shape = {1, static_cast<std::int64_t>(value.size())};
  r.axes = {"token", "dim"};
  r.value = std::move(value);
  r.budget = std::move(budget);
  r.terms = {"rounding of P", "the sums"};
  r.term.assign(r.budget.size(), 1);
  return r;
}

Verdict judged(const Reference& r, std::vector<double> got) {
  const Actual a{"out", r.type, r.shape, std::move(got)};
  return judge({&r, 1}, {&a, 1});
}

TEST(Verdict, AtTheEdgePassesAndPastItFails) {
  const Reference r = reference({1, 2}, {0.25, 0.5});
  EXPECT_TRUE(judged(r, {1.25, 1.5}).passed());
  const Verdict v = judged(r, {1.25, std::nextafter(1.5, 0)});
  EXPECT_FALSE(v.passed());
  EXPECT_EQ(v.summary(),
            "budget gate: out[token 0, dim 1]: got 1.5, want 2, error 0.5 of 0.5 allowed, mostly the sums");
  EXPECT_EQ(v[Gate::kBudget].at, (std::vector<std::int64_t>{0, 1}));
}

TEST(Verdict, ZeroBudgetMeansEqual) {
  const Reference r = reference({1, 0}, {0, 0});
  EXPECT_TRUE(judged(r, {1, 0}).passed());
  EXPECT_FALSE(judged(r, {1, 1e-300}).passed());
}

TEST(Verdict, ClassesOfNumbers) {
  const Reference r = reference({1, -kInf, kInf}, {1, 1, 1});
  EXPECT_TRUE(judged(r, {1, -kInf, kInf}).passed());
  for (const auto& bad : std::vector<std::vector<double>>{
           {kNan, -kInf, kInf}, {1, kInf, kInf}, {1, -1e30, kInf}, {1, -kInf, kNan}, {kInf, -kInf, kInf}}) {
    const Verdict v = judged(r, bad);
    EXPECT_FALSE(v[Gate::kExact].passed);
  }
}

TEST(Verdict, ShapesAndTypes) {
  const Reference r = reference({1, 2}, {1, 1});
  const auto why = [&](const Actual& a) { return judge({&r, 1}, {&a, 1}).summary(); };
  EXPECT_EQ(why({"out", DType::kBf16, {2, 1}, {1, 2}}), "exact gate: out: shape [2, 1], want [1, 2]");
  EXPECT_EQ(why({"out", DType::kF16, {1, 2}, {1, 2}}), "exact gate: out: type f16, want bf16");
  EXPECT_EQ(why({"lse", DType::kF16, {1, 2}, {1, 2}}), "exact gate: out: not returned");
  EXPECT_EQ(why({"out", DType::kBf16, {1, 2}, {1}}), "exact gate: out: shape [1, 2], want [1, 2]");
}

TEST(Verdict, RmsSeesManySmallErrorsThatTheBudgetAllows) {
  Reference r = reference(std::vector<double>(64, 0.0), std::vector<double>(64, 10.0));
  r.sigma.assign(64, 1.0);
  r.rms_limit = 1.5;
  EXPECT_TRUE(judged(r, std::vector<double>(64, 1.5)).passed());
  const Verdict v = judged(r, std::vector<double>(64, 1.51));
  EXPECT_TRUE(v[Gate::kBudget].passed);
  EXPECT_FALSE(v[Gate::kStatistical].passed);
  r.sigma.assign(64, 0.0);  // not judged
  EXPECT_TRUE(judged(r, std::vector<double>(64, 9)).passed());
}

TEST(Verdict, AlongAnyAxis) {
  Reference r = reference({0, 0, 0, 0}, {10, 10, 10, 10});
  r.shape = {2, 2};
  r.sigma = {1, 1, 1, 1};
  r.rms_limit = 1.5;
  r.stat_axis = 0;
  EXPECT_FALSE(judged(r, {2, 0, 2, 0}).passed());  // column 0
  r.stat_axis = -1;
  EXPECT_TRUE(judged(r, {2, 0, 2, 0}).passed());
}

TEST(Verdict, StructuredOutputsAreDecoded) {
  Reference r = reference({0.3, 1.1}, {1, 1});
  r.structured = Structured::kCounts;
  r.multiplier = {10, 0};
  EXPECT_TRUE(judged(r, {0.3049, 0.5}).passed());
  EXPECT_FALSE(judged(r, {0.36, 0.5}).passed());
  r.structured = Structured::kExpCounts;
  r.multiplier = {0, 0};
  r.value = {std::log(41.0), std::log(7.0)};
  EXPECT_TRUE(judged(r, {std::log(41.2), std::log(7.0)}).passed());
  EXPECT_FALSE(judged(r, {std::log(42.0), std::log(7.0)}).passed());
  r.structured = Structured::kBits;
  r.value = {1.0 + 0x1p-20, 2};  // the nearest bf16 is 1
  EXPECT_TRUE(judged(r, {1, 2}).passed());
  EXPECT_FALSE(judged(r, {1.0078125, 2}).passed());
}

TEST(Verdict, NothingIsNothing) {
  const Reference r = reference({}, {});
  EXPECT_TRUE(judged(r, {}).passed());
}

TEST(Statistics, ReportedFigures) {
  const std::vector<double> a = {1, 2}, b = {1, 2.5};
  const Statistics s = compare(a, b);
  EXPECT_EQ(s.max_abs, 0.5);
  EXPECT_NEAR(s.max_rel, 0.2, 1e-15);
  EXPECT_NEAR(s.calc_diff, 1 - 2 * 6.0 / (5 + 7.25), 1e-15);
  EXPECT_TRUE(allclose(a, b, 0.2, 0));
  EXPECT_FALSE(allclose(a, b, 0.19, 0));
  EXPECT_FALSE(allclose(std::vector<double>{kNan}, std::vector<double>{kNan}, 1, 1));
}

}  // namespace
}  // namespace assay::num
