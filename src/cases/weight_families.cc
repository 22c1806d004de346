// quant.wna16: products with 4- and 8-bit weights in checkpoint layouts. quant.repack: zero points from int32
// to bytes.
#include <algorithm>
#include <cmath>

#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "cases/simple_workload.h"
#include "judge/gemm_budget.h"
#include "oracle/weights.h"

namespace assay::num {
namespace {

enum Bug {
  kNone,
  kZeroPoint,
  kZeroPointOnce,
  kZeroDropped,
  kZeroWraps,
  kVersion,
  kNibbles,
  kZeroOrder,
  kGroupIndex,
  kTail,
  kNeighbourScale,
  kScaleOnce,
  kGroupSize,
  kSigned,
  kBias,
  kBiasPermuted,
  kZerosOfSymmetric,
  kSplitDropped,
  kScaleHigh
};

struct Wna16State {
  InputSet set;
  PackedWeight packed;
  std::int64_t m = 0;
  DType type = DType::kBf16;
  bool identity = false, with_bias = false, iid = true;
  std::vector<double> a, bias;
  std::vector<std::uint32_t> garbage_zeros;

  static Expected<std::shared_ptr<Wna16State>> make(const Case& c) {
    auto s = std::make_shared<Wna16State>();
    if (auto ok = s->read(c); !ok) return tl::unexpected(ok.error());
    return s;
  }

  Expected<void> read(const Case& c) {
    const std::string& format = c.word("format");
    packed.format = format == "gptq1"   ? WeightFormat::kGptqV1
                    : format == "gptq2" ? WeightFormat::kGptqV2
                    : format == "awq"   ? WeightFormat::kAwq
                                        : WeightFormat::kCompressedTensors;
    packed.bits = c.integer("bits");
    if (packed.bits != 4 && packed.bits != 8) return fail("bits: 4 or 8 is needed");
    packed.k = c.integer("k");
    packed.n = c.integer("n");
    packed.group = c.integer("group") == 0 ? packed.k : c.integer("group");
    packed.symmetric = c.word("zeros") == "sym";
    m = c.word("fill") == "identity" ? packed.k : c.integer("m");
    type = *parse_dtype(c.word("dtype"));
    identity = c.word("fill") == "identity";
    with_bias = c.word("bias") == "on";
    if (packed.k % 8 != 0 || packed.n % 8 != 0) return fail("k, n: multiples of 8 are needed");
    if (auto ok = expect_gemm(m, packed.k, packed.n); !ok) return ok;
    fill(c);
    return {};
  }

  void fill(const Case& c) {
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const Random rc(seed, 1), rz(seed, 2), rs(seed, 3),
        ra(seed, 4 + 100 * static_cast<std::uint64_t>(c.integer("call")));
    const std::int64_t top = (1 << packed.bits) - 1, groups = (packed.k + packed.group - 1) / packed.group;
    const bool level = c.word("fill") == "level";
    const std::string& how = c.word("fill");
    const bool outlier = how == "outlier";
    const double mean = how == "offset" || how == "flat" ? 1 : 0, size = how == "flat" ? 0.002 : 1;
    UnpackedWeight u;
    for (std::int64_t i = 0; i < packed.k * packed.n; ++i)
      u.code.push_back(static_cast<std::int32_t>(rc.between(i, 0, top)));
    for (std::int64_t i = 0; i < groups * packed.n; ++i) {
      u.zero.push_back(packed.symmetric
                           ? 1 << (packed.bits - 1)
                           : static_cast<std::int32_t>(level ? rz.between(i, 7, 8) : rz.between(i, 0, top)));
      const double spread = level ? 0.002 : 1;
      const double unit = 1 / (static_cast<double>(top) * 0.4 * std::sqrt(static_cast<double>(packed.k)));
      u.scale.push_back(round_to(type, unit * std::exp2(spread * rs.normal(i))));
    }
    if (c.word("order") == "act")
      for (std::int64_t i = 0; i < packed.k; ++i)
        packed.g_idx.push_back(static_cast<std::int32_t>((i * 7 + i / 3) % groups));
    pack(u, &packed);
    const std::int64_t words = 32 / packed.bits;
    set.add("qweight", DType::kI32, {static_cast<std::int64_t>(packed.qweight.size())}, [&](std::int64_t i) {
      return static_cast<double>(static_cast<std::int32_t>(packed.qweight[i]));
    });
    // A symmetric checkpoint may carry zero points that mean nothing.
    for (std::int64_t i = 0; i < groups * packed.n / words; ++i)
      garbage_zeros.push_back(static_cast<std::uint32_t>(rz.bits(i + (1 << 20))));
    const auto& zeros = packed.symmetric ? garbage_zeros : packed.qzeros;
    set.add("qzeros", DType::kI32, {static_cast<std::int64_t>(zeros.size())},
            [&](std::int64_t i) { return static_cast<double>(static_cast<std::int32_t>(zeros[i])); });
    set.add("scales", type, {static_cast<std::int64_t>(packed.scales.size())},
            [&](std::int64_t i) { return packed.scales[i]; });
    set.add("g_idx", DType::kI32, {static_cast<std::int64_t>(packed.g_idx.size())},
            [&](std::int64_t i) { return static_cast<double>(packed.g_idx[i]); });
    a = set.add("a", type, {m, packed.k}, [&](std::int64_t i) {
      if (identity) return i / packed.k == i % packed.k ? 1.0 : 0.0;
      return (outlier && i % packed.k == 0 ? 4096 : 1) * (mean + size * ra.normal(i));
    });
    if (with_bias)
      bias = set.add("bias", type, {packed.n}, [&](std::int64_t j) {
        return level ? 0.004 * static_cast<double>(j % 3 + 1) : static_cast<double>(j % 5) - 2;
      });
    iid = !identity && !outlier && mean == 0 && m >= 4;
  }

  GemmContract contract(std::size_t k) const {
    GemmContract c;
    c.out = type;
    c.weight = type;
    if (k == 1) {
      c.weight = DType::kF64;
      c.scale_after = (packed.k + packed.group - 1) / packed.group;
      c.order = kAmpere;
    }
    if (k == 2) {
      c.splits = 4;
      c.partial = type;
      c.partials_added = true;
    }
    return c;
  }

  Expected<std::vector<Reference>> references(std::size_t k) const {
    const auto u = unpack(packed);
    if (!u) return tl::unexpected(u.error());
    GemmContract c = contract(k);
    if (!packed.g_idx.empty() && c.scale_after > 0)
      c.scale_after = packed.k;  // no whole groups: a scale per term
    Reference r = gemm_reference(a, dequantize(*u, packed.k, packed.n), bias, m, packed.k, packed.n, c, iid);
    if (identity && bias.empty()) r.structured = Structured::kBits;
    return std::vector<Reference>{std::move(r)};
  }

  // Bits taken apart anew, with independent shifts.
  std::int32_t field(const std::vector<std::uint32_t>& words, std::int64_t index, std::int64_t slot, Bug bug,
                     bool is_zero) const {
    if (packed.format == WeightFormat::kAwq && packed.bits == 4) {
      static const int order[] = {0, 4, 1, 5, 2, 6, 3, 7};
      if (!(bug == kNibbles && !is_zero) && !(bug == kZeroOrder && is_zero)) slot = order[slot];
    } else if (bug == kNibbles && !is_zero) {
      slot ^= 1;
    } else if (bug == kZeroOrder && is_zero) {
      slot ^= 1;
    }
    std::uint32_t word = words[index];
    for (std::int64_t i = 0; i < slot; ++i) word /= 1u << packed.bits;
    return static_cast<std::int32_t>(word % (1u << packed.bits));
  }

  float weight(std::int64_t i, std::int64_t j, Bug bug) const {
    const std::int64_t per = 32 / packed.bits, k = packed.k, n = packed.n,
                       groups = (k + packed.group - 1) / packed.group;
    std::int64_t g = packed.g_idx.empty() || bug == kGroupIndex ? i / packed.group : packed.g_idx[i];
    if (bug == kGroupSize) g = i / (2 * packed.group);
    const bool ct = packed.format == WeightFormat::kCompressedTensors,
               awq = packed.format == WeightFormat::kAwq;
    std::int32_t q = ct    ? field(packed.qweight, j * (k / per) + i / per, i % per, bug, false)
                     : awq ? field(packed.qweight, i * (n / per) + j / per, j % per, bug, false)
                           : field(packed.qweight, i / per * n + j, i % per, bug, false);
    std::int32_t z = 1 << (packed.bits - 1);
    if (!packed.symmetric || bug == kZerosOfSymmetric) {
      const auto& words = packed.symmetric ? garbage_zeros : packed.qzeros;
      z = ct ? field(words, j / per * groups + g, j % per, bug, true)
             : field(words, g * (n / per) + j / per, j % per, bug, true);
      const bool v1 = packed.format == WeightFormat::kGptqV1;
      if (v1 != (bug == kVersion && (v1 || packed.format == WeightFormat::kGptqV2))) z += 1;
      if (bug == kZeroWraps) z &= (1 << packed.bits) - 1;
    }
    if (bug == kZeroPoint) z += 1;
    if (bug == kZeroPointOnce && g == groups - 1 && j == n - 1) z += 1;
    if (bug == kZeroDropped) z = 0;
    if (bug == kSigned) q = q >= 1 << (packed.bits - 1) ? q - (1 << packed.bits) : q;
    std::int64_t sg = g, sj = j;
    if (bug == kNeighbourScale) sj = (j + 1) % n;
    if (bug == kScaleOnce && j == n - 1) sg = (g + 1) % groups;
    const auto s = static_cast<float>(ct ? packed.scales[sj * groups + sg] : packed.scales[sg * n + sj]);
    return static_cast<float>(q - z) * s * (bug == kScaleHigh ? 1.01f : 1.0f);
  }

  std::vector<Actual> simulate(std::size_t k, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<Bug>(mutant);
    GemmContract c = contract(k);
    if (fine) {
      c.weight = DType::kF64;
      c.partial = DType::kF32;
    }
    Actual out{"out", type, {m, packed.n}, std::vector<double>(m * packed.n)};
    const std::vector<float> rows(a.begin(), a.end());
    std::vector<float> w(packed.k);
    for (std::int64_t j = 0; j < packed.n; ++j) {
      for (std::int64_t i = 0; i < packed.k; ++i) {
        w[i] = weight(i, j, bug);
        if (c.weight != DType::kF64) w[i] = round_to_f32(c.weight, w[i]);
        if (bug == kTail && i >= packed.k / 32 * 32) w[i] = 0;
      }
      for (std::int64_t r = 0; r < m; ++r) {
        float o = product(&rows[r * packed.k], w, c, bug);
        const std::int64_t bj = bug == kBiasPermuted ? j ^ 1 : j;
        if (!bias.empty() && bug != kBias) o += static_cast<float>(bias[bj]);
        out.value[r * packed.n + j] = fine ? o : round_to_f32(type, o);
      }
    }
    return {out};
  }

  float product(const float* row, const std::vector<float>& w, const GemmContract& c, Bug bug) const {
    const std::int64_t part = (packed.k + c.splits - 1) / c.splits;
    float sum = 0;
    for (std::int64_t s = 0; s < c.splits; ++s) {
      if (bug == kSplitDropped && s == c.splits - 1 && c.splits > 1) break;
      const std::int64_t from = std::min(packed.k, s * part), count = std::min(packed.k - from, part);
      const float p = dot_in_order(c.order, row + from, w.data() + from, count);
      sum = c.splits > 1 ? round_to_f32(c.partial, sum + round_to_f32(c.partial, p)) : p;
    }
    return sum;
  }
};

Family wna16_family() {
  Family f;
  f.name = "quant.wna16";
  f.component = "quantisation";
  f.schema = {
      f.name,
      {{"format", KeyKind::kWord, "gptq2", 0, 0, {"gptq1", "gptq2", "awq", "ct"}, "layout of the checkpoint"},
       {"dtype", KeyKind::kWord, "bf16", 0, 0, {"bf16", "f16"}, "of activations, scales and output"},
       {"bits", KeyKind::kInt, "4", 4, 8, {}, ""},
       {"zeros", KeyKind::kWord, "asym", 0, 0, {"asym", "sym"}, ""},
       {"order", KeyKind::kWord, "plain", 0, 0, {"plain", "act"}, "act: a group index per row"},
       {"bias", KeyKind::kWord, "off", 0, 0, {"off", "on"}, ""},
       {"m", KeyKind::kInt, "8", 0, 1 << 16, {}, "rows of activations"},
       {"k", KeyKind::kInt, "128", 8, 1 << 20, {}, ""},
       {"n", KeyKind::kInt, "16", 8, 1 << 20, {}, ""},
       {"group", KeyKind::kInt, "32", 0, 1 << 20, {}, "0: one for all rows"},
       {"fill",
        KeyKind::kWord,
        "randn",
        0,
        0,
        {"randn", "identity", "level", "offset", "flat", "outlier"},
        "level: scales and zero points near each other; offset: activations of mean 1; flat: near 1; "
        "outlier: one "
        "channel far above the others"},
       call_key(),
       seed_key()}};
  f.contracts = {"rounded-weights", "scale-after", "split-k-low"};
  f.mutants = {{"zero-point", "zero points off by one"},
               {"zero-point-once", "one zero point off by one"},
               {"zero-dropped", "zero points dropped"},
               {"zero-wraps", "a zero point of 16 wraps to 0"},
               {"version", "GPTQ v1 and v2 exchanged"},
               {"nibbles", "nibble order of the weights"},
               {"zero-order", "nibble order of the zero points"},
               {"group-index", "g_idx ignored"},
               {"k-tail", "K tail dropped"},
               {"neighbour-scale", "scale of the neighbouring column"},
               {"scale-once", "last column with the next group's scale"},
               {"group-size", "group size taken for twice the real one"},
               {"signed", "codes read as signed"},
               {"bias-dropped", "bias dropped"},
               {"bias-permuted", "bias of the neighbouring column"},
               {"zeros-of-symmetric", "unused zero points applied"},
               {"split-dropped", "last split of K dropped"},
               {"scale-high", "scales 1 % high"}};
  const std::string n = "quant.wna16";
  f.smoke = {n + " fill=identity seed=1",
             n + " fill=identity format=gptq1 seed=2",
             n + " fill=identity format=awq seed=3",
             n + " fill=identity format=ct seed=4",
             n + " fill=identity zeros=sym seed=5",
             n + " fill=identity order=act seed=6",
             n + " bias=on seed=7",
             n + " m=16 k=256 n=32 seed=8",
             n + " fill=identity bits=8 format=ct seed=9",
             n + " m=8 k=152 n=16 seed=10",
             n + " dtype=f16 format=awq seed=11"};
  f.plain = {n + " m=1 k=16384 n=8 group=32 fill=level bias=on seed=12",
             n + " m=2 k=4104 n=16 group=128 fill=level seed=13",
             n + " m=1 k=16384 n=8 group=32 format=gptq1 seed=14",
             n + " m=1 k=520 n=8 group=128 fill=level bias=on seed=0",
             n + " m=1 k=512 n=8 group=256 fill=level order=act seed=11",
             n + " m=1 k=512 n=8 group=256 fill=level order=act seed=5",
             n + " m=1 k=512 n=8 group=0 fill=level seed=0",
             n + " m=1 k=512 n=8 group=0 fill=level seed=16",
             n + " m=1 k=512 n=8 group=0 fill=level zeros=sym seed=136",
             n + " fill=flat",
             n + " m=1 k=65544 n=8 fill=level seed=2",
             n + " m=1 k=512 n=8 group=0 fill=level seed=178",
             n + " format=gptq1 m=1 k=512 n=8 group=0 seed=778",
             n + " m=1 k=8 n=8 group=0 fill=outlier seed=145",
             n + " m=1 k=32 n=8 group=0 fill=outlier"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "format", d.pick({"gptq1", "gptq2", "awq", "ct"}));
    set_key(c, "dtype", d.pick({"bf16", "f16"}));
    set_key(c, "bits", d.pick({"4", "4", "8"}));
    set_key(c, "zeros", d.pick({"asym", "sym"}));
    set_key(c, "order", d.pick({"plain", "act"}));
    set_key(c, "bias", d.pick({"on", "off"}));
    set_key(c, "m", d.pick({"0", "1", "5", "16"}));
    set_key(c, "k", d.pick({"8", "128", "152", "512"}));
    set_key(c, "n", d.pick({"8", "16", "40"}));
    set_key(c, "group", d.pick({"0", "32", "128"}));
    set_key(c, "fill", d.chance(0.3) ? "identity" : d.pick({"randn", "level", "offset"}));
    if (longest > kLong) {
      set_key(c, "m", d.pick({"1", "5"}));
      set_key(c, "k", d.pick({"32768", "40000"}));
      set_key(c, "n", "8");
      set_key(c, "fill", d.pick({"randn", "level", "offset"}));
    }
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<Wna16State>();
  return f;
}

// ---- quant.repack
// --------------------------------------------------------------------------------------------------
enum RepackBug { kRNone, kTransposedFirst, kNibbleSwap, kSignedShift, kExpertStride };

struct RepackState {
  InputSet set;
  std::int64_t experts = 0, groups = 0, n = 0;
  std::vector<std::uint32_t> words;

  static Expected<std::shared_ptr<RepackState>> make(const Case& c) {
    auto s = std::make_shared<RepackState>();
    s->experts = c.integer("experts");
    s->groups = c.integer("groups");
    s->n = c.integer("n");
    if (s->n % 8 != 0) return fail("n: a multiple of 8 is needed");
    if (auto ok = expect_few("experts, groups, n", {s->experts, s->groups, s->n}); !ok)
      return tl::unexpected(ok.error());
    const auto values =
        s->set.add("qzeros", DType::kI32, {s->experts, s->groups, s->n / 8}, [&](std::int64_t i) {
          return static_cast<double>(
              static_cast<std::int32_t>(Random(static_cast<std::uint64_t>(c.integer("seed")), 1).bits(i)));
        });
    for (double v : values) s->words.push_back(static_cast<std::uint32_t>(static_cast<std::int32_t>(v)));
    return s;
  }

  Expected<std::vector<Reference>> references(std::size_t) const {
    const auto bytes = repack_zeros(words, experts, groups, n);
    return std::vector<Reference>{exact_reference("zeros", DType::kU8, {experts, n / 2, groups},
                                                  {"expert", "byte", "group"}, {bytes.begin(), bytes.end()})};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<RepackBug>(mutant);
    Actual a{"zeros", DType::kU8, {experts, n / 2, groups}, std::vector<double>(experts * n / 2 * groups)};
    std::int64_t at = 0;
    for (std::int64_t e = 0; e < experts; ++e)
      for (std::int64_t pair = 0; pair < n / 2; ++pair)
        for (std::int64_t g = 0; g < groups; ++g, ++at) {
          const std::int64_t expert = bug == kExpertStride ? 0 : e;
          std::int64_t from = (expert * groups + g) * (n / 8) + pair / 4;
          std::int64_t shift = pair % 4;
          if (bug == kTransposedFirst) {  // the words are transposed, then cut into bytes
            const std::int64_t flat = pair * groups + g, word = flat / 4;
            from = expert * groups * (n / 8) + word % groups * (n / 8) + word / groups;
            shift = flat % 4;
          }
          const auto first = static_cast<std::int64_t>(words[from] >> (8 * shift) & 0xf),
                     second = static_cast<std::int64_t>(words[from] >> (8 * shift + 4) & 0xf);
          std::int64_t byte = bug == kNibbleSwap ? first * 16 + second : second * 16 + first;
          if (bug == kSignedShift && static_cast<std::int32_t>(words[from]) < 0 && shift == 3)
            byte = (byte & 0xf) | 0xf0;
          a.value[at] = static_cast<double>(byte);
        }
    return {a};
  }
};

Family repack_family() {
  Family f;
  f.name = "quant.repack";
  f.component = "quantisation";
  f.schema = {f.name,
              {{"experts", KeyKind::kInt, "2", 0, 4096, {}, ""},
               {"groups", KeyKind::kInt, "3", 1, 4096, {}, ""},
               {"n", KeyKind::kInt, "16", 8, 1 << 20, {}, "columns"},
               seed_key()}};
  f.contracts = {"exact"};
  f.mutants = {{"transposed-first", "transposed before the bytes were taken apart", true},
               {"nibble-swap", "nibbles of a byte swapped", true},
               {"signed-shift", "negative words shifted as signed", true},
               {"expert-stride", "first expert's zero points for all", true}};
  f.smoke = {"quant.repack seed=1", "quant.repack groups=1 n=256 experts=1 seed=2"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "experts", std::to_string(d.between(0, 3)));
    set_key(c, "groups", d.pick({"1", "2", "8"}));
    set_key(c, "n", d.pick({"8", "32", "64"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<RepackState>();
  return f;
}

}  // namespace

std::vector<Family> weight_families() { return {wna16_family(), repack_family()}; }

}  // namespace assay::num
