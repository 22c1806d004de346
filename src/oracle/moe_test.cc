#include "oracle/moe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "formats/random.h"
#include "formats/small_float.h"
#include "oracle/quantize.h"

namespace assay::num {
namespace {

std::vector<double> normals(std::uint64_t seed, std::int64_t n) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(Random(seed).normal(i));
  return x;
}

struct Moe {
  std::vector<double> x, w13, w2, route, ids, map;
  MoeProblem p;
  explicit Moe(std::uint64_t seed)
      : x(normals(seed, 2 * 6)),
        w13(normals(seed + 1, 3 * 8 * 6)),
        w2(normals(seed + 2, 3 * 6 * 4)),
        route{0.7, 0.3, 0.5, 0.5},
        ids{0, 2, 1, 0} {
    p.tokens = 2, p.topk = 2, p.experts = 3, p.hidden = 6, p.inter = 4;
    bind();
  }
  void bind() { p.x = x, p.w13 = w13, p.w2 = w2, p.route = route, p.ids = ids, p.expert_map = map; }
};

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * (1 + std::fabs(b[i])));
}

TEST(Moe, OrderOfExpertsDoesNotMatterAndWeightsAreLinear) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Moe a(seed), b(seed);
    std::swap(b.ids[0], b.ids[1]);
    std::swap(b.route[0], b.route[1]);
    b.bind();
    expect_near(routed_experts(a.p)->out, routed_experts(b.p)->out);
    Moe c(seed);
    for (double& r : c.route) r *= 2;
    c.bind();
    auto doubled = routed_experts(a.p)->out;
    for (double& v : doubled) v *= 2;
    expect_near(routed_experts(c.p)->out, doubled);
  }
}

TEST(Moe, RanksWithTheirExpertMapsAddUpToTheWhole) {
  Moe whole(3);
  std::vector<double> sum(12, 0.0);
  for (int rank = 0; rank < 3; ++rank) {
    Moe part(3);
    part.w13.assign(whole.w13.begin() + rank * 48, whole.w13.begin() + (rank + 1) * 48);
    part.w2.assign(whole.w2.begin() + rank * 24, whole.w2.begin() + (rank + 1) * 24);
    part.p.experts = 1;
    part.map.assign(3, -1);
    part.map[rank] = 0;
    part.bind();
    const auto out = routed_experts(part.p);
    ASSERT_TRUE(out);
    for (int i = 0; i < 12; ++i) sum[i] += out->out[i];
  }
  expect_near(routed_experts(whole.p)->out, sum);
}

TEST(Moe, BadInputIsNamed) {
  Moe m(1);
  m.ids[1] = 3;
  m.bind();
  EXPECT_EQ(routed_experts(m.p).error().message, "ids[1]: expert 3 of 3");
  m.ids[1] = 2;
  m.route[2] = NAN;
  m.bind();
  EXPECT_EQ(routed_experts(m.p).error().message, "route[2]: nan is no finite number");
  m.x.pop_back();
  m.bind();
  EXPECT_EQ(routed_experts(m.p).error().message, "x: 11 elements where 12 are needed");
}

TEST(Activations, KnownValuesAndSlopes) {
  EXPECT_NEAR(gated(Activation::kSilu, 1, 2), 2 * 0.7310585786300049, 1e-14);
  EXPECT_NEAR(gated(Activation::kGeluErf, 1, 1), 0.8413447460685429, 1e-14);
  EXPECT_NEAR(gated(Activation::kGeluTanh, 1, 1), 0.8411919906082768, 1e-12);
  EXPECT_NEAR(gated(Activation::kSwigluOai, 100, 100), 7 / (1 + std::exp(-1.702 * 7)) * 8, 1e-12);
  for (auto a : {Activation::kSilu, Activation::kGeluErf, Activation::kGeluTanh, Activation::kSwigluOai})
    for (double g = -9; g < 9; g += 0.37)
      for (double u : {-8.0, -0.5, 0.0, 3.0}) {
        const double h = 1e-5;
        const Slopes s = gated_slopes(a, g, u);
        EXPECT_LE(std::fabs(gated(a, g + h, u) - gated(a, g - h, u)) / (2 * h), s.gate + 1e-6);
        EXPECT_LE(std::fabs(gated(a, g, u + h) - gated(a, g, u - h)) / (2 * h), s.up + 1e-6);
      }
}

TEST(Norm, HasUnitMeanSquareAndIgnoresTheScaleOfItsInput) {
  const auto x = normals(4, 50);
  const std::vector<double> ones(50, 1.0);
  const auto y = rms_norm(x, ones, 1e-300, false);
  double squares = 0;
  for (double v : y) squares += v * v;
  EXPECT_NEAR(squares / 50, 1, 1e-13);
  auto larger = x;
  for (double& v : larger) v *= 1024;
  expect_near(rms_norm(larger, ones, 1e-300, false), y);
  EXPECT_NEAR(rms_norm(std::vector<double>{3}, std::vector<double>{1}, 16, false)[0], 3.0 / 5,
              1e-15);  // inside the root
  EXPECT_NEAR(rms_norm(std::vector<double>{3}, std::vector<double>{1}, 16, true)[0], 6.0 / 5, 1e-15);
}

TEST(Rotary, KeepsLengthsAndDependsOnDistancesAlone) {
  for (bool halves : {true, false}) {
    const auto q = normals(5, 16), k = normals(6, 16);
    const auto turn = [&](const std::vector<double>& v, double position) {
      std::vector<double> c, s;
      for (int i = 0; i < 8; ++i)
        c.push_back(std::cos(position * std::pow(100.0, -i / 8.0))),
            s.push_back(std::sin(position * std::pow(100.0, -i / 8.0)));
      return rotary(v, c, s, halves);
    };
    const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    EXPECT_NEAR(dot(turn(q, 7), turn(q, 7)), dot(q, q), 1e-12);
    EXPECT_NEAR(dot(turn(q, 9), turn(k, 4)), dot(turn(q, 105), turn(k, 100)), 1e-11);
    expect_near(turn(q, 0), q);
  }
}

TEST(Router, WeightsAndChoice) {
  const std::vector<double> logits = {1, 3, 2, 0}, bias = {5, 0, 0, 0};
  const auto r = route_topk(logits, {}, 2, true, true, 1);
  EXPECT_EQ(r.ids, (std::vector<std::int64_t>{1, 2}));
  EXPECT_NEAR(r.weights[0] + r.weights[1], 1, 1e-15);
  EXPECT_NEAR(r.weights[0] / r.weights[1], std::exp(1.0), 1e-12);
  const auto biased = route_topk(logits, bias, 2, false, false, 2);
  EXPECT_EQ(biased.ids, (std::vector<std::int64_t>{0, 1}));
  EXPECT_NEAR(biased.weights[0], 2 / (1 + std::exp(-1.0)), 1e-15);  // without the bias
  const auto all = route_topk(logits, {}, 4, true, false, 1);
  EXPECT_NEAR(std::accumulate(all.weights.begin(), all.weights.end(), 0.0), 1, 1e-15);
}

TEST(Quantize, OnlyNeighboursOfATieAreAccepted) {
  EXPECT_EQ(decode(DType::kE4m3fn, quantize(DType::kE4m3fn, 3.0, 2.0)), 1.5);
  EXPECT_TRUE(acceptable_code(DType::kI8, 2.5, 1, 2));
  EXPECT_TRUE(acceptable_code(DType::kI8, 2.5, 1, 3));  // a tie: either
  EXPECT_FALSE(acceptable_code(DType::kI8, 2.51, 1, 2));
  EXPECT_TRUE(acceptable_code(DType::kI8, 1e9, 1, 127));
  EXPECT_FALSE(acceptable_code(DType::kI8, 1e9, 1, 126));
  EXPECT_NEAR(dynamic_scale(std::vector<double>{1, -3}, 448, false), 3.0 / 448, 1e-15);
  EXPECT_EQ(dynamic_scale(std::vector<double>{448, 0}, 448, true), 1);
  EXPECT_EQ(dynamic_scale(std::vector<double>{449, 0}, 448, true), 2);
  EXPECT_NEAR(dynamic_scale(std::vector<double>{0, 0}, 448, false), 1e-4 / 448, 1e-20);
}

}  // namespace
}  // namespace assay::num
