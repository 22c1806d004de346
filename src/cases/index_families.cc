// index.convert and batch.split: the integers around attention kernels.
#include <algorithm>

#include "cases/other_families.h"
#include "cases/simple_workload.h"
#include "oracle/indices.h"

namespace assay::num {
namespace {

// ---- index.convert
// -------------------------------------------------------------------------------------------------
enum IndexBug {
  kINone,
  kRelativeAsRow,
  kSlotAsRow,
  kWorkspaceAsSlot,
  kFirstRequest,
  kHoleIsZero,
  kTailWrapped,
  kWidthStride,
  kBlockUnit
};

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
    if (auto ok = expect_few("tokens, topk", {s->tokens, s->width}); !ok) return tl::unexpected(ok.error());
    for (std::int64_t n : lens)
      if (auto ok =
              expect_few("lens, block", {n / s->spaces.block_size, static_cast<std::int64_t>(lens.size())});
          !ok)
        return tl::unexpected(ok.error());
    std::int64_t block = 7, row = 0;
    for (std::int64_t n : lens) {
      s->spaces.workspace_start.push_back(row);
      row += n;
      s->spaces.table.emplace_back();
      for (std::int64_t p = 0; p * s->spaces.block_size < n; ++p)
        s->spaces.table.back().push_back(static_cast<std::int32_t>(block += 3));
      s->max_pages =
          std::max<std::int64_t>(s->max_pages, static_cast<std::int64_t>(s->spaces.table.back().size()));
    }
    const Random random(seed, 1);
    const auto requests = static_cast<std::int64_t>(lens.size());
    s->request = s->set.add("request", DType::kI32, {s->tokens}, [&](std::int64_t t) {
      return static_cast<double>(t * requests / std::max<std::int64_t>(1, s->tokens));
    });
    s->table = s->set.add("table", DType::kI32, {requests, s->max_pages}, [&](std::int64_t i) {
      const auto& pages = s->spaces.table[i / s->max_pages];
      const std::int64_t p = i % s->max_pages;
      return p < static_cast<std::int64_t>(pages.size()) ? pages[p] : 999999.0;  // never to be read
    });
    s->indices = s->set.add("indices", DType::kI32, {s->tokens, s->width}, [&](std::int64_t i) {
      const std::int64_t n = lens[static_cast<std::size_t>(s->request[i / s->width])];
      if (n == 0 || random.between(i, 0, 5) == 0) return -1.0;
      if (random.between(i + (1 << 30), 0, 15) == 0)
        return static_cast<double>((s->max_pages + 2) * s->spaces.block_size);
      return static_cast<double>(random.between(i + (2 << 30), 0, n - 1));
    });
    return s;
  }

  Expected<std::vector<Reference>> references(std::size_t) const {
    std::vector<double> slot, row, workspace;
    for (std::int64_t i = 0; i < tokens * width; ++i) {
      const ConvertedIndex x = convert_index(spaces, static_cast<std::int64_t>(request[i / width]),
                                             static_cast<std::int64_t>(indices[i]));
      slot.push_back(static_cast<double>(x.slot));
      row.push_back(static_cast<double>(x.row));
      workspace.push_back(static_cast<double>(x.workspace));
    }
    const Shape shape = {tokens, width};
    return std::vector<Reference>{
        exact_reference("slot", DType::kI32, shape, {"token", "place"}, slot),
        exact_reference("row", DType::kI32, shape, {"token", "place"}, row),
        exact_reference("workspace", DType::kI32, shape, {"token", "place"}, workspace)};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<IndexBug>(mutant);
    const Shape shape = {tokens, width};
    std::vector<Actual> a;
    for (const char* name : {"slot", "row", "workspace"})
      a.push_back({name, DType::kI32, shape, std::vector<double>(tokens * width, -1.0)});
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
    const std::int64_t slot = block * spaces.block_size + index % size,
                       row = block * spaces.rows_per_block + index % size;
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
               seed_key()}};
  f.contracts = {"exact"};
  f.mutants = {{"relative-as-row", "request-relative index used as a row", true},
               {"slot-as-row", "slot used as a row of a padded cache", true},
               {"workspace-as-slot", "workspace offset used as a slot", true},
               {"first-request", "block table of the first request", true},
               {"hole-is-zero", "a hole taken for index 0", true},
               {"tail-wrapped", "an index past the table wraps around", true},
               {"width-stride", "row stride of the table taken from its used width", true},
               {"block-unit", "table unit taken for twice the block", true}};
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

// ---- batch.split
// ---------------------------------------------------------------------------------------------------
enum SplitBug {
  kSNone,
  kRequestsForTokens,
  kThreshold,
  kUniform,
  kPadded,
  kAbsentPrefill,
  kUnordered,
  kStartShift
};

struct SplitState {
  InputSet set;
  std::vector<std::int64_t> lens;
  std::int64_t threshold = 1;

  static Expected<std::shared_ptr<SplitState>> make(const Case& c) {
    auto s = std::make_shared<SplitState>();
    s->lens = c.list("q");
    s->threshold = c.integer("threshold");
    std::int64_t tokens = 0;
    for (std::int64_t n : s->lens) tokens += n;
    if (auto ok = expect_few("q", {tokens}); !ok) return tl::unexpected(ok.error());
    s->set.add("q_lens", DType::kI32, {static_cast<std::int64_t>(s->lens.size())},
               [&](std::int64_t i) { return static_cast<double>(s->lens[i]); });
    return s;
  }

  static std::vector<double> reals(const std::vector<std::int64_t>& x) { return {x.begin(), x.end()}; }
  static Shape size_of(const std::vector<std::int64_t>& x) { return {static_cast<std::int64_t>(x.size())}; }

  Expected<std::vector<Reference>> references(std::size_t) const {
    const auto split = split_batch(lens, threshold);
    if (!split) return tl::unexpected(split.error());
    const std::vector<std::int64_t> counts = {split->decodes, split->decode_tokens, split->prefills,
                                              split->prefill_tokens};
    return std::vector<Reference>{
        exact_reference("counts", DType::kI32, {4}, {"decodes, decode tokens, prefills, prefill tokens"},
                        reals(counts)),
        exact_reference("order", DType::kI32, size_of(split->order), {"place"}, reals(split->order)),
        exact_reference("tokens", DType::kI32, size_of(split->tokens), {"token"}, reals(split->tokens)),
        exact_reference("query_start", DType::kI32, size_of(split->query_start), {"request"},
                        reals(split->query_start))};
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
    if (bug == kUnordered)
      std::reverse(order.begin(), order.end()), std::stable_partition(order.begin(), order.end(), is_decode);
    for (std::int64_t r : order) {
      decodes += is_decode(r);
      decode_tokens += is_decode(r) ? lens[r] : 0;
      const std::int64_t n = lens[r], from = bug == kUniform
                                                 ? r * (total / static_cast<std::int64_t>(lens.size()))
                                                 : first[r];
      for (std::int64_t i = 0; i < n; ++i) tokens.push_back(from + i);
      start.push_back(start.back() + n);
    }
    if (bug == kStartShift) start.erase(start.begin()), start.push_back(start.empty() ? 0 : start.back());
    std::int64_t prefills = static_cast<std::int64_t>(order.size()) - decodes;
    const std::int64_t prefill_tokens = static_cast<std::int64_t>(tokens.size()) - decode_tokens;
    if (bug == kAbsentPrefill) prefills = std::max<std::int64_t>(prefills, 1);
    const std::vector<std::int64_t> counts = {decodes, bug == kRequestsForTokens ? decodes : decode_tokens,
                                              prefills, prefill_tokens};
    return {{"counts", DType::kI32, {4}, reals(counts)},
            {"order", DType::kI32, size_of(order), reals(order)},
            {"tokens", DType::kI32, size_of(tokens), reals(tokens)},
            {"query_start", DType::kI32, size_of(start), reals(start)}};
  }
};

Family split_family() {
  Family f;
  f.name = "batch.split";
  f.component = "attention";
  f.schema = {f.name,
              {{"q", KeyKind::kList, "2,7,1", 0, 1 << 20, {}, "queries of each request; 0: a padded one"},
               {"threshold", KeyKind::kInt, "2", 0, 1 << 20, {}, "most queries of a decode"},
               seed_key()}};
  f.contracts = {"exact"};
  f.mutants = {{"requests-for-tokens", "number of decodes used for decode tokens", true},
               {"threshold", "decode threshold one low", true},
               {"uniform-batch", "ragged batch reshaped as a uniform one", true},
               {"padded-counted", "padded requests counted", true},
               {"absent-prefill", "prefill run for absent tokens", true},
               {"unordered", "order within decodes not kept", true},
               {"start-shift", "query starts shifted by one request", true}};
  f.smoke = {"batch.split q=2,7,1,0,3,2 threshold=2", "batch.split q=1*4 threshold=1",
             "batch.split q=5,0,9 threshold=1", "batch.split q=- threshold=1"};
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

std::vector<Family> index_families() { return {index_family(), split_family()}; }

}  // namespace assay::num
