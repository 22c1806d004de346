#include "oracle/moe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "oracle/arguments.h"

namespace assay::num {
namespace {

constexpr double kClamp = 7, kAlpha = 1.702;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double inner(const double* a, const double* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

Expected<void> check(const MoeProblem& p) {
  struct Row {
    const char* name;
    std::span<const double> values;
    std::int64_t count;
  };
  for (const Row& row :
       {Row{"x", p.x, p.tokens * p.hidden}, Row{"w13", p.w13, p.experts * 2 * p.inter * p.hidden},
        Row{"w2", p.w2, p.experts * p.hidden * p.inter},
        Row{"b13", p.b13, p.b13.empty() ? 0 : p.experts * 2 * p.inter},
        Row{"b2", p.b2, p.b2.empty() ? 0 : p.experts * p.hidden}, Row{"route", p.route, p.tokens * p.topk},
        Row{"ids", p.ids, p.tokens * p.topk}}) {
    if (auto ok = expect_count(row.name, row.values.size(), row.count); !ok) return ok;
    if (auto ok = expect_finite(row.name, row.values); !ok) return ok;
  }
  const auto known = p.expert_map.empty() ? p.experts : static_cast<std::int64_t>(p.expert_map.size());
  for (std::size_t i = 0; i < p.ids.size(); ++i)
    if (p.ids[i] < 0 || p.ids[i] >= static_cast<double>(known))
      return fail(fmt::format("ids[{}]: expert {} of {}", i, p.ids[i], known));
  return {};
}

}  // namespace

double gated(Activation activation, double gate, double up) {
  switch (activation) {
    case Activation::kSilu:
      return gate * sigmoid(gate) * up;
    case Activation::kGeluTanh:
      return 0.5 * gate * (1 + std::tanh(std::sqrt(2 / M_PI) * (gate + 0.044715 * gate * gate * gate))) * up;
    case Activation::kGeluErf:
      return 0.5 * gate * (1 + std::erf(gate / std::sqrt(2.0))) * up;
    case Activation::kSwigluOai:
      break;
  }
  const double g = std::min(gate, kClamp), u = std::clamp(up, -kClamp, kClamp);
  return g * sigmoid(kAlpha * g) * (u + 1);
}

Slopes gated_slopes(Activation activation, double gate, double up) {
  // x·sigmoid(x) and the GELUs have slopes of at most 1.13, x·sigmoid(1.702x) as well.
  const double factor =
      activation == Activation::kSwigluOai ? std::fabs(std::clamp(up, -kClamp, kClamp) + 1) : std::fabs(up);
  const double of_gate = activation == Activation::kSwigluOai ? std::fabs(gated(activation, gate, 0))
                                                              : std::fabs(gated(activation, gate, 1));
  return {1.13 * factor, of_gate};
}

Expected<MoeResult> routed_experts(const MoeProblem& p) {
  if (auto ok = check(p); !ok) return tl::unexpected(ok.error());
  MoeResult r;
  r.out.assign(p.tokens * p.hidden, 0.0);
  r.passes.resize(p.tokens);
  for (std::int64_t t = 0; t < p.tokens; ++t)
    for (std::int64_t s = 0; s < p.topk; ++s) {
      auto e = static_cast<std::int64_t>(p.ids[t * p.topk + s]);
      if (!p.expert_map.empty()) e = static_cast<std::int64_t>(p.expert_map[e]);
      if (e < 0) continue;
      ExpertPass pass;
      pass.expert = e;
      pass.route = p.route[t * p.topk + s];
      std::vector<double> x(p.x.begin() + t * p.hidden, p.x.begin() + (t + 1) * p.hidden);
      if (p.weight_on_input)
        for (double& v : x) v *= pass.route;
      for (std::int64_t i = 0; i < p.inter; ++i) {
        const std::int64_t gate = e * 2 * p.inter + i, up = gate + p.inter;
        pass.gate.push_back(inner(x.data(), &p.w13[gate * p.hidden], p.hidden) +
                            (p.b13.empty() ? 0 : p.b13[gate]));
        pass.up.push_back(inner(x.data(), &p.w13[up * p.hidden], p.hidden) + (p.b13.empty() ? 0 : p.b13[up]));
        pass.act.push_back(gated(p.activation, pass.gate.back(), pass.up.back()));
      }
      for (std::int64_t d = 0; d < p.hidden; ++d) {
        pass.out.push_back(inner(pass.act.data(), &p.w2[(e * p.hidden + d) * p.inter], p.inter) +
                           (p.b2.empty() ? 0 : p.b2[e * p.hidden + d]));
        r.out[t * p.hidden + d] += (p.weight_on_input ? 1 : pass.route) * pass.out.back();
      }
      r.passes[t].push_back(std::move(pass));
    }
  return r;
}

std::vector<double> rms_norm(std::span<const double> x, std::span<const double> w, double epsilon,
                             bool unit_offset) {
  double squares = 0;
  for (double v : x) squares += v * v;
  const double root = std::sqrt(squares / static_cast<double>(x.size()) + epsilon);
  std::vector<double> out;
  for (std::size_t i = 0; i < x.size(); ++i) out.push_back(x[i] / root * (unit_offset ? 1 + w[i] : w[i]));
  return out;
}

std::vector<double> rotary(std::span<const double> head, std::span<const double> cos,
                           std::span<const double> sin, bool halves) {
  std::vector<double> out(head.begin(), head.end());
  const auto pairs = static_cast<std::int64_t>(cos.size());
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t a = halves ? i : 2 * i, b = halves ? i + pairs : 2 * i + 1;
    out[a] = head[a] * cos[i] - head[b] * sin[i];
    out[b] = head[b] * cos[i] + head[a] * sin[i];
  }
  return out;
}

Routed route_topk(std::span<const double> logits, std::span<const double> bias, std::int64_t topk,
                  bool softmax, bool renormalise, double scale) {
  const auto n = static_cast<std::int64_t>(logits.size());
  std::vector<double> score(n);
  const double top = n ? *std::max_element(logits.begin(), logits.end()) : 0;
  double sum = 0;
  for (std::int64_t e = 0; e < n; ++e)
    sum += score[e] = softmax ? std::exp(logits[e] - top) : sigmoid(logits[e]);
  if (softmax)
    for (double& s : score) s /= sum;
  Routed r;
  for (std::int64_t e = 0; e < n; ++e) r.choice.push_back(score[e] + (bias.empty() ? 0 : bias[e]));
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return r.choice[a] > r.choice[b]; });
  order.resize(std::min(n, topk));
  double total = 0;
  for (std::int64_t e : order) total += score[e];
  for (std::int64_t e : order) r.weights.push_back(scale * (renormalise ? score[e] / total : score[e]));
  r.ids = std::move(order);
  return r;
}

}  // namespace assay::num
