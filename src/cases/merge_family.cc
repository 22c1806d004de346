// merge.states: n partial attention results and their LSEs into one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases/other_families.h"
#include "cases/simple_workload.h"
#include "judge/merge_budget.h"

namespace assay::num {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
enum Bug {
  kNone,
  kBase,
  kBothEmptyNan,
  kFiniteSentinel,
  kPlusInfinity,
  kLastDropped,
  kLseMax,
  kLseStride,
  kStale,
  kZeroTimesNan,
  kLseBase
};

struct MergeState {
  InputSet set;
  std::int64_t rows = 0, dim = 0, count = 0;
  DType type = DType::kBf16;
  std::vector<AttentionState> states;

  static Expected<std::shared_ptr<MergeState>> make(const Case& c) {
    auto s = std::make_shared<MergeState>();
    s->rows = c.integer("rows");
    s->dim = c.integer("dim");
    s->count = c.integer("states");
    s->type = *parse_dtype(c.word("dtype"));
    if (auto ok = expect_few("states, rows, dim", {s->count, s->rows, s->dim}); !ok)
      return tl::unexpected(ok.error());
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::string& fill = c.word("fill");
    for (std::int64_t i = 0; i < s->count; ++i) {
      const Random random(seed, 10 + static_cast<std::uint64_t>(i));
      AttentionState state;
      state.lse = s->set.add("lse" + std::to_string(i), DType::kF32, {s->rows},
                             [&](std::int64_t r) { return lse(fill, random, r, i); });
      // What an empty row holds is nobody's business: NaN in some rows.
      const auto& lse_values = state.lse;
      const auto values =
          s->set.add("out" + std::to_string(i), s->type, {s->rows, s->dim}, [&](std::int64_t e) {
            if (std::isinf(lse_values[e / s->dim])) return (e / s->dim) % 2 ? 7.0 : std::nan("");
            return fill == "level" ? Random(0, 3).normal(e) + 0.002 * random.normal(e + s->rows)
                                   : random.normal(e + s->rows);
          });
      state.out = values;
      s->states.push_back(std::move(state));
    }
    return s;
  }

  static double lse(const std::string& fill, const Random& random, std::int64_t r, std::int64_t i) {
    if (fill == "level") return 6.9 + 0.002 * random.normal(r);
    if (fill == "wide") return 40 * random.normal(r);
    if (fill == "low") return -1e6 + random.normal(r);
    if (fill == "brink") return -1e5 - 1 + random.normal(r);
    // Row r has state i empty by the bits of r, with -inf and +inf in turn: all combinations for few states.
    if (fill == "empty" && (r >> (i % 8) & 1)) return (r + i) % 2 ? -INFINITY : INFINITY;
    if (fill == "empty" && r % 16 == 15) return -INFINITY;
    return 6 + 2 * random.normal(r);
  }

  static MergeContract contract(std::size_t k, DType type) {
    MergeContract c;
    c.out = type;
    if (k == 1) c.base2 = true;
    if (k == 2) {
      c.pairwise = true;
      c.stored = type;
    }
    return c;
  }

  Expected<std::vector<Reference>> references(std::size_t k) const {
    return merge_reference(states, rows, dim, contract(k, type));
  }

  std::vector<Actual> simulate(std::size_t k, std::size_t mutant, bool fine) const {
    MergeContract c = contract(k, type);
    if (fine) c.stored = c.out = DType::kF32;
    const Bug bug = static_cast<Bug>(mutant);
    Actual out{"out", type, {rows, dim}, std::vector<double>(rows * dim)};
    Actual lse{"lse", DType::kF32, {rows}, std::vector<double>(rows)};
    for (std::int64_t r = 0; r < rows; ++r)
      merge_row(c, bug, r, out.value.data() + r * dim, lse.value.data() + r);
    return {out, lse};
  }

  struct Part {
    float lse;
    std::vector<float> out;
  };

  Part part(std::int64_t i, std::int64_t r, Bug bug) const {
    Part p;
    // A kernel that ignores the strides of the LSE reads its neighbour's row.
    const std::int64_t at = bug == kLseStride && rows % 2 == 0 ? r % 2 * (rows / 2) + r / 2 : r;
    p.lse = static_cast<float>(states[i].lse[at]);
    if (p.lse == kInf && bug != kPlusInfinity) p.lse = -kInf;
    for (std::int64_t d = 0; d < dim; ++d) p.out.push_back(static_cast<float>(states[i].out[r * dim + d]));
    return p;
  }

  Part combine(const MergeContract& c, Bug bug, const std::vector<Part>& parts) const {
    const bool two = c.base2 != (bug == kBase);
    Part m{-kInf, std::vector<float>(dim, 0.0f)};
    float top = bug == kFiniteSentinel ? -1e5f : -kInf;
    for (const Part& p : parts) top = std::max(top, p.lse);
    if (top == -kInf) {
      if (bug == kBothEmptyNan) m.lse = std::nanf(""), std::fill(m.out.begin(), m.out.end(), std::nanf(""));
      if (bug == kStale) m.out = parts[0].out;
      return m;
    }
    float sum = 0;
    for (const Part& p : parts) {
      const float w = two ? std::exp2(p.lse - top) : std::exp(p.lse - top);
      sum += w;
      if (w == 0 && bug != kZeroTimesNan) continue;
      for (std::int64_t d = 0; d < dim; ++d) m.out[d] += w * p.out[d];
    }
    for (float& x : m.out) x = sum == 0 ? 0 : x / sum;
    if (sum == 0) return m;
    m.lse = bug == kLseMax ? top : two ? top + std::log2(sum) : top + std::log(sum);
    return m;
  }

  void merge_row(const MergeContract& c, Bug bug, std::int64_t r, double* out, double* lse) const {
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < count; ++i) parts.push_back(part(i, r, bug));
    if (bug == kLastDropped && parts.size() > 1) parts.pop_back();
    Part m = parts[0];
    if (c.pairwise) {
      for (std::size_t i = 1; i < parts.size(); ++i) {
        m = combine(c, bug, {m, parts[i]});
        for (float& x : m.out) x = round_to_f32(c.stored, x);
      }
      if (parts.size() == 1) m = combine(c, bug, parts);
    } else {
      m = combine(c, bug, parts);
    }
    for (std::int64_t d = 0; d < dim; ++d) out[d] = round_to_f32(c.out, m.out[d]);
    *lse = bug == kLseBase ? (c.base2 ? m.lse * 0.69314718f : m.lse * 1.44269504f) : m.lse;
  }
};

}  // namespace

Family merge_family() {
  Family f;
  f.name = "merge.states";
  f.component = "attention";
  f.schema = {f.name,
              {{"dtype", KeyKind::kWord, "bf16", 0, 0, {"bf16", "f16", "f32"}, "type of the outputs"},
               {"states", KeyKind::kInt, "2", 1, 64, {}, "results that are merged"},
               {"rows", KeyKind::kInt, "32", 0, 1 << 20, {}, "tokens x heads"},
               {"dim", KeyKind::kInt, "64", 1, 4096, {}, "value dim"},
               {"fill",
                KeyKind::kWord,
                "randn",
                0,
                0,
                {"randn", "level", "wide", "low", "brink", "empty"},
                "LSEs: near each other, equal, far apart, very negative, around -1e5, with empty rows"},
               seed_key()}};
  f.contracts = {"one-call", "base-2", "pairwise"};
  f.mutants = {{"merge-base", "merged in the other base"},
               {"both-empty-nan", "NaN where no state saw a key", true},
               {"finite-sentinel", "running maximum starts at a finite value"},
               {"plus-infinity", "an LSE of +inf not taken for an empty row", true},
               {"last-dropped", "last state dropped"},
               {"lse-max", "the largest LSE returned for the sum"},
               {"lse-stride", "LSE strides ignored"},
               {"stale-output", "first state's bytes returned where no state saw a key", true},
               {"zero-times-nan", "an empty row's bytes multiplied by zero", true},
               {"lse-base", "LSE in the other base"}};
  f.smoke = {"merge.states seed=1", "merge.states states=3 fill=empty seed=2",
             "merge.states states=2 rows=16 fill=empty dtype=f32 seed=3",
             "merge.states fill=low dtype=f32 seed=4", "merge.states states=5 fill=wide dtype=f32 seed=5"};
  f.plain = {"merge.states fill=level seed=6", "merge.states fill=randn dim=1 rows=2 seed=7",
             "merge.states states=32 dim=2 rows=2 fill=level seed=8",
             "merge.states dtype=f32 fill=brink seed=0"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "states", std::to_string(d.pick({1, 2, 2, 3, 7, 16})));
    set_key(c, "rows", std::to_string(d.pick({0, 1, 5, 16, 33})));
    set_key(c, "dim", std::to_string(d.pick({1, 16, 64, 128})));
    set_key(c, "fill", d.pick({"randn", "randn", "level", "wide", "low", "empty"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<MergeState>();
  return f;
}

}  // namespace assay::num
