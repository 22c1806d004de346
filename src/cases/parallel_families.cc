// cp.attention: a context spread over ranks and put together again. index.convert and batch.split: the integers around it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cases/other_families.h"
#include "cases/simple_workload.h"
#include "judge/attention_budget.h"
#include "oracle/context_parallel.h"
#include "oracle/indices.h"

namespace assay::num {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// ---- cp.attention --------------------------------------------------------------------------------------------------
enum CpBug { kNone, kEmptyShard, kLocalisedEarly, kInterleave, kForeignPages, kMergeBase, kRankDropped, kLseMax, kUnweighted };

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
    if (problem.q_lens.size() != problem.kv_lens.size()) return fail("q: its entries differ from those of lens");
    for (std::size_t r = 0; r < problem.kv_lens.size(); ++r) {
      start.push_back(keys);
      problem.kv.table.emplace_back();
      for (std::int64_t j = 0; j < problem.kv_lens[r]; ++j) problem.kv.table.back().push_back(static_cast<std::int32_t>(keys + j));
      keys += problem.kv_lens[r];
      tokens += problem.q_lens[r];
    }
    if (static_cast<double>(keys) * static_cast<double>(dim) > 0x1p31) return fail("lens: more than 2^31 elements");
    const DType type = *parse_dtype(c.word("dtype"));
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::string& fill = c.word("fill");
    const double q_size = fill == "peaked" ? 4 : 1;
    q = set.add("q", type, {tokens, heads, dim}, [&](std::int64_t i) { return q_size * Random(seed, 1).normal(i); });
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
    refs->push_back(exact_reference("local_lens", DType::kI32, {cp.world, tokens}, {"rank", "token"}, lengths));
    return refs;
  }

  struct Part {
    float lse = -kInf;
    std::vector<float> out;
  };

  // One rank's attention of one row over the keys that it takes for its own and visible.
  Part attend_rank(std::int64_t r, std::int64_t t, std::int64_t h, const std::vector<std::int64_t>& mine, CpBug bug) const {
    Part part;
    part.out.assign(dim, 0.0f);
    float top = -kInf, sum = 0;
    std::vector<float> scores;
    for (std::int64_t j : mine) {
      float s = 0;
      for (std::int64_t d = 0; d < dim; ++d) s += static_cast<float>(q[(t * heads + h) * dim + d] * k[(start[r] + j) * dim + d]);
      scores.push_back(s * static_cast<float>(problem.scale));
      top = std::max(top, scores.back());
    }
    for (std::size_t a = 0; a < mine.size(); ++a) {
      const float p = std::exp(scores[a] - top);
      sum += p;
      for (std::int64_t d = 0; d < dim; ++d) part.out[d] += p * static_cast<float>(v[(start[r] + mine[a]) * dim + d]);
    }
    if (sum > 0) part.lse = top + std::log(sum);
    if (bug == kLseMax && sum > 0) part.lse = top;
    if (sum == 0 && bug == kEmptyShard) part.lse = 0;
    for (float& x : part.out) x = sum > 0 ? x / sum : 0;
    return part;
  }

  std::vector<std::int64_t> rank_keys(std::int64_t r, std::int64_t local, std::int64_t rank, CpBug bug) const {
    ContextParallel seen = cp;
    if (bug == kInterleave) seen.interleave = 1;
    auto mine = owned_positions(seen, problem.kv_lens[r], rank);
    if (bug == kForeignPages && rank + 1 < cp.world && !mine.empty() && mine.back() + 1 < problem.kv_lens[r])
      mine.insert(mine.begin(), mine.back() + 1), ++local;
    mine.resize(std::min<std::size_t>(mine.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, local))));
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
          merge(parts, fine ? DType::kF32 : c.partial, fine ? DType::kF32 : c.out, bug, &out.value[(t * heads + h) * dim], &lse.value[h * tokens + t]);
        }
      }
    return {out, lse, lens};
  }

  // Written anew: the count of owned keys below the token's own length.
  std::int64_t rank_length(std::int64_t r, std::int64_t i, std::int64_t rank, CpBug bug) const {
    const std::int64_t all = problem.kv_lens[r], here = std::max<std::int64_t>(0, all - problem.q_lens[r] + i + 1);
    const std::int64_t interleave = bug == kInterleave ? 1 : cp.interleave;
    const auto count = [&](std::int64_t n) {
      std::int64_t owned = 0;
      for (std::int64_t j = 0; j < n; ++j) owned += (j / interleave) % cp.world == rank;
      return owned;
    };
    if (bug == kLocalisedEarly) return std::max<std::int64_t>(0, count(all) - problem.q_lens[r] + i + 1);
    return count(here);
  }

  void merge(const std::vector<Part>& parts, DType partial, DType type, CpBug bug, double* out, double* lse) const {
    float top = -kInf, sum = 0;
    for (const Part& p : parts) top = std::max(top, p.lse);
    if (top == -kInf) return;
    std::vector<float> merged(dim, 0.0f);
    for (const Part& p : parts) {
      const float w = bug == kMergeBase ? std::exp2(p.lse - top) : bug == kUnweighted ? (p.lse > -kInf) : std::exp(p.lse - top);
      sum += w;
      for (std::int64_t d = 0; d < dim; ++d) merged[d] += w * round_to_f32(partial, p.out[d]);
    }
    for (std::int64_t d = 0; d < dim; ++d) out[d] = round_to_f32(type, merged[d] / sum);
    *lse = top + std::log(sum);
  }
};

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
               {"seed", KeyKind::kInt, "0", 0, 1e15, {}, ""}}};
  f.contracts = {"f32-partials", "low-partials"};
  f.mutants = {{"empty-shard", "a rank without keys counted"},
               {"localised-early", "causal length localised before the expansion to tokens"},
               {"interleave", "interleave size taken as 1"},
               {"foreign-page", "a rank attends to a neighbour's key"},
               {"merge-base", "ranks merged in base 2 with natural LSE"},
               {"rank-dropped", "last rank dropped"},
               {"lse-max", "a rank returns its maximum for its LSE"},
               {"unweighted", "ranks averaged without weights"}};
  f.smoke = {"cp.attention lens=33,5,1 q=1 seed=1", "cp.attention world=4 lens=3,40 q=2,3 seed=2", "cp.attention world=2 interleave=4 lens=6,41,0 q=2,4,1 seed=3",
             "cp.attention world=8 interleave=16 lens=100,17 q=3,2 dtype=f32 seed=4"};
  f.plain = {"cp.attention lens=1000,1 q=1 fill=channel seed=5", "cp.attention interleave=4096 lens=1000 q=1 fill=channel seed=5", "cp.attention world=4 interleave=16 lens=1000,900 q=4,2 fill=channel seed=6"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    set_key(c, "dtype", d.pick({"bf16", "f16", "f32"}));
    set_key(c, "world", d.pick({"1", "2", "4", "8"}));
    set_key(c, "interleave", d.pick({"1", "4", "16"}));
    if (longest > 4096 && d.chance(0.12)) {
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

// ---- index.convert -------------------------------------------------------------------------------------------------
enum IndexBug { kINone, kRelativeAsRow, kSlotAsRow, kWorkspaceAsSlot, kFirstRequest, kHoleIsZero, kTailWrapped, kWidthStride, kBlockUnit };

struct IndexState {
  InputSet set;
  IndexSpaces spaces;
  std::int64_t tokens = 0, width = 0, max_pages = 0;
  std::vector<double> indices, request, table;

  static Expected<std::shared_ptr<IndexState>> make(const Case& c) {
    auto s = std::make_shared<IndexState>();
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const auto& lens = c.list("lens");
    if (lens.empty()) return fail("lens: at least one request is needed");
    s->tokens = c.integer("tokens");
    s->width = c.integer("topk");
    s->spaces.block_size = c.integer("block");
    s->spaces.rows_per_block = s->spaces.block_size + c.integer("pad");
    std::int64_t block = 7, row = 0;
    for (std::int64_t n : lens) {
      s->spaces.workspace_start.push_back(row);
      row += n;
      s->spaces.table.emplace_back();
      for (std::int64_t p = 0; p * s->spaces.block_size < n; ++p) s->spaces.table.back().push_back(static_cast<std::int32_t>(block += 3));
      s->max_pages = std::max<std::int64_t>(s->max_pages, static_cast<std::int64_t>(s->spaces.table.back().size()));
    }
    const Random random(seed, 1);
    const auto requests = static_cast<std::int64_t>(lens.size());
    s->request = s->set.add("request", DType::kI32, {s->tokens}, [&](std::int64_t t) { return static_cast<double>(t * requests / std::max<std::int64_t>(1, s->tokens)); });
    s->table = s->set.add("table", DType::kI32, {requests, s->max_pages}, [&](std::int64_t i) {
      const auto& pages = s->spaces.table[i / s->max_pages];
      const std::int64_t p = i % s->max_pages;
      return p < static_cast<std::int64_t>(pages.size()) ? pages[p] : 999999.0;  // never to be read
    });
    s->indices = s->set.add("indices", DType::kI32, {s->tokens, s->width}, [&](std::int64_t i) {
      const std::int64_t n = lens[static_cast<std::size_t>(s->request[i / s->width])];
      if (n == 0 || random.between(i, 0, 5) == 0) return -1.0;
      if (random.between(i + (1 << 30), 0, 15) == 0) return static_cast<double>((s->max_pages + 2) * s->spaces.block_size);
      return static_cast<double>(random.between(i + (2 << 30), 0, n - 1));
    });
    return s;
  }

  Expected<std::vector<Reference>> references(std::size_t) const {
    std::vector<double> slot, row, workspace;
    for (std::int64_t i = 0; i < tokens * width; ++i) {
      const ConvertedIndex x = convert_index(spaces, static_cast<std::int64_t>(request[i / width]), static_cast<std::int64_t>(indices[i]));
      slot.push_back(static_cast<double>(x.slot));
      row.push_back(static_cast<double>(x.row));
      workspace.push_back(static_cast<double>(x.workspace));
    }
    const Shape shape = {tokens, width};
    return std::vector<Reference>{exact_reference("slot", DType::kI32, shape, {"token", "place"}, slot), exact_reference("row", DType::kI32, shape, {"token", "place"}, row),
                                  exact_reference("workspace", DType::kI32, shape, {"token", "place"}, workspace)};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<IndexBug>(mutant);
    const Shape shape = {tokens, width};
    std::vector<Actual> a;
    for (const char* name : {"slot", "row", "workspace"}) a.push_back({name, DType::kI32, shape, std::vector<double>(tokens * width, -1.0)});
    for (std::int64_t i = 0; i < tokens * width; ++i) convert(i, bug, a);
    return a;
  }

  void convert(std::int64_t i, IndexBug bug, std::vector<Actual>& a) const {
    auto r = static_cast<std::int64_t>(request[i / width]);
    auto index = static_cast<std::int64_t>(indices[i]);
    if (bug == kFirstRequest) r = 0;
    if (bug == kHoleIsZero) index = std::max<std::int64_t>(index, 0);
    if (index < 0) return;
    const std::int64_t size = bug == kBlockUnit ? spaces.block_size * 2 : spaces.block_size;
    std::int64_t page = index / size;
    const auto held = static_cast<std::int64_t>(spaces.table[r].size());
    if (bug == kTailWrapped && held > 0) page %= held;
    if (page >= held) return;
    const std::int64_t stride = bug == kWidthStride ? held : max_pages;
    const auto block = static_cast<std::int64_t>(table[r * stride + page]);
    const std::int64_t slot = block * spaces.block_size + index % size, row = block * spaces.rows_per_block + index % size;
    const std::int64_t workspace = spaces.workspace_start[r] + index;
    a[0].value[i] = static_cast<double>(bug == kWorkspaceAsSlot ? workspace : slot);
    a[1].value[i] = static_cast<double>(bug == kRelativeAsRow ? index : bug == kSlotAsRow ? slot : row);
    a[2].value[i] = static_cast<double>(workspace);
  }
};

Family index_family() {
  Family f;
  f.name = "index.convert";
  f.component = "indexer";
  f.schema = {f.name,
              {{"lens", KeyKind::kList, "40,17", 0, 1 << 24, {}, "keys of each request"},
               {"tokens", KeyKind::kInt, "4", 0, 1 << 20, {}, ""},
               {"topk", KeyKind::kInt, "16", 1, 1 << 16, {}, "indices of each token"},
               {"block", KeyKind::kInt, "4", 1, 1 << 16, {}, "slots of a page"},
               {"pad", KeyKind::kInt, "1", 0, 1 << 16, {}, "unused rows behind each page"},
               {"seed", KeyKind::kInt, "0", 0, 1e15, {}, ""}}};
  f.contracts = {"exact"};
  f.mutants = {{"relative-as-row", "request-relative index used as a row", true}, {"slot-as-row", "slot used as a row of a padded cache", true},
               {"workspace-as-slot", "workspace offset used as a slot", true}, {"first-request", "block table of the first request", true},
               {"hole-is-zero", "a hole taken for index 0", true}, {"tail-wrapped", "an index past the table wraps around", true},
               {"width-stride", "row stride of the table taken from its used width", true}, {"block-unit", "table unit taken for twice the block", true}};
  f.smoke = {"index.convert seed=1", "index.convert lens=9,30,0,50 tokens=12 topk=8 pad=3 seed=2"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "lens", std::to_string(d.between(0, 60)) + "," + std::to_string(d.between(1, 90)));
    set_key(c, "tokens", std::to_string(d.between(0, 9)));
    set_key(c, "block", d.pick({"1", "4", "64"}));
    set_key(c, "pad", d.pick({"0", "1", "8"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<IndexState>();
  return f;
}

// ---- batch.split ---------------------------------------------------------------------------------------------------
enum SplitBug { kSNone, kRequestsForTokens, kThreshold, kUniform, kPadded, kAbsentPrefill, kUnordered, kStartShift };

struct SplitState {
  InputSet set;
  std::vector<std::int64_t> lens;
  std::int64_t threshold = 1;

  static Expected<std::shared_ptr<SplitState>> make(const Case& c) {
    auto s = std::make_shared<SplitState>();
    s->lens = c.list("q");
    s->threshold = c.integer("threshold");
    s->set.add("q_lens", DType::kI32, {static_cast<std::int64_t>(s->lens.size())}, [&](std::int64_t i) { return static_cast<double>(s->lens[i]); });
    return s;
  }

  static std::vector<double> reals(const std::vector<std::int64_t>& x) { return {x.begin(), x.end()}; }
  static Shape size_of(const std::vector<std::int64_t>& x) { return {static_cast<std::int64_t>(x.size())}; }

  Expected<std::vector<Reference>> references(std::size_t) const {
    const auto split = split_batch(lens, threshold);
    if (!split) return tl::unexpected(split.error());
    const std::vector<std::int64_t> counts = {split->decodes, split->decode_tokens, split->prefills, split->prefill_tokens};
    return std::vector<Reference>{exact_reference("counts", DType::kI32, {4}, {"decodes, decode tokens, prefills, prefill tokens"}, reals(counts)),
                                  exact_reference("order", DType::kI32, size_of(split->order), {"place"}, reals(split->order)),
                                  exact_reference("tokens", DType::kI32, size_of(split->tokens), {"token"}, reals(split->tokens)),
                                  exact_reference("query_start", DType::kI32, size_of(split->query_start), {"request"}, reals(split->query_start))};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<SplitBug>(mutant);
    std::vector<std::int64_t> order, first(lens.size()), tokens, start = {0};
    std::int64_t total = 0, decodes = 0, decode_tokens = 0;
    for (std::size_t r = 0; r < lens.size(); total += lens[r++]) first[r] = total;
    const std::int64_t limit = threshold - (bug == kThreshold);
    for (std::size_t r = 0; r < lens.size(); ++r)
      if (lens[r] > 0 || bug == kPadded) order.push_back(static_cast<std::int64_t>(r));
    const auto is_decode = [&](std::int64_t r) { return lens[r] <= limit; };
    if (bug == kUnordered)
      std::partition(order.begin(), order.end(), is_decode);
    else
      std::stable_partition(order.begin(), order.end(), is_decode);
    if (bug == kUnordered) std::reverse(order.begin(), order.end()), std::stable_partition(order.begin(), order.end(), is_decode);
    for (std::int64_t r : order) {
      decodes += is_decode(r);
      decode_tokens += is_decode(r) ? lens[r] : 0;
      const std::int64_t n = lens[r], from = bug == kUniform ? r * (total / static_cast<std::int64_t>(lens.size())) : first[r];
      for (std::int64_t i = 0; i < n; ++i) tokens.push_back(from + i);
      start.push_back(start.back() + n);
    }
    if (bug == kStartShift) start.erase(start.begin()), start.push_back(start.empty() ? 0 : start.back());
    std::int64_t prefills = static_cast<std::int64_t>(order.size()) - decodes;
    const std::int64_t prefill_tokens = static_cast<std::int64_t>(tokens.size()) - decode_tokens;
    if (bug == kAbsentPrefill) prefills = std::max<std::int64_t>(prefills, 1);
    const std::vector<std::int64_t> counts = {decodes, bug == kRequestsForTokens ? decodes : decode_tokens, prefills, prefill_tokens};
    return {{"counts", DType::kI32, {4}, reals(counts)}, {"order", DType::kI32, size_of(order), reals(order)},
            {"tokens", DType::kI32, size_of(tokens), reals(tokens)}, {"query_start", DType::kI32, size_of(start), reals(start)}};
  }
};

Family split_family() {
  Family f;
  f.name = "batch.split";
  f.component = "attention";
  f.schema = {f.name,
              {{"q", KeyKind::kList, "2,7,1", 0, 1 << 20, {}, "queries of each request; 0: a padded one"},
               {"threshold", KeyKind::kInt, "2", 0, 1 << 20, {}, "most queries of a decode"},
               {"seed", KeyKind::kInt, "0", 0, 1e15, {}, ""}}};
  f.contracts = {"exact"};
  f.mutants = {{"requests-for-tokens", "number of decodes used for decode tokens", true}, {"threshold", "decode threshold one low", true},
               {"uniform-batch", "ragged batch reshaped as a uniform one", true}, {"padded-counted", "padded requests counted", true},
               {"absent-prefill", "prefill run for absent tokens", true}, {"unordered", "order within decodes not kept", true},
               {"start-shift", "query starts shifted by one request", true}};
  f.smoke = {"batch.split q=2,7,1,0,3,2 threshold=2", "batch.split q=1*4 threshold=1", "batch.split q=5,0,9 threshold=1", "batch.split q=- threshold=1"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    std::string q = std::to_string(d.between(0, 5));
    for (std::int64_t n = d.between(0, 8); n > 0; --n) q += "," + std::to_string(d.between(0, 6));
    set_key(c, "q", q);
    set_key(c, "threshold", std::to_string(d.between(0, 4)));
    return c;
  };
  f.build = builder<SplitState>();
  return f;
}

}  // namespace

std::vector<Family> parallel_families() { return {cp_family(), index_family(), split_family()}; }

}  // namespace assay::num
