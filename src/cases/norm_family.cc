// ops.rmsnorm: root-mean-square norm, with a residual.
#include <algorithm>
#include <cmath>

#include "cases/op_helpers.h"
#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "oracle/moe.h"

namespace assay::num {
namespace {

// -------------------------------------------------------------------------------------------------------
enum NormBug {
  kNone,
  kEpsilonOutside,
  kWeightDropped,
  kUnitOffset,
  kMeanRemoved,
  kSumForMean,
  kDimTail,
  kResidualOld,
  kEpsilonDropped,
  kResidualDropped
};

struct NormState {
  InputSet set;
  std::int64_t rows = 0, dim = 0;
  DType type = DType::kBf16;
  bool residual = false, unit_offset = false;
  double epsilon = 1e-6;
  std::vector<double> x, r, w;

  static Expected<std::shared_ptr<NormState>> make(const Case& c) {
    auto s = std::make_shared<NormState>();
    s->rows = c.integer("rows");
    s->dim = c.integer("dim");
    s->type = *parse_dtype(c.word("dtype"));
    s->residual = c.word("residual") == "on";
    s->unit_offset = c.word("weight") == "plus-one";
    s->epsilon = c.real("epsilon");
    if (auto ok = expect_few("rows, dim", {s->rows, s->dim}); !ok) return tl::unexpected(ok.error());
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool tiny = c.word("fill") == "tiny", level = c.word("fill") == "level";
    const bool flat = c.word("fill") == "flat";
    const double size = tiny ? 1e-3 : 1;
    const std::uint64_t call = 100 * static_cast<std::uint64_t>(c.integer("call"));
    const Random random(seed, 1 + call);
    s->x = s->set.add("x", s->type, {s->rows, s->dim}, [&](std::int64_t i) {
      return flat ? 1 + 0.002 * random.normal(i) : size * (random.normal(i) + (level ? 0 : 0.3));
    });
    if (s->residual)
      s->r = s->set.add("residual", s->type, {s->rows, s->dim}, [&](std::int64_t i) {
        return (level ? 0.002 : size) * Random(seed, 2 + call).normal(i);
      });
    s->w = s->set.add("weight", s->type, {s->dim}, [&](std::int64_t i) {
      if (flat) return 300 + Random(seed, 3).normal(i);
      return (s->unit_offset ? (level ? 0.002 : 0.5) : 0) + (s->unit_offset ? 0 : 1) +
             (level ? 0.002 : 0.5) * Random(seed, 3).normal(i);
    });
    return s;
  }

  // β: the sum of squares errs by dim/2·u32 in the root at most, root, quotient and product by a few u32; a
  // kernel that stores the normalised value before the weight rounds once more. The stored residual is one
  // rounded sum, and what is normalised is the unrounded one or (contract 1) the rounded one.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference out = rows_reference("out", type, rows, dim),
              res = rows_reference("residual_out", type, rows, dim);
    const double u = unit_roundoff(type);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<double> row;
      for (std::int64_t d = 0; d < dim; ++d) {
        const double v = x[i * dim + d] + (residual ? r[i * dim + d] : 0);
        res.value.push_back(v);
        res.budget.push_back(out_rounding(type, v) + kU32 * std::fabs(v));
        row.push_back(contract == 1 && residual ? round_to(type, static_cast<float>(v)) : v);
      }
      const auto o = rms_norm(row, w, epsilon, unit_offset);
      for (std::int64_t d = 0; d < dim; ++d) {
        const double inner = (0.5 * static_cast<double>(dim) + 8) * kU32 * std::fabs(o[d]) +
                             (contract == 1 ? u * std::fabs(o[d]) : 0) +
                             (contract == 1 ? subnormal_roundoff(type) * (1 + std::fabs(w[d])) : 0);
        out.value.push_back(o[d]);
        out.budget.push_back((1 + 0x1p-6) * inner + out_rounding(type, o[d]));
      }
    }
    std::vector<Reference> all = {std::move(out)};
    if (residual) all.push_back(std::move(res));
    return all;
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<NormBug>(mutant);
    const DType to = fine ? DType::kF32 : type;
    Actual out{"out", type, {rows, dim}, std::vector<double>(rows * dim)},
        res{"residual_out", type, {rows, dim}, std::vector<double>(rows * dim)};
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<float> v(dim);
      for (std::int64_t d = 0; d < dim; ++d) {
        v[d] = static_cast<float>(x[i * dim + d]) +
               (residual && bug != kResidualDropped ? static_cast<float>(r[i * dim + d]) : 0.0f);
        res.value[i * dim + d] =
            round_to_f32(to, bug == kResidualOld ? static_cast<float>(x[i * dim + d]) : v[d]);
        if (contract == 1 && residual) v[d] = round_to_f32(type, v[d]);
      }
      const float scale = inverse_root(v, bug);
      for (std::int64_t d = 0; d < dim; ++d) {
        float n = v[d] * scale;
        if (contract == 1) n = round_to_f32(to, n);
        auto weight = static_cast<float>(w[d]);
        if (unit_offset != (bug == kUnitOffset)) weight += 1;
        if (bug == kWeightDropped) weight = 1;
        out.value[i * dim + d] = bug == kDimTail && d >= dim / 64 * 64 ? 0.0 : round_to_f32(to, n * weight);
      }
    }
    std::vector<Actual> all = {out};
    if (residual) all.push_back(res);
    return all;
  }

  float inverse_root(std::vector<float>& v, NormBug bug) const {
    float mean = 0, squares = 0;
    for (float y : v) mean += y;
    mean /= static_cast<float>(dim);
    for (float& y : v) {
      if (bug == kMeanRemoved) y -= mean;
      squares += y * y;
    }
    const float divisor = static_cast<float>(bug == kSumForMean ? dim - 1 : dim);
    const auto e = static_cast<float>(bug == kEpsilonDropped ? 0 : epsilon);
    if (bug == kEpsilonOutside) return 1 / (std::sqrt(squares / divisor) + e);
    return 1 / std::sqrt(squares / divisor + e);
  }
};

}  // namespace

Family rmsnorm_family() {
  Family f;
  f.name = "ops.rmsnorm";
  f.component = "ops";
  f.schema = {
      f.name,
      {type_key(),
       {"residual", KeyKind::kWord, "off", 0, 0, {"off", "on"}, ""},
       {"weight", KeyKind::kWord, "plain", 0, 0, {"plain", "plus-one"}, "plus-one: Gemma"},
       {"rows", KeyKind::kInt, "4", 0, 1 << 18, {}, ""},
       count_key("dim", "96"),
       {"epsilon", KeyKind::kReal, "1e-06", 1e-12, 1, {}, ""},
       {"fill",
        KeyKind::kWord,
        "randn",
        0,
        0,
        {"randn", "tiny", "level", "flat"},
        "tiny: of the size of sqrt(epsilon); level: weights near 1; flat: inputs near 1, weights near 300"},
       call_key(),
       seed_key()}};
  f.contracts = {"one-rounding", "rounded-before-weight"};
  f.mutants = {{"epsilon-outside", "epsilon outside the root"},
               {"weight-dropped", "weight dropped"},
               {"unit-offset", "1 + weight for weight, or the reverse"},
               {"mean-removed", "mean removed first"},
               {"sum-for-mean", "divided by dim - 1"},
               {"dim-tail", "dims past a multiple of 64 not written"},
               {"residual-old", "residual not updated"},
               {"epsilon-dropped", "epsilon dropped"},
               {"residual-dropped", "residual not added"}};
  const std::string n = "ops.rmsnorm";
  f.smoke = {n + " seed=1", n + " fill=tiny seed=2", n + " residual=on seed=3",
             n + " weight=plus-one dtype=f32 seed=4", n + " fill=tiny residual=on dtype=f16 seed=5"};
  f.plain = {n + " fill=level dim=4096 seed=6",
             n + " fill=level residual=on dim=4096 seed=7",
             n + " fill=level dim=4096 dtype=f32 seed=8",
             n + " rows=1 dim=65 fill=level seed=51",
             n + " rows=1 dim=65 fill=level seed=7",
             n + " fill=flat",
             n + " fill=flat seed=1"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "residual", d.pick({"on", "off"}));
    set_key(c, "weight", d.pick({"plain", "plus-one"}));
    set_key(c, "rows", d.pick({"0", "1", "5"}));
    set_key(c, "dim", longest > kLong ? "40000" : d.pick({"1", "64", "96", "1000"}));
    set_key(c, "epsilon", d.pick({"1e-06", "1e-05", "0.001"}));
    set_key(c, "fill", d.pick({"randn", "tiny", "level"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<NormState>();
  return f;
}

}  // namespace assay::num
