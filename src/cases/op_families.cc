// ops.rmsnorm, ops.rotary, ops.activation, ops.router: the small operators between the big kernels.
#include <algorithm>
#include <cmath>

#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "cases/simple_workload.h"
#include "oracle/indexer.h"
#include "oracle/moe.h"

namespace assay::num {
namespace {

const std::vector<std::string> kTypes = {"bf16", "f16", "f32"};
KeySpec type_key() { return {"dtype", KeyKind::kWord, "bf16", 0, 0, kTypes, ""}; }
KeySpec seed_key() { return {"seed", KeyKind::kInt, "0", 0, 1e15, {}, ""}; }
KeySpec count_key(const char* name, const char* fallback) { return {name, KeyKind::kInt, fallback, 1, 1 << 18, {}, ""}; }
double out_rounding(DType type, double o) { return unit_roundoff(type) * std::fabs(o) + std::max(subnormal_roundoff(type), 0x1p-149); }

Reference rows_reference(std::string name, DType type, std::int64_t rows, std::int64_t dim) {
  Reference r;
  r.name = std::move(name);
  r.type = type;
  r.shape = {rows, dim};
  r.axes = {"row", "dim"};
  return r;
}

// ---- RMSNorm -------------------------------------------------------------------------------------------------------
enum NormBug { kNone, kEpsilonOutside, kWeightDropped, kUnitOffset, kMeanRemoved, kSumForMean, kDimTail, kResidualOld, kEpsilonDropped, kResidualDropped };

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
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool tiny = c.word("fill") == "tiny", level = c.word("fill") == "level";
    const double size = tiny ? 1e-3 : 1;
    s->x = s->set.add("x", s->type, {s->rows, s->dim}, [&](std::int64_t i) { return size * (Random(seed, 1).normal(i) + (level ? 0 : 0.3)); });
    if (s->residual) s->r = s->set.add("residual", s->type, {s->rows, s->dim}, [&](std::int64_t i) { return (level ? 0.002 : size) * Random(seed, 2).normal(i); });
    s->w = s->set.add("weight", s->type, {s->dim}, [&](std::int64_t i) { return (s->unit_offset ? (level ? 0.002 : 0.5) : 0) + (s->unit_offset ? 0 : 1) + (level ? 0.002 : 0.5) * Random(seed, 3).normal(i); });
    return s;
  }

  // β: the sum of squares errs by dim/2·u32 in the root at most, root, quotient and product by a few u32; a kernel that stores the
  // normalised value before the weight rounds once more. The stored residual is one rounded sum, and what is normalised is the
  // unrounded one or (contract 1) the rounded one.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference out = rows_reference("out", type, rows, dim), res = rows_reference("residual_out", type, rows, dim);
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
        const double inner = (0.5 * static_cast<double>(dim) + 8) * kU32 * std::fabs(o[d]) + (contract == 1 ? u * std::fabs(o[d]) : 0) + (contract == 1 ? subnormal_roundoff(type) * (1 + std::fabs(w[d])) : 0);
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
    Actual out{"out", type, {rows, dim}, std::vector<double>(rows * dim)}, res{"residual_out", type, {rows, dim}, std::vector<double>(rows * dim)};
    for (std::int64_t i = 0; i < rows; ++i) {
      std::vector<float> v(dim);
      for (std::int64_t d = 0; d < dim; ++d) {
        v[d] = static_cast<float>(x[i * dim + d]) + (residual && bug != kResidualDropped ? static_cast<float>(r[i * dim + d]) : 0.0f);
        res.value[i * dim + d] = round_to_f32(to, bug == kResidualOld ? static_cast<float>(x[i * dim + d]) : v[d]);
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

Family norm_family() {
  Family f;
  f.name = "ops.rmsnorm";
  f.component = "ops";
  f.schema = {f.name,
              {type_key(), {"residual", KeyKind::kWord, "off", 0, 0, {"off", "on"}, ""}, {"weight", KeyKind::kWord, "plain", 0, 0, {"plain", "plus-one"}, "plus-one: Gemma"},
               {"rows", KeyKind::kInt, "4", 0, 1 << 18, {}, ""}, count_key("dim", "96"), {"epsilon", KeyKind::kReal, "1e-06", 1e-12, 1, {}, ""},
               {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "tiny", "level"}, "tiny: of the size of sqrt(epsilon)"}, seed_key()}};
  f.contracts = {"one-rounding", "rounded-before-weight"};
  f.mutants = {{"epsilon-outside", "epsilon outside the root"}, {"weight-dropped", "weight dropped"}, {"unit-offset", "1 + weight for weight, or the reverse"},
               {"mean-removed", "mean removed first"}, {"sum-for-mean", "divided by dim - 1"}, {"dim-tail", "dims past a multiple of 64 not written"},
               {"residual-old", "residual not updated"}, {"epsilon-dropped", "epsilon dropped"}, {"residual-dropped", "residual not added"}};
  const std::string n = "ops.rmsnorm";
  f.smoke = {n + " seed=1", n + " fill=tiny seed=2", n + " residual=on seed=3", n + " weight=plus-one dtype=f32 seed=4", n + " fill=tiny residual=on dtype=f16 seed=5"};
  f.plain = {n + " fill=level dim=4096 seed=6", n + " fill=level residual=on dim=4096 seed=7", n + " fill=level dim=4096 dtype=f32 seed=8",
             n + " rows=1 dim=65 fill=level seed=51",
             n + " rows=1 dim=65 fill=level seed=7"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "residual", d.pick({"on", "off"}));
    set_key(c, "weight", d.pick({"plain", "plus-one"}));
    set_key(c, "rows", d.pick({"0", "1", "5"}));
    set_key(c, "dim", longest > 4096 && d.chance(0.12) ? "40000" : d.pick({"1", "64", "96", "1000"}));
    set_key(c, "epsilon", d.pick({"1e-06", "1e-05", "0.001"}));
    set_key(c, "fill", d.pick({"randn", "tiny", "level"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<NormState>();
  return f;
}

// ---- rotary --------------------------------------------------------------------------------------------------------
enum RotaryBug { kRNone, kPairing, kSign, kPosition, kWholeHead, kSwapped, kLastHead, kUnrotatedTail };

struct RotaryState {
  InputSet set;
  std::int64_t tokens = 0, heads = 0, dim = 0, rot = 0, most = 64;
  DType type = DType::kBf16;
  bool halves = true;
  std::vector<double> x, cos_sin, positions;

  static Expected<std::shared_ptr<RotaryState>> make(const Case& c) {
    auto s = std::make_shared<RotaryState>();
    s->tokens = c.integer("tokens");
    s->heads = c.integer("heads");
    s->dim = c.integer("dim");
    s->rot = c.integer("rot") == 0 ? s->dim : c.integer("rot");
    if (s->rot > s->dim || s->rot % 2 != 0) return fail("rot: an even number up to dim is needed");
    s->type = *parse_dtype(c.word("dtype"));
    s->halves = c.word("style") == "halves";
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool level = c.word("fill") == "level";
    const double base = level ? 1e-5 : 1;  // hardly any turn
    const std::int64_t half = s->rot / 2;
    s->cos_sin = s->set.add("cos_sin", DType::kF32, {s->most, s->rot}, [&](std::int64_t i) {
      const std::int64_t at = i % s->rot;
      const double angle = base * static_cast<double>(i / s->rot) * std::pow(10000.0, -2.0 * static_cast<double>(at % half) / static_cast<double>(s->rot));
      return at < half ? std::cos(angle) : std::sin(angle);
    });
    s->positions = s->set.add("positions", DType::kI64, {s->tokens}, [&](std::int64_t t) { return static_cast<double>(Random(seed, 2).between(t, 0, s->most - 2)); });
    s->x = s->set.add("x", s->type, {s->tokens, s->heads, s->dim}, [&](std::int64_t i) { return Random(seed, 1).normal(i); });
    return s;
  }

  // Two products and a difference: 3u32 of their sizes; a kernel that works in the operand type rounds both products and the
  // table's values.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference r = rows_reference("out", type, tokens * heads, dim);
    const double u = contract == 1 ? 2 * unit_roundoff(type) * (1 + unit_roundoff(type)) : 0;
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t h = 0; h < heads; ++h) {
        const double* head = &x[(t * heads + h) * dim];
        const double* row = &cos_sin[static_cast<std::int64_t>(positions[t]) * rot];
        const std::span<const double> cos{row, static_cast<std::size_t>(rot / 2)}, sin{row + rot / 2, static_cast<std::size_t>(rot / 2)};
        const auto o = rotary({head, static_cast<std::size_t>(dim)}, cos, sin, halves);
        for (std::int64_t d = 0; d < dim; ++d) {
          r.value.push_back(o[d]);
          const std::int64_t pair = halves ? d % std::max<std::int64_t>(1, rot / 2) : d / 2;
          const std::int64_t other = halves ? (d < rot / 2 ? d + rot / 2 : d - rot / 2) : d ^ 1;
          const double size = d < rot ? std::fabs(head[d] * cos[pair]) + std::fabs(head[other] * sin[pair]) : 0;
          r.budget.push_back(d < rot ? (1 + 0x1p-6) * ((3 * kU32 + u) * size) + 4 * subnormal_roundoff(type) + out_rounding(type, o[d]) : 0);
        }
      }
    return std::vector<Reference>{std::move(r)};
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<RotaryBug>(mutant);
    const DType work = contract == 1 && !fine ? type : DType::kF32, to = fine ? DType::kF32 : type;
    Actual a{"out", type, {tokens * heads, dim}, x};
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t h = 0; h < heads - (bug == kLastHead); ++h) {
        const double* row = &cos_sin[(static_cast<std::int64_t>(positions[t]) + (bug == kPosition)) * rot];
        const bool paired = halves != (bug == kPairing);
        const std::int64_t base = (t * heads + h) * dim, width = bug == kWholeHead ? dim / 2 : rot / 2;
        for (std::int64_t i = 0; i < width; ++i) {
          const std::int64_t p = base + (paired ? i : 2 * i), q = base + (paired ? i + width : 2 * i + 1), at = i % (rot / 2);
          float c = round_to_f32(work, static_cast<float>(row[at])), s = round_to_f32(work, static_cast<float>(row[rot / 2 + at]));
          if (bug == kSign) s = -s;
          if (bug == kSwapped) std::swap(c, s);
          const auto first = static_cast<float>(x[p]), second = static_cast<float>(x[q]);
          a.value[p] = round_to_f32(to, round_to_f32(work, first * c) - round_to_f32(work, second * s));
          a.value[q] = bug == kUnrotatedTail && i == width - 1 ? second : round_to_f32(to, round_to_f32(work, second * c) + round_to_f32(work, first * s));
        }
      }
    return {a};
  }
};

Family rotary_family() {
  Family f;
  f.name = "ops.rotary";
  f.component = "ops";
  f.schema = {f.name,
              {type_key(), {"style", KeyKind::kWord, "halves", 0, 0, {"halves", "pairs"}, ""}, {"tokens", KeyKind::kInt, "5", 0, 1 << 18, {}, ""}, count_key("heads", "3"), count_key("dim", "64"),
               {"rot", KeyKind::kInt, "0", 0, 1 << 18, {}, "rotated dims; 0: all"}, {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "level"}, "level: hardly any turn"}, seed_key()}};
  f.contracts = {"f32", "operand-type"};
  f.mutants = {{"pairing", "neighbours paired for halves, or the reverse"}, {"sign", "turned the other way"}, {"position", "position one high"}, {"whole-head", "all dims turned where only some are to be"},
               {"cos-sin-swapped", "cosine and sine swapped"}, {"last-head", "last head not turned"}, {"tail", "last pair half turned"}};
  const std::string n = "ops.rotary";
  f.smoke = {n + " seed=1", n + " style=pairs seed=2", n + " rot=32 dim=96 dtype=f32 seed=3"};
  f.plain = {n + " fill=level seed=4", n + " fill=level rot=32 seed=5",
             n + " tokens=1 heads=1 dim=2 seed=1"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "style", d.pick({"halves", "pairs"}));
    set_key(c, "tokens", d.pick({"0", "1", "7"}));
    set_key(c, "dim", d.pick({"64", "80"}));
    set_key(c, "rot", d.pick({"0", "16", "64"}));
    set_key(c, "fill", d.pick({"randn", "level"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<RotaryState>();
  return f;
}

// ---- gated activations ---------------------------------------------------------------------------------------------
enum ActBug { kANone, kHalves, kInterleaved, kOther, kUpDropped, kClamp, kAlpha, kAddOne };

struct ActState {
  InputSet set;
  std::int64_t rows = 0, dim = 0;
  DType type = DType::kBf16;
  Activation act = Activation::kSilu;
  std::vector<double> x;

  static Expected<std::shared_ptr<ActState>> make(const Case& c) {
    auto s = std::make_shared<ActState>();
    s->rows = c.integer("rows");
    s->dim = c.integer("dim");
    s->type = *parse_dtype(c.word("dtype"));
    const std::string& act = c.word("act");
    s->act = act == "silu" ? Activation::kSilu : act == "gelu-tanh" ? Activation::kGeluTanh : act == "gelu" ? Activation::kGeluErf : Activation::kSwigluOai;
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const double size = c.word("fill") == "wide" ? 6 : 1;
    const bool level = c.word("fill") == "level";
    s->x = s->set.add("x", s->type, {s->rows, 2 * s->dim}, [&](std::int64_t i) {
      const double n = size * Random(seed, 1).normal(i);
      if (!level) return n;
      return i % (2 * s->dim) < s->dim ? 3 + 0.001 * n : (i % 2 ? 0.34 : -0.34);  // gate past the knee, up small
    });
    return s;
  }

  // The exponential errs by 2^-22 + u32|x|, which the slope turns into an absolute error; products and quotients add a few u32. A
  // kernel that stores act(gate) before the product rounds once more.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference r = rows_reference("out", type, rows, dim);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t d = 0; d < dim; ++d) {
        const double g = x[i * 2 * dim + d], u = x[i * 2 * dim + dim + d], o = gated(act, g, u);
        const Slopes s = gated_slopes(act, g, u);
        double inner = s.gate * std::fabs(g) * (0x1p-21 + 4 * kU32 * (1 + std::fabs(g))) + 8 * kU32 * (std::fabs(o) + s.up);
        if (contract == 1) inner += unit_roundoff(type) * (std::fabs(o) + (act == Activation::kSwigluOai ? s.up : 0)) + subnormal_roundoff(type) * (1 + std::fabs(u));
        r.value.push_back(o);
        r.budget.push_back((1 + 0x1p-6) * inner + out_rounding(type, o));
      }
    return std::vector<Reference>{std::move(r)};
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<ActBug>(mutant);
    const DType mid = contract == 1 && !fine ? type : DType::kF32;
    Actual a{"out", type, {rows, dim}, std::vector<double>(rows * dim)};
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t d = 0; d < dim; ++d) {
        std::int64_t gate = d, up = dim + d;
        if (bug == kHalves) std::swap(gate, up);
        if (bug == kInterleaved) gate = 2 * d, up = 2 * d + 1;
        const float o = value(static_cast<float>(x[i * 2 * dim + gate]), static_cast<float>(x[i * 2 * dim + up]), mid, bug);
        a.value[i * dim + d] = fine ? o : round_to_f32(type, o);
      }
    return {a};
  }

  float value(float g, float u, DType mid, ActBug bug) const {
    const bool oai = act == Activation::kSwigluOai;
    if (oai && bug != kClamp) g = std::min(g, 7.0f), u = std::clamp(u, -7.0f, 7.0f);
    Activation a = act;
    if (bug == kOther) a = a == Activation::kGeluTanh ? Activation::kGeluErf : a == Activation::kGeluErf ? Activation::kGeluTanh : a;
    const float alpha = oai && bug != kAlpha ? 1.702f : 1.0f;
    float y = 0;
    if (a == Activation::kGeluErf)
      y = 0.5f * g * (1 + std::erf(g * 0.70710678f));
    else if (a == Activation::kGeluTanh)
      y = 0.5f * g * (1 + std::tanh(0.79788456f * (g + 0.044715f * g * g * g)));
    else
      y = g / (1 + std::exp(-alpha * g));
    y = round_to_f32(mid, y);
    if (bug == kUpDropped) return y;
    return y * (oai && bug != kAddOne ? u + 1 : u);
  }
};

Family act_family() {
  Family f;
  f.name = "ops.activation";
  f.component = "ops";
  f.schema = {f.name, {type_key(), {"act", KeyKind::kWord, "silu", 0, 0, {"silu", "gelu-tanh", "gelu", "swiglu-oai"}, ""}, {"rows", KeyKind::kInt, "4", 0, 1 << 18, {}, ""}, count_key("dim", "64"),
                       {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "wide", "level"}, ""}, seed_key()}};
  f.contracts = {"one-rounding", "rounded-before-product"};
  f.mutants = {{"halves-swapped", "gate and up swapped"}, {"interleaved", "gate and up read as neighbours"}, {"other-gelu", "tanh for erf in GELU, or the reverse"}, {"up-dropped", "not multiplied by up"},
               {"clamp-dropped", "clamp dropped"}, {"alpha", "factor 1.702 dropped"}, {"add-one", "up used for up + 1"}};
  const std::string n = "ops.activation";
  f.smoke = {n + " seed=1", n + " act=gelu dtype=f32 seed=2", n + " act=gelu-tanh dtype=f32 seed=3", n + " act=swiglu-oai fill=wide seed=4"};
  f.plain = {n + " act=gelu dtype=f32 seed=5", n + " act=swiglu-oai seed=6", n + " act=swiglu-oai fill=level seed=7",
             n + " rows=1 dim=1 act=swiglu-oai seed=15",
             n + " rows=1 dim=1 act=swiglu-oai fill=wide seed=5",
             n + " rows=1 dim=1 seed=55",
             n + " rows=1 dim=1 seed=147"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "act", d.pick({"silu", "gelu-tanh", "gelu", "swiglu-oai"}));
    set_key(c, "rows", d.pick({"0", "1", "7"}));
    set_key(c, "dim", d.pick({"1", "64", "100"}));
    set_key(c, "fill", d.pick({"randn", "wide"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<ActState>();
  return f;
}

// ---- router --------------------------------------------------------------------------------------------------------
enum RouterBug { kNoneR, kNotRenormalised, kOtherScore, kBiasInWeight, kBiasIgnored, kScaleDropped, kLastExpertR, kDuplicateId, kTopOnly };

struct RouterState {
  InputSet set;
  std::int64_t tokens = 0, experts = 0, topk = 0;
  bool softmax = true, renormalise = true;
  double scale = 1;
  std::vector<double> logits, bias;

  static Expected<std::shared_ptr<RouterState>> make(const Case& c) {
    auto s = std::make_shared<RouterState>();
    s->tokens = c.integer("tokens");
    s->experts = c.integer("experts");
    s->topk = c.integer("topk");
    if (s->topk > s->experts) return fail("topk: more than experts");
    s->softmax = c.word("score") == "softmax";
    s->renormalise = c.word("renormalise") == "on";
    s->scale = static_cast<float>(c.real("scale"));
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    s->logits = s->set.add("logits", DType::kF32, {s->tokens, s->experts}, [&](std::int64_t i) { return 2 * Random(seed, 1).normal(i); });
    if (c.word("bias") == "on") s->bias = s->set.add("bias", DType::kF32, {s->experts}, [&](std::int64_t e) { return 0.2 * Random(seed, 2).normal(e); });
    return s;
  }

  double slack(double score) const { return score * (0x1p-20 + static_cast<double>(experts) * kU32) + 0x1p-24; }

  // Weights are compared in the order of their size, since equal scores may come in either order; the chosen experts by topk_fault.
  // β: exponentials 2^-22 and the logits' magnitude in u32, the sums experts + topk roundings.
  Expected<std::vector<Reference>> references(std::size_t) const {
    Reference w = rows_reference("weights", DType::kF32, tokens, topk);
    Reference ids;
    ids.name = "ids";
    ids.type = DType::kI32;
    ids.shape = {tokens, topk};
    ids.axes = {"token", "place"};
    auto choices = std::make_shared<std::vector<std::vector<double>>>();
    for (std::int64_t t = 0; t < tokens; ++t) {
      const auto r = route_topk({&logits[t * experts], static_cast<std::size_t>(experts)}, bias, topk, softmax, renormalise, scale);
      auto sorted = r.weights;
      std::sort(sorted.rbegin(), sorted.rend());
      for (double x : sorted) {
        w.value.push_back(x);
        w.budget.push_back(std::fabs(x) * (0x1p-20 + static_cast<double>(experts + topk + 24) * kU32) + 0x1p-126);
      }
      choices->push_back(r.choice);
    }
    const std::int64_t k = topk, n = experts;
    const auto slack_of = [this](double s) { return slack(s); };
    ids.rule = [choices, k, n, slack_of](const Actual& a) -> std::optional<std::string> {
      for (std::size_t t = 0; t < choices->size(); ++t) {
        std::vector<std::int64_t> chosen;
        for (std::int64_t i = 0; i < k; ++i) chosen.push_back(static_cast<std::int64_t>(a.value[t * k + i]));
        std::vector<double> slack_values;
        for (double s : (*choices)[t]) slack_values.push_back(slack_of(std::fabs(s) + 1));
        if (auto why = topk_fault((*choices)[t], slack_values, 0, n, k, chosen)) return "token " + std::to_string(t) + ": " + *why;
      }
      return std::nullopt;
    };
    return std::vector<Reference>{std::move(w), std::move(ids)};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<RouterBug>(mutant);
    Actual w{"weights", DType::kF32, {tokens, topk}, std::vector<double>(tokens * topk)}, ids{"ids", DType::kI32, {tokens, topk}, std::vector<double>(tokens * topk)};
    for (std::int64_t t = 0; t < tokens; ++t) route(t, bug, &w.value[t * topk], &ids.value[t * topk]);
    return {w, ids};
  }

  void route(std::int64_t t, RouterBug bug, double* weights, double* ids) const {
    std::vector<float> score;
    float top = -1e30f, sum = 0, total = 0;
    for (std::int64_t e = 0; e < experts; ++e) top = std::max(top, static_cast<float>(logits[t * experts + e]));
    const bool soft = softmax != (bug == kOtherScore);
    for (std::int64_t e = 0; e < experts; ++e) {
      const auto x = static_cast<float>(logits[t * experts + e]);
      score.push_back(soft ? std::exp(x - top) : 1 / (1 + std::exp(-x)));
      sum += score.back();
    }
    if (soft)
      for (float& s : score) s /= sum;
    std::vector<std::int64_t> order;
    for (std::int64_t e = 0; e < experts - (bug == kLastExpertR && experts > topk); ++e) order.push_back(e);
    const auto choice = [&](std::int64_t e) { return score[e] + (bias.empty() || bug == kBiasIgnored ? 0.0f : static_cast<float>(bias[e])); };
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return choice(a) > choice(b); });
    if (bug == kDuplicateId && topk > 1) order[topk - 1] = order[0];
    std::vector<float> w;
    for (std::int64_t i = 0; i < topk; ++i) w.push_back(bug == kBiasInWeight ? choice(order[i]) : score[order[i]]), total += w.back();
    for (std::int64_t i = 0; i < topk; ++i) {
      if (renormalise != (bug == kNotRenormalised)) w[i] /= bug == kTopOnly ? total - w[0] + 1e-9f : total;
      if (bug != kScaleDropped) w[i] *= static_cast<float>(scale);
      ids[i] = static_cast<double>(order[i]);
    }
    std::sort(w.rbegin(), w.rend());
    std::copy(w.begin(), w.end(), weights);
  }
};

Family router_family() {
  Family f;
  f.name = "ops.router";
  f.component = "ops";
  f.schema = {f.name,
              {{"score", KeyKind::kWord, "softmax", 0, 0, {"softmax", "sigmoid"}, ""}, {"renormalise", KeyKind::kWord, "on", 0, 0, {"on", "off"}, ""}, {"bias", KeyKind::kWord, "off", 0, 0, {"off", "on"}, "of the choice alone"},
               {"tokens", KeyKind::kInt, "6", 0, 1 << 18, {}, ""}, count_key("experts", "16"), count_key("topk", "4"), {"scale", KeyKind::kReal, "1", 0.001, 1000, {}, ""}, seed_key()}};
  f.contracts = {"f32"};
  f.mutants = {{"not-renormalised", "router weights not renormalised"}, {"other-score", "sigmoid for softmax, or the reverse"}, {"bias-in-weight", "bias of the choice in the weights"}, {"bias-ignored", "bias ignored"},
               {"scale-dropped", "routed scale dropped"}, {"last-expert", "last expert never chosen"}, {"duplicate-id", "one expert twice"}, {"sum-without-first", "first weight left out of the sum"}};
  const std::string n = "ops.router";
  f.smoke = {n + " seed=1", n + " score=sigmoid bias=on scale=2.5 seed=2", n + " renormalise=off seed=3", n + " experts=8 topk=8 seed=4"};
  f.plain = {n + " tokens=1 experts=64 topk=60 seed=5", n + " tokens=1 experts=256 topk=8 scale=1.004 seed=6", n + " tokens=1 experts=256 topk=250 bias=on seed=7", n + " tokens=1 experts=8 topk=2 bias=on seed=8", n + " experts=64 tokens=1 seed=9",
             n + " tokens=1 experts=2 topk=2 bias=on seed=15",
             n + " tokens=1 experts=2 topk=2 bias=on seed=67",
             n + " tokens=1 experts=2 topk=2 bias=on seed=11",
             n + " tokens=1 experts=2 topk=2 bias=on seed=8",
             n + " tokens=1 experts=8 topk=1 seed=12"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "score", d.pick({"softmax", "sigmoid"}));
    set_key(c, "renormalise", d.pick({"on", "off"}));
    set_key(c, "bias", d.pick({"on", "off"}));
    set_key(c, "tokens", d.pick({"0", "1", "7"}));
    set_key(c, "experts", d.pick({"8", "64", "256"}));
    set_key(c, "topk", d.pick({"1", "4", "8"}));
    set_key(c, "scale", d.pick({"1", "2.5"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<RouterState>();
  return f;
}

}  // namespace

std::vector<Family> op_families() { return {norm_family(), rotary_family(), act_family(), router_family()}; }

}  // namespace assay::num
