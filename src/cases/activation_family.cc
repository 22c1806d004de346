// ops.activation: gated activations.
#include <algorithm>
#include <cmath>

#include "cases/op_helpers.h"
#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "oracle/moe.h"

namespace assay::num {
namespace {

// ---------------------------------------------------------------------------------------------
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
    s->act = activation_named(c.word("act"));
    if (auto ok = expect_few("rows, dim", {s->rows, 2 * s->dim}); !ok) return tl::unexpected(ok.error());
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const double size = c.word("fill") == "wide" ? 6 : 1;
    const bool level = c.word("fill") == "level", flat = c.word("fill") == "flat";
    s->x = s->set.add("x", s->type, {s->rows, 2 * s->dim}, [&](std::int64_t i) {
      const double n = size * Random(seed, 1).normal(i);
      if (flat) return 1 + 0.0005 * n;
      if (!level) return n;
      return i % (2 * s->dim) < s->dim ? 3 + 0.001 * n
                                       : (i % 2 ? 0.34 : -0.34);  // gate past the knee, up small
    });
    return s;
  }

  // The exponential errs by 2^-22 + u32|x|, which the slope turns into an absolute error; products and
  // quotients add a few u32. A kernel that stores act(gate) before the product rounds once more.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference r = rows_reference("out", type, rows, dim);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t d = 0; d < dim; ++d) {
        const double g = x[i * 2 * dim + d], u = x[i * 2 * dim + dim + d], o = gated(act, g, u);
        const Slopes s = gated_slopes(act, g, u);
        double inner = s.gate * std::fabs(g) * (0x1p-21 + 4 * kU32 * (1 + std::fabs(g))) +
                       8 * kU32 * (std::fabs(o) + s.up);
        if (contract == 1)
          inner += unit_roundoff(type) * (std::fabs(o) + (act == Activation::kSwigluOai ? s.up : 0)) +
                   subnormal_roundoff(type) * (1 + std::fabs(u));
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
        const float o = value(static_cast<float>(x[i * 2 * dim + gate]),
                              static_cast<float>(x[i * 2 * dim + up]), mid, bug);
        a.value[i * dim + d] = fine ? o : round_to_f32(type, o);
      }
    return {a};
  }

  float value(float g, float u, DType mid, ActBug bug) const {
    const bool oai = act == Activation::kSwigluOai;
    if (oai && bug != kClamp) g = std::min(g, 7.0f), u = std::clamp(bug == kAddOne ? u + 1 : u, -7.0f, 7.0f);
    Activation a = act;
    if (bug == kOther)
      a = a == Activation::kGeluTanh  ? Activation::kGeluErf
          : a == Activation::kGeluErf ? Activation::kGeluTanh
                                      : a;
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

}  // namespace

Family activation_family() {
  Family f;
  f.name = "ops.activation";
  f.component = "ops";
  f.schema = {
      f.name,
      {type_key(),
       {"act", KeyKind::kWord, "silu", 0, 0, {"silu", "gelu-tanh", "gelu", "swiglu-oai"}, ""},
       {"rows", KeyKind::kInt, "4", 0, 1 << 18, {}, ""},
       count_key("dim", "64"),
       {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "wide", "level", "flat"}, "flat: all near 1"},
       seed_key()}};
  f.contracts = {"one-rounding", "rounded-before-product"};
  f.mutants = {{"halves-swapped", "gate and up swapped"},
               {"interleaved", "gate and up read as neighbours"},
               {"other-gelu", "tanh for erf in GELU, or the reverse"},
               {"up-dropped", "not multiplied by up"},
               {"clamp-dropped", "clamp dropped"},
               {"alpha", "factor 1.702 dropped"},
               {"add-one", "one added to up before the clamp instead of behind it"}};
  const std::string n = "ops.activation";
  f.smoke = {n + " seed=1", n + " act=gelu dtype=f32 seed=2", n + " act=gelu-tanh dtype=f32 seed=3",
             n + " act=swiglu-oai fill=wide seed=4"};
  f.plain = {n + " act=gelu dtype=f32 seed=5",
             n + " act=swiglu-oai seed=6",
             n + " act=swiglu-oai fill=level seed=7",
             n + " rows=1 dim=1 act=swiglu-oai seed=15",
             n + " rows=1 dim=1 act=swiglu-oai fill=wide seed=5",
             n + " rows=1 dim=1 seed=55",
             n + " rows=1 dim=1 seed=147",
             n + " dtype=f32 fill=flat",
             n + " act=swiglu-oai rows=1 dim=4 fill=wide seed=2"};
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

}  // namespace assay::num
