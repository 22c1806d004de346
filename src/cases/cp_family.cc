// cp.attention: a context spread over ranks and put together again.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases/other_families.h"
#include "cases/simple_workload.h"
#include "judge/attention_budget.h"
#include "oracle/context_parallel.h"

namespace assay::num {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// ---- cp.attention
// --------------------------------------------------------------------------------------------------
enum CpBug {
  kNone,
  kEmptyShard,
  kLocalisedEarly,
  kInterleave,
  kForeignPages,
  kMergeBase,
  kRankDropped,
  kLseMax,
  kUnweighted
};

struct CpState {
  InputSet set;
  ContextParallel cp;
  AttentionProblem problem;
  std::int64_t tokens = 0, heads = 0, dim = 0, keys = 0;
  std::vector<double> q, k, v;
  std::vector<std::int64_t> start;  // first key of each request
  bool iid = true;

  static Expected<std::shared_ptr<CpState>> make(const Case& c) {
    auto s = std::make_shared<CpState>();
    if (auto ok = s->read(c); !ok) return tl::unexpected(ok.error());
    return s;
  }

  Expected<void> read(const Case& c) {
    cp = {c.integer("world"), c.integer("interleave")};
    heads = c.integer("heads");
    dim = c.integer("dim");
    problem.kv_lens = c.list("lens");
    problem.q_lens = c.list("q");
    if (problem.q_lens.size() == 1) problem.q_lens.assign(problem.kv_lens.size(), problem.q_lens[0]);
    if (problem.q_lens.size() != problem.kv_lens.size())
      return fail("q: its entries differ from those of lens");
    for (std::size_t r = 0; r < problem.kv_lens.size(); ++r) {
      start.push_back(keys);
      problem.kv.table.emplace_back();
      keys += problem.kv_lens[r];
      tokens += problem.q_lens[r];
    }
    if (auto ok = expect_few("lens, dim", {keys, dim}); !ok) return ok;
    if (auto ok = expect_few("q, heads, dim", {tokens, heads, dim}); !ok) return ok;
    if (auto ok = expect_few("q, world", {tokens, cp.world}); !ok) return ok;
    for (std::size_t r = 0; r < problem.kv_lens.size(); ++r)
      for (std::int64_t j = 0; j < problem.kv_lens[r]; ++j)
        problem.kv.table[r].push_back(static_cast<std::int32_t>(start[r] + j));
    const DType type = *parse_dtype(c.word("dtype"));
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::string& fill = c.word("fill");
    const double q_size = fill == "peaked" ? 4 : 1;
    q = set.add("q", type, {tokens, heads, dim},
                [&](std::int64_t i) { return q_size * Random(seed, 1).normal(i); });
    k = set.add("k", type, {keys, 1, 1, dim}, [&](std::int64_t i) { return Random(seed, 2).normal(i); });
    v = set.add("v", type, {keys, 1, 1, dim}, [&](std::int64_t i) {
      const double x = Random(seed, 3).normal(i);
      return fill == "channel" ? Random(0, 9).normal(i % dim) + 0.002 * x : x;
    });
    iid = fill != "channel";
    problem.q = set.view("q");
    problem.kv.k = set.view("k");
    problem.kv.v = set.view("v");
    problem.mask.causal = true;
    problem.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
    return check(problem);
  }

  AttentionContract contract(std::size_t n) const {
    AttentionContract c;
    c.out = problem.q.type();
    c.splits = cp.world;
    if (n == 1) c.partial = problem.q.type();
    return c;
  }

  Expected<std::vector<Reference>> references(std::size_t n) const {
    AttentionInputs inputs;
    inputs.iid_values = iid;
    auto refs = attention_reference(problem, contract(n), inputs);
    if (!refs) return refs;
    std::vector<double> lengths;
    for (std::int64_t rank = 0; rank < cp.world; ++rank)
      for (std::size_t r = 0; r < problem.q_lens.size(); ++r)
        for (std::int64_t n_local : local_causal_lengths(cp, problem.kv_lens[r], problem.q_lens[r], rank))
          lengths.push_back(static_cast<double>(n_local));
    refs->push_back(
        exact_reference("local_lens", DType::kI32, {cp.world, tokens}, {"rank", "token"}, lengths));
    return refs;
  }

  struct Part {
    float lse = -kInf;
    std::vector<float> out;
  };

  // One rank's attention of one row over the keys that it takes for its own and visible.
  Part attend_rank(std::int64_t r, std::int64_t t, std::int64_t h, const std::vector<std::int64_t>& mine,
                   CpBug bug) const {
    Part part;
    part.out.assign(dim, 0.0f);
    float top = -kInf, sum = 0;
    std::vector<float> scores;
    for (std::int64_t j : mine) {
      float s = 0;
      for (std::int64_t d = 0; d < dim; ++d)
        s += static_cast<float>(q[(t * heads + h) * dim + d] * k[(start[r] + j) * dim + d]);
      scores.push_back(s * static_cast<float>(problem.scale));
      top = std::max(top, scores.back());
    }
    for (std::size_t a = 0; a < mine.size(); ++a) {
      const float p = std::exp(scores[a] - top);
      sum += p;
      for (std::int64_t d = 0; d < dim; ++d)
        part.out[d] += p * static_cast<float>(v[(start[r] + mine[a]) * dim + d]);
    }
    if (sum > 0) part.lse = top + std::log(sum);
    if (bug == kLseMax && sum > 0) part.lse = top;
    if (sum == 0 && bug == kEmptyShard) part.lse = 0;
    for (float& x : part.out) x = sum > 0 ? x / sum : 0;
    return part;
  }

  std::vector<std::int64_t> rank_keys(std::int64_t r, std::int64_t local, std::int64_t rank,
                                      CpBug bug) const {
    ContextParallel seen = cp;
    if (bug == kInterleave) seen.interleave = 1;
    auto mine = owned_positions(seen, problem.kv_lens[r], rank);
    if (bug == kForeignPages && rank + 1 < cp.world && !mine.empty() && mine.back() + 1 < problem.kv_lens[r])
      mine.insert(mine.begin(), mine.back() + 1), ++local;
    mine.resize(
        std::min<std::size_t>(mine.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, local))));
    return mine;
  }

  std::vector<Actual> simulate(std::size_t n, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<CpBug>(mutant);
    const AttentionContract c = contract(n);
    Actual out{"out", c.out, {tokens, heads, dim}, std::vector<double>(tokens * heads * dim)};
    Actual lse{"lse", DType::kF32, {heads, tokens}, std::vector<double>(tokens * heads, -kInf)};
    Actual lens{"local_lens", DType::kI32, {cp.world, tokens}, std::vector<double>(cp.world * tokens)};
    std::int64_t t = 0;
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(problem.q_lens.size()); ++r)
      for (std::int64_t i = 0; i < problem.q_lens[r]; ++i, ++t) {
        std::vector<std::vector<std::int64_t>> mine;
        for (std::int64_t rank = 0; rank < cp.world; ++rank) {
          const std::int64_t local = rank_length(r, i, rank, bug);
          lens.value[rank * tokens + t] = static_cast<double>(local);
          mine.push_back(rank_keys(r, local, rank, bug));
        }
        for (std::int64_t h = 0; h < heads; ++h) {
          std::vector<Part> parts;
          for (const auto& keys_of_rank : mine) parts.push_back(attend_rank(r, t, h, keys_of_rank, bug));
          if (bug == kRankDropped && parts.size() > 1) parts.pop_back();
          merge(parts, fine ? DType::kF32 : c.partial, fine ? DType::kF32 : c.out, bug,
                out.value.data() + (t * heads + h) * dim, lse.value.data() + h * tokens + t);
        }
      }
    return {out, lse, lens};
  }

  // Written anew: the count of owned keys below the token's own length.
  std::int64_t rank_length(std::int64_t r, std::int64_t i, std::int64_t rank, CpBug bug) const {
    const std::int64_t all = problem.kv_lens[r],
                       here = std::max<std::int64_t>(0, all - problem.q_lens[r] + i + 1);
    const std::int64_t interleave = bug == kInterleave ? 1 : cp.interleave;
    const auto count = [&](std::int64_t n) {
      std::int64_t owned = 0;
      for (std::int64_t j = 0; j < n; ++j) owned += (j / interleave) % cp.world == rank;
      return owned;
    };
    if (bug == kLocalisedEarly) return std::max<std::int64_t>(0, count(all) - problem.q_lens[r] + i + 1);
    return count(here);
  }

  void merge(const std::vector<Part>& parts, DType partial, DType type, CpBug bug, double* out,
             double* lse) const {
    float top = -kInf, sum = 0;
    for (const Part& p : parts) top = std::max(top, p.lse);
    if (top == -kInf) return;
    std::vector<float> merged(dim, 0.0f);
    for (const Part& p : parts) {
      const float w = bug == kMergeBase    ? std::exp2(p.lse - top)
                      : bug == kUnweighted ? (p.lse > -kInf)
                                           : std::exp(p.lse - top);
      sum += w;
      for (std::int64_t d = 0; d < dim; ++d) merged[d] += w * round_to_f32(partial, p.out[d]);
    }
    for (std::int64_t d = 0; d < dim; ++d) out[d] = round_to_f32(type, merged[d] / sum);
    *lse = top + std::log(sum);
  }
};

}  // namespace

Family cp_family() {
  Family f;
  f.name = "cp.attention";
  f.component = "attention";
  f.schema = {f.name,
              {{"dtype", KeyKind::kWord, "bf16", 0, 0, {"bf16", "f16", "f32"}, ""},
               {"world", KeyKind::kInt, "2", 1, 64, {}, "ranks"},
               {"interleave", KeyKind::kInt, "1", 1, 4096, {}, "keys in a row that one rank owns"},
               {"heads", KeyKind::kInt, "4", 1, 1024, {}, ""},
               {"dim", KeyKind::kInt, "64", 1, 1024, {}, ""},
               {"lens", KeyKind::kList, "33", 0, 1 << 24, {}, "keys of each request"},
               {"q", KeyKind::kList, "1", 0, 1 << 20, {}, "queries of each request"},
               {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "peaked", "channel"}, ""},
               seed_key()}};
  f.contracts = {"f32-partials", "low-partials"};
  f.mutants = {{"empty-shard", "a rank without keys counted"},
               {"localised-early", "causal length localised before the expansion to tokens"},
               {"interleave", "interleave size taken as 1"},
               {"foreign-page", "a rank attends to a neighbour's key"},
               {"merge-base", "ranks merged in base 2 with natural LSE"},
               {"rank-dropped", "last rank dropped"},
               {"lse-max", "a rank returns its maximum for its LSE"},
               {"unweighted", "ranks averaged without weights"}};
  f.smoke = {"cp.attention lens=33,5,1 q=1 seed=1", "cp.attention world=4 lens=3,40 q=2,3 seed=2",
             "cp.attention world=2 interleave=4 lens=6,41,0 q=2,4,1 seed=3",
             "cp.attention world=8 interleave=16 lens=100,17 q=3,2 dtype=f32 seed=4"};
  f.plain = {"cp.attention lens=1000,1 q=1 fill=channel seed=5",
             "cp.attention interleave=4096 lens=1000 q=1 fill=channel seed=5",
             "cp.attention world=4 interleave=16 lens=1000,900 q=4,2 fill=channel seed=6"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "world", d.pick({"1", "2", "4", "8"}));
    set_key(c, "interleave", d.pick({"1", "4", "16"}));
    if (longest > kLong) {
      set_key(c, "heads", "1");
      set_key(c, "lens", std::to_string(d.between(32768, 50000)));
    } else {
      set_key(c, "lens", std::to_string(d.between(0, 200)) + "," + std::to_string(d.between(1, 20)));
      set_key(c, "q", std::to_string(d.between(0, 4)) + "," + std::to_string(d.between(1, 3)));
    }
    set_key(c, "fill", d.pick({"randn", "peaked", "channel"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<CpState>();
  return f;
}

}  // namespace assay::num
