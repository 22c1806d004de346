// ops.rotary: rotary embeddings in both pairings.
#include <algorithm>
#include <cmath>

#include "cases/op_helpers.h"
#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "oracle/moe.h"

namespace assay::num {
namespace {

// --------------------------------------------------------------------------------------------------------
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
    if (auto ok = expect_few("tokens, heads, dim", {s->tokens, s->heads, s->dim}); !ok)
      return tl::unexpected(ok.error());
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const bool level = c.word("fill") == "level";
    const double base = level ? 1e-5 : 1;  // hardly any turn
    const std::int64_t half = s->rot / 2;
    s->cos_sin = s->set.add("cos_sin", DType::kF32, {s->most, s->rot}, [&](std::int64_t i) {
      const std::int64_t at = i % s->rot;
      const double angle =
          base * static_cast<double>(i / s->rot) *
          std::pow(10000.0, -2.0 * static_cast<double>(at % half) / static_cast<double>(s->rot));
      return at < half ? std::cos(angle) : std::sin(angle);
    });
    s->positions = s->set.add("positions", DType::kI64, {s->tokens}, [&](std::int64_t t) {
      return static_cast<double>(Random(seed, 2).between(t, 0, s->most - 2));
    });
    s->x = s->set.add("x", s->type, {s->tokens, s->heads, s->dim},
                      [&](std::int64_t i) { return Random(seed, 1).normal(i); });
    return s;
  }

  // Two products and a difference: 3u32 of their sizes; a kernel that works in the operand type rounds both
  // products and the table's values.
  Expected<std::vector<Reference>> references(std::size_t contract) const {
    Reference r = rows_reference("out", type, tokens * heads, dim);
    const double u = contract == 1 ? 2 * unit_roundoff(type) * (1 + unit_roundoff(type)) : 0;
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t h = 0; h < heads; ++h) {
        const double* head = &x[(t * heads + h) * dim];
        const double* row = &cos_sin[static_cast<std::int64_t>(positions[t]) * rot];
        const std::span<const double> cos{row, static_cast<std::size_t>(rot / 2)},
            sin{row + rot / 2, static_cast<std::size_t>(rot / 2)};
        const auto o = rotary({head, static_cast<std::size_t>(dim)}, cos, sin, halves);
        for (std::int64_t d = 0; d < dim; ++d) {
          r.value.push_back(o[d]);
          const std::int64_t pair = halves ? d % std::max<std::int64_t>(1, rot / 2) : d / 2;
          const std::int64_t other = halves ? (d < rot / 2 ? d + rot / 2 : d - rot / 2) : d ^ 1;
          const double size =
              d < rot ? std::fabs(head[d] * cos[pair]) + std::fabs(head[other] * sin[pair]) : 0;
          r.budget.push_back(d < rot ? (1 + 0x1p-6) * ((3 * kU32 + u) * size) + 4 * subnormal_roundoff(type) +
                                           out_rounding(type, o[d])
                                     : 0);
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
          const std::int64_t p = base + (paired ? i : 2 * i), q = base + (paired ? i + width : 2 * i + 1),
                             at = i % (rot / 2);
          float c = round_to_f32(work, static_cast<float>(row[at])),
                s = round_to_f32(work, static_cast<float>(row[rot / 2 + at]));
          if (bug == kSign) s = -s;
          if (bug == kSwapped) std::swap(c, s);
          const auto first = static_cast<float>(x[p]), second = static_cast<float>(x[q]);
          a.value[p] = round_to_f32(to, round_to_f32(work, first * c) - round_to_f32(work, second * s));
          a.value[q] = bug == kUnrotatedTail && i == width - 1
                           ? second
                           : round_to_f32(to, round_to_f32(work, second * c) + round_to_f32(work, first * s));
        }
      }
    return {a};
  }
};

}  // namespace

Family rotary_family() {
  Family f;
  f.name = "ops.rotary";
  f.component = "ops";
  f.schema = {f.name,
              {type_key(),
               {"style", KeyKind::kWord, "halves", 0, 0, {"halves", "pairs"}, ""},
               {"tokens", KeyKind::kInt, "5", 0, 1 << 18, {}, ""},
               count_key("heads", "3"),
               count_key("dim", "64"),
               {"rot", KeyKind::kInt, "0", 0, 1 << 18, {}, "rotated dims; 0: all"},
               {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "level"}, "level: hardly any turn"},
               seed_key()}};
  f.contracts = {"f32", "operand-type"};
  f.mutants = {{"pairing", "neighbours paired for halves, or the reverse"},
               {"sign", "turned the other way"},
               {"position", "position one high"},
               {"whole-head", "all dims turned where only some are to be"},
               {"cos-sin-swapped", "cosine and sine swapped"},
               {"last-head", "last head not turned"},
               {"tail", "last pair half turned"}};
  const std::string n = "ops.rotary";
  f.smoke = {n + " seed=1", n + " style=pairs seed=2", n + " rot=32 dim=96 dtype=f32 seed=3"};
  f.plain = {n + " fill=level seed=4", n + " fill=level rot=32 seed=5", n + " tokens=1 heads=1 dim=2 seed=1",
             n + " tokens=1 heads=1 rot=2 seed=1729"};
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

}  // namespace assay::num
