// quant.moe: routed experts with group-scaled 4-bit weights, biases, an expert map, and the gated
// activations.
#include <algorithm>
#include <cmath>

#include "cases/op_helpers.h"
#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "cases/simple_workload.h"
#include "oracle/moe.h"

namespace assay::num {
namespace {

enum Bug {
  kNone,
  kExpertTwice,
  kWeightTwice,
  kWeightDropped,
  kBias13,
  kBias2,
  kMapIgnored,
  kHalvesSwapped,
  kActivation,
  kLastExpert,
  kScaleNeighbour,
  kZeroPoint,
  kInterleavedHalves,
  kOneRoute,
  kBiasPerRank,
  kW2Transposed,
  kClampDropped
};

struct MoeState {
  InputSet set;
  MoeProblem p;
  std::int64_t group = 0;
  DType type = DType::kBf16;
  std::vector<double> w13_codes, w13_scales, w2_codes, w2_scales, w13, w2, x, b13, b2, route, ids, map;

  static Expected<std::shared_ptr<MoeState>> make(const Case& c) {
    auto s = std::make_shared<MoeState>();
    if (auto ok = s->read(c); !ok) return tl::unexpected(ok.error());
    return s;
  }

  Expected<void> read(const Case& c) {
    p.tokens = c.integer("tokens");
    p.topk = c.integer("topk");
    p.experts = c.integer("experts");
    p.hidden = c.integer("hidden");
    p.inter = c.integer("inter");
    group = c.integer("group");
    type = *parse_dtype(c.word("dtype"));
    p.weight_on_input = c.word("weights") == "input";
    p.activation = activation_named(c.word("act"));
    if (p.hidden % group != 0 || p.inter % group != 0)
      return fail("group: hidden and inter must be multiples of it");
    if (p.topk > p.experts) return fail("topk: more than experts");
    if (auto ok = expect_few("experts, inter, hidden", {p.experts, p.inter, p.hidden}, 0x1p26); !ok)
      return ok;
    if (auto ok = expect_few("tokens, hidden", {p.tokens, std::max(p.hidden, p.topk)}); !ok) return ok;
    if (auto ok = expect_few("tokens, topk, inter, hidden", {p.tokens, p.topk, p.inter, p.hidden}, 0x1p33);
        !ok)
      return ok;
    fill(c);
    return {};
  }

  static std::vector<double> weights(const std::vector<double>& codes, const std::vector<double>& scales,
                                     std::int64_t group) {
    std::vector<double> w;
    for (std::size_t i = 0; i < codes.size(); ++i) w.push_back((codes[i] - 8) * scales[i / group]);
    return w;
  }

  void fill(const Case& c) {
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::uint64_t call = 100 * static_cast<std::uint64_t>(c.integer("call"));
    const Random rx(seed, 2 + call), rr(seed, 3), rb(seed, 4), rt(seed, 3 + call);
    const bool flat = c.word("fill") == "flat";
    const bool level = c.word("fill") == "level";
    const auto code = [&](std::int64_t stream) {
      return [=](std::int64_t i) { return static_cast<double>(Random(seed, stream).between(i, 0, 15)); };
    };
    const auto scale = [&](std::int64_t width, std::int64_t stream) {
      return [=](std::int64_t i) {
        return std::exp2((level ? 0.002 : 0.5) * Random(seed, stream).normal(i)) /
               (4.6 * std::sqrt(static_cast<double>(width)));
      };
    };
    // A local expert map: global expert 2e+1 is local expert e, the others live elsewhere.
    const bool mapped = c.word("map") == "on";
    const std::int64_t global = mapped ? 2 * p.experts : p.experts;
    w13_codes = set.add("w13", DType::kU4, {p.experts, 2 * p.inter, p.hidden}, code(11));
    w13_scales = set.add("w13_scale", type, {p.experts, 2 * p.inter, p.hidden / group}, scale(p.hidden, 12));
    w2_codes = set.add("w2", DType::kU4, {p.experts, p.hidden, p.inter}, code(13));
    w2_scales = set.add("w2_scale", type, {p.experts, p.hidden, p.inter / group}, scale(p.inter, 14));
    const std::string& how = c.word("fill");
    const double size = how == "wide"    ? 6
                        : level          ? 1.8
                        : flat           ? 0.002
                        : how == "small" ? 0.005
                                         : 1,
                 mean = how == "offset" || flat ? 1 : 0;
    x = set.add("x", type, {p.tokens, p.hidden}, [&](std::int64_t i) { return mean + size * rx.normal(i); });
    const double bias = level ? 0.001 : 1;
    if (c.word("bias") == "on") {
      b13 =
          set.add("b13", type, {p.experts, 2 * p.inter}, [&](std::int64_t i) { return bias * rb.normal(i); });
      b2 = set.add("b2", type, {p.experts, p.hidden},
                   [&](std::int64_t i) { return bias * rb.normal(i + (1 << 24)); });
    }
    // In level cases nearly all the weight is the first expert's.
    route = set.add("topk_weights", DType::kF32, {p.tokens, p.topk}, [&](std::int64_t i) {
      if (flat) return (1 + 0.002 * rt.normal(i)) / static_cast<double>(p.topk);
      return level ? (i % p.topk == 0 ? 0.999 : 0.001 / static_cast<double>(p.topk)) : 0.1 + rr.uniform(i);
    });
    ids = set.add("topk_ids", DType::kI32, {p.tokens, p.topk}, [&](std::int64_t i) {
      return static_cast<double>(
          (rr.between(i / p.topk + (1 << 20), 0, global - 1) + i % p.topk * (mapped ? 3 : 1)) % global);
    });
    if (mapped)
      map = set.add("expert_map", DType::kI32, {global},
                    [](std::int64_t e) { return e % 2 ? static_cast<double>(e / 2) : -1.0; });
    w13 = weights(w13_codes, w13_scales, group);
    w2 = weights(w2_codes, w2_scales, group);
    p.x = x;
    p.w13 = w13;
    p.w2 = w2;
    p.b13 = b13;
    p.b2 = b2;
    p.route = route;
    p.ids = ids;
    p.expert_map = map;
  }

  // Errors propagate: those of gate and up through the activation's slopes, the stored activation's rounding,
  // and w2's product. Proof. |act(g', u') - act(g, u)| <= 1.13|u|·|Δg| + |act_1(g)|·|Δu| + 1.13|Δg||Δu|; the
  // rest is gemm_budget.h's with Σ|w2|·|Δact| added; the route weights and the sum over experts add (topk +
  // 2)u32, a stored partial its own rounding.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    const auto result = routed_experts(p);
    if (!result) return tl::unexpected(result.error());
    const double u = unit_roundoff(type), u_w = contract == 0 ? u : 0, u_part = contract == 1 ? u : 0,
                 floor = subnormal_roundoff(type);
    const double c13 = (depth(kAnyOrder, static_cast<double>(p.hidden)) + 6) * kU32,
                 c2 = (depth(kAnyOrder, static_cast<double>(p.inter)) + 6) * kU32;
    Reference r;
    r.name = "out";
    r.type = type;
    r.shape = {p.tokens, p.hidden};
    r.axes = {"token", "dim"};
    r.value = result->out;
    r.budget.assign(r.value.size(), 0.0);
    for (std::int64_t t = 0; t < p.tokens; ++t) {
      std::vector<double> sizes(p.hidden, 0.0);
      for (const ExpertPass& pass : result->passes[t]) {
        const double in = p.weight_on_input ? std::fabs(pass.route) : 1,
                     after = p.weight_on_input ? 1 : std::fabs(pass.route);
        std::vector<double> act_error;
        for (std::int64_t i = 0; i < p.inter; ++i) {
          double g = 0, up = 0;
          for (std::int64_t d = 0; d < p.hidden; ++d) {
            const double xd = in * std::fabs(x[t * p.hidden + d]);
            g += xd * std::fabs(w13[(pass.expert * 2 * p.inter + i) * p.hidden + d]);
            up += xd * std::fabs(w13[(pass.expert * 2 * p.inter + p.inter + i) * p.hidden + d]);
          }
          // With the route on the input, the scaled input is stored once more.
          const double step = u_w + c13 + (p.weight_on_input ? u : 0);
          double dg = step * g + 4 * kU32 * std::fabs(pass.gate[i]),
                 du = step * up + 4 * kU32 * std::fabs(pass.up[i]);
          dg += (u + 0x1p-12) * std::fabs(pass.gate[i]) +
                floor;  // gate and up are stored in the activation type
          du += (u + 0x1p-12) * std::fabs(pass.up[i]) + floor;
          const Slopes s = gated_slopes(p.activation, pass.gate[i], pass.up[i]);
          const double act = std::fabs(pass.act[i]);
          const double own = 0x1p-20 * (s.gate * std::fabs(pass.gate[i]) + act) + u * act + floor;
          act_error.push_back((1 + 0x1p-6) * (s.gate * dg + s.up * du + 1.13 * dg * du + own));
        }
        for (std::int64_t d = 0; d < p.hidden; ++d) {
          double size = 0, moved = 0;
          for (std::int64_t i = 0; i < p.inter; ++i) {
            const double w = std::fabs(w2[(pass.expert * p.hidden + d) * p.inter + i]);
            size += w * (std::fabs(pass.act[i]) + act_error[i]);
            moved += w * act_error[i];
          }
          const double o = std::fabs(pass.out[d]);
          r.budget[t * p.hidden + d] +=
              (1 + 0x1p-6) * after *
              (moved + (u_w + c2) * size + u_part * (o + moved) + 4 * kU32 * o + floor);
          sizes[d] += after * (o + moved);
        }
      }
      for (std::int64_t d = 0; d < p.hidden; ++d) {
        double& b = r.budget[t * p.hidden + d];
        b += static_cast<double>(p.topk + 2) * kU32 * sizes[d];
        b += u * std::fabs(r.value[t * p.hidden + d]) + u * b + floor;
      }
    }
    return std::vector<Reference>{std::move(r)};
  }

  // One matrix of every expert, dequantised as the kernel does it.
  std::vector<float> dequantised(const std::vector<double>& codes, const std::vector<double>& scales,
                                 std::int64_t width, DType rounded, Bug bug) const {
    const std::int64_t groups = width / group, rows = static_cast<std::int64_t>(codes.size()) / width;
    std::vector<float> all;
    all.reserve(codes.size());
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t d = 0; d < width; ++d) {
        const std::int64_t g = bug == kScaleNeighbour ? (d / group + 1) % groups : d / group;
        const float q = static_cast<float>(codes[row * width + d]) - (bug == kZeroPoint ? 7.0f : 8.0f);
        all.push_back(round_to_f32(rounded, q * static_cast<float>(scales[row * groups + g])));
      }
    return all;
  }

  // The w2 of one expert read as its transpose, where it is square.
  static void transpose(float* w, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < i; ++j) std::swap(w[i * n + j], w[j * n + i]);
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<Bug>(mutant);
    const DType stored = fine ? DType::kF32 : type, rounded = contract == 0 && !fine ? type : DType::kF32,
                part = contract == 1 && !fine ? type : DType::kF32;
    Actual a{"out", type, {p.tokens, p.hidden}, std::vector<double>(p.tokens * p.hidden)};
    const auto first = dequantised(w13_codes, w13_scales, p.hidden, rounded, bug);
    auto second = dequantised(w2_codes, w2_scales, p.inter, rounded, bug);
    for (std::int64_t e = 0; e < p.experts && bug == kW2Transposed && p.inter == p.hidden; ++e)
      transpose(&second[e * p.hidden * p.inter], p.hidden);
    for (std::int64_t t = 0; t < p.tokens; ++t) {
      std::vector<float> sum(p.hidden, 0.0f);
      for (std::int64_t s = 0; s < p.topk; ++s) {
        auto e = static_cast<std::int64_t>(ids[t * p.topk + s]);
        if (!map.empty()) e = bug == kMapIgnored ? e % p.experts : static_cast<std::int64_t>(map[e]);
        if (e < 0 || (bug == kLastExpert && e == p.experts - 1)) continue;
        const int times = bug == kExpertTwice && s == p.topk - 1 ? 2 : 1;
        const auto out =
            expert(t, s, e, &first[e * 2 * p.inter * p.hidden], &second[e * p.hidden * p.inter], stored, bug);
        const auto route_weight = static_cast<float>(route[t * p.topk + (bug == kOneRoute ? 0 : s)]);
        float w = p.weight_on_input ? 1.0f : route_weight;
        if (bug == kWeightTwice) w *= route_weight;
        if (bug == kWeightDropped) w = 1;
        for (std::int64_t d = 0; d < p.hidden; ++d)
          sum[d] += static_cast<float>(times) * round_to_f32(part, w * out[d]);
      }
      for (std::int64_t d = 0; d < p.hidden; ++d)
        a.value[t * p.hidden + d] = fine ? sum[d] : round_to_f32(type, sum[d]);
    }
    return {a};
  }

  std::vector<float> expert(std::int64_t t, std::int64_t s, std::int64_t e, const float* w1,
                            const float* w2of, DType stored, Bug bug) const {
    std::vector<float> in;
    for (std::int64_t d = 0; d < p.hidden; ++d) {
      const auto v = static_cast<float>(x[t * p.hidden + d]);
      in.push_back(p.weight_on_input && bug != kWeightDropped
                       ? round_to_f32(stored, v * static_cast<float>(route[t * p.topk + s]))
                       : v);
    }
    const auto first = [&](std::int64_t row) {
      const float dot = dot_in_order(kAnyOrder, in.data(), w1 + row * p.hidden, p.hidden);
      const float b = b13.empty() || bug == kBias13 ? 0.0f : static_cast<float>(b13[e * 2 * p.inter + row]);
      return round_to_f32(stored, dot + b);
    };
    std::vector<float> act;
    for (std::int64_t i = 0; i < p.inter; ++i) {
      std::int64_t gate = i, up = i + p.inter;
      if (bug == kInterleavedHalves) gate = 2 * i, up = 2 * i + 1;
      if (bug == kHalvesSwapped) std::swap(gate, up);
      act.push_back(round_to_f32(stored, activate(first(gate), first(up), bug)));
    }
    std::vector<float> out;
    for (std::int64_t d = 0; d < p.hidden; ++d) {
      const float dot = dot_in_order(kAnyOrder, act.data(), w2of + d * p.inter, p.inter);
      const float b = b2.empty() || bug == kBias2
                          ? 0.0f
                          : static_cast<float>(b2[e * p.hidden + d]) * (bug == kBiasPerRank ? 2.0f : 1.0f);
      out.push_back(dot + b);
    }
    return out;
  }

  float activate(float g, float u, Bug bug) const {
    Activation a = p.activation;
    if (bug == kActivation) a = a == Activation::kSilu ? Activation::kGeluTanh : Activation::kSilu;
    if (a == Activation::kSilu) return g / (1 + std::exp(-g)) * u;
    if (a == Activation::kGeluErf) return 0.5f * g * (1 + std::erf(g * 0.70710678f)) * u;
    if (a == Activation::kGeluTanh)
      return 0.5f * g * (1 + std::tanh(0.79788456f * (g + 0.044715f * g * g * g))) * u;
    if (bug != kClampDropped) g = std::min(g, 7.0f), u = std::clamp(u, -7.0f, 7.0f);
    return g / (1 + std::exp(-1.702f * g)) * (u + 1);
  }
};

}  // namespace

Family moe_family() {
  Family f;
  f.name = "quant.moe";
  f.component = "quantisation";
  f.schema = {
      f.name,
      {{"dtype", KeyKind::kWord, "bf16", 0, 0, {"bf16", "f16"}, ""},
       {"act", KeyKind::kWord, "silu", 0, 0, {"silu", "gelu-tanh", "gelu", "swiglu-oai"}, ""},
       {"weights", KeyKind::kWord, "output", 0, 0, {"output", "input"}, "where the route weight is applied"},
       {"bias", KeyKind::kWord, "off", 0, 0, {"off", "on"}, ""},
       {"map", KeyKind::kWord, "off", 0, 0, {"off", "on"}, "half of the experts live elsewhere"},
       {"tokens", KeyKind::kInt, "5", 0, 1 << 16, {}, ""},
       {"topk", KeyKind::kInt, "2", 1, 64, {}, ""},
       {"experts", KeyKind::kInt, "4", 1, 1024, {}, "local ones"},
       {"hidden", KeyKind::kInt, "64", 2, 1 << 16, {}, ""},
       {"inter", KeyKind::kInt, "32", 2, 1 << 16, {}, ""},
       {"group", KeyKind::kInt, "16", 1, 1 << 16, {}, ""},
       {"fill",
        KeyKind::kWord,
        "randn",
        0,
        0,
        {"randn", "wide", "level", "offset", "flat", "small"},
        "wide: past the clamps; level: scales near each other, one expert with nearly all the weight; "
        "offset: "
        "activations of mean 1; flat: activations near 1, equal routes; small: where activations are linear"},
       call_key(),
       seed_key()}};
  f.contracts = {"rounded-weights", "low-partials"};
  f.mutants = {{"expert-twice", "last expert counted twice"},
               {"weight-twice", "route weight applied twice"},
               {"weight-dropped", "route weight dropped"},
               {"bias-13", "first bias dropped"},
               {"bias-2", "second bias dropped"},
               {"map-ignored", "expert map ignored"},
               {"halves-swapped", "gate and up swapped"},
               {"activation", "another activation"},
               {"last-expert", "last expert dropped"},
               {"scale-neighbour", "scale of the neighbouring group"},
               {"zero-point", "zero point off by one"},
               {"halves-interleaved", "gate and up read as neighbours"},
               {"one-route", "first expert's route weight for all"},
               {"bias-per-rank", "second bias added by two ranks"},
               {"w2-transposed", "square w2 transposed"},
               {"clamp-dropped", "clamp of the activation dropped"}};
  const std::string n = "quant.moe";
  f.smoke = {n + " seed=1",
             n + " bias=on topk=3 seed=2",
             n + " map=on seed=3",
             n + " weights=input seed=4",
             n + " inter=64 seed=5",
             n + " act=gelu-tanh seed=6",
             n + " act=swiglu-oai bias=on fill=wide dtype=f16 seed=7"};
  f.plain = {
      n + " fill=level bias=on topk=2 hidden=256 inter=256 group=16 tokens=1 seed=8",
      n + " fill=level bias=on topk=4 map=on hidden=64 inter=64 tokens=1 seed=11",
      n + " act=swiglu-oai fill=level hidden=512 tokens=8 seed=10",
      n + " fill=level tokens=1 hidden=2 inter=2 group=2 experts=2 topk=1 seed=42",
      n + " fill=level tokens=1 hidden=2 inter=2 group=2 experts=2 topk=1 seed=98",
      n + " fill=level tokens=1 hidden=2 inter=2 group=2 experts=2 topk=1 seed=24",
      n + " fill=level tokens=1 hidden=2 inter=2 group=2 experts=2 topk=1 seed=87",
      n + " fill=level tokens=1 hidden=2 inter=2 group=2 experts=2 topk=1 seed=5",
      n + " fill=level tokens=1 hidden=16 inter=16 group=1 experts=3 topk=2 seed=4",
      n + " fill=level tokens=1 hidden=2 inter=2 group=1 experts=2 topk=2 map=on act=swiglu-oai seed=0",
      n + " fill=level tokens=1 hidden=2 inter=2 group=1 experts=2 topk=2 map=on act=swiglu-oai seed=1",
      n + " fill=flat",
      n + " fill=flat seed=2",
      n + " fill=flat seed=12",
      n + " tokens=1 topk=1 experts=2 hidden=2 inter=2 group=2 fill=small seed=1",
      n + " tokens=1 topk=1 experts=2 hidden=2 inter=2 group=2 fill=small seed=94",
      n + " act=swiglu-oai tokens=1 topk=1 experts=2 hidden=2 inter=2 group=2 fill=wide seed=31"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16"}));
    set_key(c, "act", d.pick({"silu", "gelu-tanh", "gelu", "swiglu-oai"}));
    set_key(c, "weights", d.pick({"output", "output", "input"}));
    set_key(c, "bias", d.pick({"on", "off"}));
    set_key(c, "map", d.pick({"on", "off"}));
    set_key(c, "tokens", std::to_string(d.between(0, 5)));
    set_key(c, "topk", d.pick({"1", "2", "4"}));
    set_key(c, "hidden", d.pick({"32", "64"}));
    set_key(c, "inter", d.pick({"32", "64"}));
    set_key(c, "fill", d.pick({"randn", "wide", "level", "offset"}));
    if (longest > kLong) {
      set_key(c, "tokens", "1");
      set_key(c, "hidden", "32768");
      set_key(c, "inter", "16");
      set_key(c, "experts", "2");
      set_key(c, "topk", d.pick({"1", "2"}));
    }
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<MoeState>();
  return f;
}

}  // namespace assay::num
