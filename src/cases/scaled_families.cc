// quant.w8a8: INT8 with per-token or static activation scales and zero points. quant.fp8block: FP8 with block
// scales.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "cases/simple_workload.h"

namespace assay::num {
namespace {

// ---- INT8
// ----------------------------------------------------------------------------------------------------------
enum Bug8 {
  kNone,
  kAzpDropped,
  kAzpUnscaled,
  kAzpSign,
  kColumnScale,
  kRowScale,
  kBiasDropped,
  kBiasScaled,
  kTail,
  kUnsigned,
  kScaleHigh,
  kAzpFirst,
  kBiasTwice
};

struct W8a8State {
  InputSet set;
  std::int64_t m = 0, k = 0, n = 0;
  DType out = DType::kBf16;
  std::vector<double> a, w, sa, sw, azp, bias;

  static Expected<std::shared_ptr<W8a8State>> make(const Case& c) {
    auto s = std::make_shared<W8a8State>();
    s->m = c.integer("m");
    s->k = c.integer("k");
    s->n = c.integer("n");
    s->out = *parse_dtype(c.word("out"));
    if (auto ok = expect_gemm(s->m, s->k, s->n); !ok) return tl::unexpected(ok.error());
    if (s->k > 131072) return fail("k: the int32 sum could overflow");
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool is_static = c.word("activation") == "static", level = c.word("fill") == "level";
    const bool flat = c.word("fill") == "flat", outlier = c.word("fill") == "outlier";
    const std::uint64_t call = 100 * static_cast<std::uint64_t>(c.integer("call"));
    const Random ra(seed, 1 + call), rw(seed, 2), rs(seed, 3), rt(seed, 3 + call);
    const std::int64_t width = s->k;
    const auto in_range = [](double x) { return std::clamp(x, -127.0, 127.0); };
    s->a = s->set.add("a", DType::kI8, {s->m, s->k}, [&](std::int64_t i) {
      if (outlier) return i % width == 0 ? 127 : 0.5 * ra.normal(i);
      return flat ? 100 + 0.25 * ra.normal(i) : in_range(40 * ra.normal(i));
    });
    s->w = s->set.add("w", DType::kI8, {s->k, s->n},
                      [&](std::int64_t i) { return in_range(40 * rw.normal(i)); });
    const double unit = 1 / (40 * std::sqrt(static_cast<double>(s->k))), spread = level || flat ? 0.002 : 1;
    s->sa = s->set.add("a_scale", DType::kF32, {is_static ? 1 : s->m},
                       [&](std::int64_t i) { return std::exp2(spread * rt.normal(i)) / 40; });
    s->sw = s->set.add("w_scale", DType::kF32, {s->n}, [&](std::int64_t i) {
      return unit * 40 * std::exp2(spread * rs.normal(i + (1 << 20)));
    });
    if (c.word("zeros") == "asym")
      s->azp = s->set.add("azp", DType::kI32, {is_static ? 1 : s->m}, [&](std::int64_t i) {
        return static_cast<double>(
            rt.between(i + (2 << 20), level || flat ? 1 : -60, level || flat ? 1 : 60));
      });
    if (c.word("bias") == "on")
      s->bias = s->set.add("bias", s->out, {s->n},
                           [&](std::int64_t j) { return level ? 0.004 : static_cast<double>(j % 7) - 3; });
    return s;
  }

  double at(const std::vector<double>& x, std::int64_t i) const { return x.size() == 1 ? x[0] : x[i]; }

  // Integer sums are exact; what is left are the scale products, the bias and the output's rounding: 4u32 of
  // their sizes. A kernel that subtracts the zero point's part in binary32 rounds both parts first.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference r;
    r.name = "out";
    r.type = out;
    r.shape = {m, n};
    r.axes = {"row", "column"};
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double acc = 0, sum_w = 0;
        for (std::int64_t x = 0; x < k; ++x) {
          acc += a[i * k + x] * w[x * n + j];
          sum_w += w[x * n + j];
        }
        const double zero = azp.empty() ? 0 : at(azp, i) * sum_w, s = at(sa, i) * sw[j],
                     b = bias.empty() ? 0 : bias[j];
        const double o = s * (acc - zero) + b;
        const double size = contract == 1 ? std::fabs(acc) + std::fabs(zero) : std::fabs(acc - zero);
        r.value.push_back(o);
        r.budget.push_back(4 * kU32 * (s * size + std::fabs(b) + std::fabs(o)) +
                           unit_roundoff(out) * std::fabs(o) + 0x1p-134);
      }
    return std::vector<Reference>{std::move(r)};
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<Bug8>(mutant);
    Actual o{"out", out, {m, n}, std::vector<double>(m * n)};
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float x = element(contract, i, j, bug);
        o.value[i * n + j] = fine ? x : round_to_f32(out, x);
      }
    return {o};
  }

  float element(std::size_t contract, std::int64_t i, std::int64_t j, Bug8 bug) const {
    std::int32_t acc = 0, sum_w = 0;
    for (std::int64_t x = 0; x < (bug == kTail ? k / 64 * 64 : k); ++x) {
      auto wx = static_cast<std::int32_t>(w[x * n + j]);
      if (bug == kUnsigned && wx < 0) wx += 256;
      acc += static_cast<std::int32_t>(a[i * k + x]) * wx;
      sum_w += static_cast<std::int32_t>(w[x * n + j]);
    }
    const float s_a =
        static_cast<float>(at(sa, bug == kRowScale ? (i + 1) % m : i)) * (bug == kScaleHigh ? 1.01f : 1.0f);
    const auto s_w = static_cast<float>(sw[bug == kColumnScale ? (j + 1) % n : j]);
    std::int32_t zero =
        azp.empty() || bug == kAzpDropped ? 0 : static_cast<std::int32_t>(at(azp, bug == kAzpFirst ? 0 : i));
    if (bug == kAzpSign) zero = -zero;
    const float b = bias.empty() || bug == kBiasDropped
                        ? 0.0f
                        : static_cast<float>(bias[j]) * (bug == kBiasTwice ? 2.0f : 1.0f);
    if (bug == kAzpUnscaled)
      return s_a * s_w * static_cast<float>(acc) -
             static_cast<float>(zero) * static_cast<float>(sum_w) * s_w + b;
    if (bug == kBiasScaled) return s_a * s_w * (static_cast<float>(acc - zero * sum_w) + b);
    if (contract == 1)
      return s_a * s_w * static_cast<float>(acc) -
             s_a * s_w * (static_cast<float>(zero) * static_cast<float>(sum_w)) + b;
    return s_a * (s_w * static_cast<float>(acc - zero * sum_w)) + b;
  }
};

Family w8a8_family() {
  Family f;
  f.name = "quant.w8a8";
  f.component = "quantisation";
  f.schema = {f.name,
              {{"out", KeyKind::kWord, "bf16", 0, 0, {"bf16", "f16", "f32"}, ""},
               {"activation",
                KeyKind::kWord,
                "token",
                0,
                0,
                {"token", "static"},
                "one scale a token, or one for all"},
               {"zeros", KeyKind::kWord, "asym", 0, 0, {"asym", "sym"}, ""},
               {"bias", KeyKind::kWord, "on", 0, 0, {"on", "off"}, ""},
               {"m", KeyKind::kInt, "5", 0, 1 << 16, {}, ""},
               {"k", KeyKind::kInt, "96", 1, 1 << 20, {}, ""},
               {"n", KeyKind::kInt, "24", 1, 1 << 20, {}, ""},
               {"fill",
                KeyKind::kWord,
                "randn",
                0,
                0,
                {"randn", "level", "flat", "outlier"},
                "level: scales near each other; flat: activations as well; outlier: one channel far above "
                "the others"},
               call_key(),
               seed_key()}};
  f.contracts = {"int32-subtraction", "f32-subtraction"};
  f.mutants = {{"azp-dropped", "activation zero point dropped"},
               {"azp-unscaled", "zero point's part not scaled by the activation scale"},
               {"azp-sign", "zero point added instead of subtracted"},
               {"column-scale", "scale of the neighbouring column"},
               {"row-scale", "scale of the neighbouring token"},
               {"bias-dropped", "bias dropped"},
               {"bias-scaled", "bias added before the scales"},
               {"k-tail", "K tail dropped"},
               {"unsigned", "weights read as unsigned"},
               {"scale-high", "scale 1 % high"},
               {"azp-first", "zero point of the first token for all"},
               {"bias-twice", "bias added by two shards"}};
  const std::string n = "quant.w8a8";
  f.smoke = {n + " seed=1", n + " activation=static seed=2", n + " out=f32 k=200 seed=3",
             n + " zeros=sym m=1 seed=4"};
  f.plain = {n + " m=2 k=4100 n=16 fill=level seed=5",
             n + " m=1 k=16390 n=1 fill=level seed=6",
             n + " m=1 k=4096 n=1 fill=level seed=9",
             n + " m=2 k=96 n=1 bias=off seed=24",
             n + " m=2 k=64 n=1 fill=level seed=8",
             n + " m=2 k=64 n=1 fill=level seed=104",
             n + " m=2 k=64 n=1 fill=level seed=0",
             n + " m=1 fill=flat",
             n + " zeros=sym bias=off m=1 k=2 n=1 fill=outlier seed=2824"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "out", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "activation", d.pick({"token", "static"}));
    set_key(c, "zeros", d.pick({"asym", "sym"}));
    set_key(c, "bias", d.pick({"on", "off"}));
    set_key(c, "m", d.pick({"0", "1", "5", "16"}));
    set_key(c, "k", longest > kLong ? "40000" : d.pick({"1", "96", "130", "512"}));
    set_key(c, "n", d.pick({"1", "24", "40"}));
    set_key(c, "fill", d.pick({"randn", "level"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<W8a8State>();
  return f;
}

// ---- FP8 with block scales
// -----------------------------------------------------------------------------------------
enum BugF {
  kFNone,
  kNextK,
  kNextN,
  kTransposed,
  kTailScale,
  kFTail,
  kTensorScale,
  kFloorBlocks,
  kRowMix,
  kFScaleHigh,
  kActDropped
};

struct Fp8State {
  InputSet set;
  std::int64_t m = 0, k = 0, n = 0, block = 0, kb = 0, nb = 0;
  std::vector<double> a, w, sa, sw;
  std::vector<float> a32, w32;  // as the simulated kernel takes them

  static Expected<std::shared_ptr<Fp8State>> make(const Case& c) {
    auto s = std::make_shared<Fp8State>();
    s->m = c.integer("m");
    s->k = c.integer("k");
    s->n = c.integer("n");
    s->block = c.integer("block");
    s->kb = (s->k + s->block - 1) / s->block;
    s->nb = (s->n + s->block - 1) / s->block;
    if (auto ok = expect_gemm(s->m, s->k, s->n); !ok) return tl::unexpected(ok.error());
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool ue8m0 = c.word("scales") == "ue8m0", level = c.word("fill") == "level";
    const bool flat = c.word("fill") == "flat";
    const double mean = c.word("fill") == "offset" ? 1 : 0;
    const std::uint64_t call = 100 * static_cast<std::uint64_t>(c.integer("call"));
    const Random ra(seed, 1 + call), rw(seed, 2), rs(seed, 3), rt(seed, 3 + call);
    s->a = s->set.add("a", DType::kE4m3fn, {s->m, s->k},
                      [&](std::int64_t i) { return flat ? 1 + 0.002 * ra.normal(i) : mean + ra.normal(i); });
    s->w = s->set.add("w", DType::kE4m3fn, {s->n, s->k}, [&](std::int64_t i) { return mean + rw.normal(i); });
    s->a32.assign(s->a.begin(), s->a.end());
    s->w32.assign(s->w.begin(), s->w.end());
    const auto scale_of = [&](const Random& random, std::int64_t i) {
      return ue8m0 ? std::exp2(static_cast<double>(random.between(i, -2, 2)))
                   : std::exp2((level || flat ? 0.002 : 1) * random.normal(i));
    };
    s->sa =
        s->set.add("a_scale", DType::kF32, {s->m, s->kb}, [&](std::int64_t i) { return scale_of(rt, i); });
    const double unit = 1 / std::sqrt(static_cast<double>(s->k));
    s->sw = s->set.add("w_scale", DType::kF32, {s->nb, s->kb},
                       [&](std::int64_t i) { return (ue8m0 ? 1 : unit) * scale_of(rs, i + (1 << 20)); });
    return s;
  }

  // β = Σ_b s_a s_w·acc[block b] + (K/block + 4)u32·Σ s_a s_w|ab| + u_o|o|: each block is summed on the
  // matrix unit and promoted to binary32 once; without promotion the unit's error would run over all of K.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference r;
    r.name = "out";
    r.type = DType::kBf16;
    r.shape = {m, n};
    r.axes = {"row", "column"};
    const Accumulation order = contract == 1 ? kHopperFp8 : kAnyOrder;
    std::vector<double> terms;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double o = 0, size = 0, error = 0;
        for (std::int64_t b = 0; b < kb; ++b) {
          terms.clear();
          double dot = 0, all = 0;
          for (std::int64_t x = b * block; x < std::min(k, (b + 1) * block); ++x) {
            terms.push_back(a[i * k + x] * w[j * k + x]);
            dot += terms.back();
            all += std::fabs(terms.back());
          }
          const double s = sa[i * kb + b] * sw[j / block * kb + b];
          o += s * dot;
          size += s * all;
          error += s * accumulation_error(order, terms);
        }
        r.value.push_back(o);
        const double inner = (1 + 0x1p-6) * (error + static_cast<double>(kb + 4) * kU32 * size);
        r.budget.push_back(inner + unit_roundoff(DType::kBf16) * std::fabs(o) + 0x1p-134);
        r.coarse.push_back(inner > kCoarse * size);
      }
    return std::vector<Reference>{std::move(r)};
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<BugF>(mutant);
    Actual o{"out", DType::kBf16, {m, n}, std::vector<double>(m * n)};
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::int64_t b = 0; b < (bug == kFTail ? k / block : kb); ++b)
          sum += block_sum(fine ? 0 : contract, i, j, b, bug);
        o.value[i * n + j] = fine ? sum : round_to_f32(DType::kBf16, sum);
      }
    return {o};
  }

  float block_sum(std::size_t contract, std::int64_t i, std::int64_t j, std::int64_t b, BugF bug) const {
    const std::int64_t from = b * block, count = std::min(block, k - from);
    const float dot =
        dot_in_order(contract == 1 ? kHopperFp8 : kAnyOrder, &a32[i * k + from], &w32[j * k + from], count);
    std::int64_t wn = j / block, wk = b, ai = i, ak = b;
    if (bug == kNextK) wk = (b + 1) % kb;
    if (bug == kNextN) wn = (wn + 1) % nb;
    if (bug == kTransposed) std::tie(ai, ak) = std::pair{(i * kb + b) % m, (i * kb + b) / m};
    if (bug == kTailScale && b == kb - 1) wk = 0;
    if (bug == kTensorScale) wn = wk = 0;
    if (bug == kFloorBlocks) wn = std::min(wn, std::max<std::int64_t>(1, n / block) - 1);
    if (bug == kRowMix) ai = 0;
    const float s_a = bug == kActDropped ? 1.0f : static_cast<float>(sa[ai * kb + ak]);
    return dot * (s_a * static_cast<float>(sw[wn * kb + wk])) * (bug == kFScaleHigh ? 1.01f : 1.0f);
  }
};

Family fp8_family() {
  Family f;
  f.name = "quant.fp8block";
  f.component = "quantisation";
  f.schema = {
      f.name,
      {{"scales", KeyKind::kWord, "f32", 0, 0, {"f32", "ue8m0"}, ""},
       {"m", KeyKind::kInt, "5", 0, 1 << 16, {}, ""},
       {"k", KeyKind::kInt, "300", 1, 1 << 20, {}, ""},
       {"n", KeyKind::kInt, "72", 1, 1 << 20, {}, ""},
       {"block", KeyKind::kInt, "128", 1, 4096, {}, ""},
       {"fill",
        KeyKind::kWord,
        "randn",
        0,
        0,
        {"randn", "level", "offset", "flat"},
        "level: scales near each other; offset: both operands of mean 1; flat: level, activations near 1"},
       call_key(),
       seed_key()}};
  f.contracts = {"any-order", "fp8-sums-promoted"};
  f.mutants = {{"next-k-block", "scale of the next block along K"},
               {"next-n-block", "scale of the next block along N"},
               {"scales-transposed", "activation scales read column-major"},
               {"tail-scale", "last partial block with the first block's scale"},
               {"k-tail", "K tail dropped"},
               {"tensor-scale", "one block's scale for all"},
               {"floor-blocks", "number of N blocks rounded down"},
               {"row-mix", "first token's scales for all"},
               {"scale-high", "scale 1 % high"},
               {"activation-scale-dropped", "activation scale dropped"}};
  const std::string n = "quant.fp8block";
  f.smoke = {n + " block=32 seed=1", n + " seed=2", n + " scales=ue8m0 block=16 m=3 seed=3"};
  f.plain = {n + " m=4 k=2000 n=16 fill=level block=8 seed=4",
             n + " m=1 k=16388 n=4 fill=level block=128 seed=5", n + " m=1 k=130 n=1 fill=level seed=10",
             n + " m=1 k=130 n=20 block=16 fill=level seed=0", n + " fill=flat"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "scales", d.pick({"f32", "ue8m0"}));
    set_key(c, "m", d.pick({"0", "1", "4"}));
    set_key(c, "k", d.pick({"1", "128", "300", "512"}));
    set_key(c, "n", d.pick({"1", "40", "72"}));
    set_key(c, "block", d.pick({"16", "32", "128"}));
    set_key(c, "fill", d.pick({"randn", "level", "offset"}));
    if (longest > kLong) {
      set_key(c, "m", d.pick({"1", "4"}));
      set_key(c, "k", d.pick({"33000", "40000"}));
      set_key(c, "n", d.pick({"1", "8"}));
    }
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<Fp8State>();
  return f;
}

}  // namespace

std::vector<Family> scaled_families() { return {w8a8_family(), fp8_family()}; }

}  // namespace assay::num
