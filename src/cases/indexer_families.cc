// indexer.logits: MQA logits over a flat or paged key cache. indexer.topk: the choice made from them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cases/other_families.h"
#include "cases/sim_arith.h"
#include "cases/simple_workload.h"
#include "oracle/indexer.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// ---- logits
// --------------------------------------------------------------------------------------------------------
enum LogitBug {
  kNone,
  kReluAfter,
  kNeighbourScale,
  kHeadDropped,
  kWeightTwice,
  kStartIgnored,
  kEndLong,
  kEndShort,
  kNextNIgnored,
  kWrongPage,
  kInterleavedScales,
  kKScaleDropped,
  kTailUnmasked
};

struct LogitsState {
  InputSet set;
  std::int64_t heads = 0, dim = 0, size = 0, tokens = 0, keys = 0;
  DType type = DType::kE4m3fn, out = DType::kF32;
  bool paged = false, exact = false;
  std::vector<std::int64_t> first, last, request, offset;  // per token; offset: per request, first key
  std::vector<std::int64_t> lens, next;
  std::vector<double> q, w, k, k_scale;
  std::vector<std::vector<std::int64_t>> pages;
  std::vector<double> cache;  // the paged bytes
  std::vector<float> q32;     // q as the simulated kernel takes it

  static Expected<std::shared_ptr<LogitsState>> make(const Case& c) {
    auto s = std::make_shared<LogitsState>();
    if (auto ok = s->read(c); !ok) return tl::unexpected(ok.error());
    return s;
  }

  Expected<void> read(const Case& c) {
    heads = c.integer("heads");
    dim = c.integer("dim");
    size = c.integer("block");
    type = *parse_dtype(c.word("type") == "int8" ? "i8" : c.word("type"));
    out = *parse_dtype(c.word("out"));
    paged = c.word("cache") == "paged";
    exact = c.word("fill") == "onehot";
    lens = c.list("lens");
    next = c.list("next");
    if (next.size() == 1) next.assign(lens.size(), next[0]);
    if (next.size() != lens.size()) return fail("next: its entries differ from those of lens");
    for (std::size_t r = 0; r < lens.size(); ++r) {
      offset.push_back(keys);
      auto ends = visible_ends(lens[r], next[r]);
      if (c.word("ctx") == "2d" && lens[r] > 0)  // lengths of their own for every token
        for (std::int64_t i = 0; i < next[r]; ++i) ends[i] = 1 + (lens[r] * (i + 1)) / (next[r] + 1);
      for (std::int64_t i = 0; i < next[r]; ++i) {
        request.push_back(static_cast<std::int64_t>(r));
        first.push_back(keys);
        last.push_back(keys + std::min(ends[i], lens[r]));
      }
      keys += lens[r];
      tokens += next[r];
    }
    if (auto ok = expect_few("lens, next, heads", {keys, tokens, heads}, 0x1p33); !ok) return ok;
    if (auto ok = expect_few("lens, next", {keys, tokens}); !ok) return ok;
    if (auto ok = expect_few("lens, dim", {keys, dim}); !ok) return ok;
    if (auto ok = expect_few("next, heads, dim", {tokens, heads, dim}); !ok) return ok;
    fill(c);
    return {};
  }

  void fill(const Case& c) {
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::uint64_t call = 100 * static_cast<std::uint64_t>(c.integer("call"));
    const Random rq(seed, 1 + call), rk(seed, 2), rw(seed, 3 + call), rs(seed, 4);
    const double step = type == DType::kI8 ? 40 : 1;  // integers need a spread
    const std::string& how = c.word("fill");
    const bool flat = how == "flat";
    const double mean = how == "offset" || flat ? 1 : 0, width = flat ? 0.002 : 1;
    q = set.add("q", type, {tokens, heads, dim}, [&](std::int64_t i) {
      if (exact) return (i % dim) == (i / dim) % heads % dim ? 1.0 : 0.0;
      return step * (mean + width * rq.normal(i));
    });
    q32.assign(q.begin(), q.end());
    w = set.add("w", c.word("weights") == "bf16" ? DType::kBf16 : DType::kF32, {tokens, heads},
                [&](std::int64_t i) {
                  if (exact) return std::exp2(static_cast<double>(i % heads % 8));
                  // One head in a while with hardly any weight, as routers of real models have.
                  const double x = (flat ? 1 + 0.002 * rw.normal(i) : rw.normal(i)) /
                                   std::sqrt(static_cast<double>(heads * dim)) / (step * step);
                  return how == "faint" && i % heads == heads - 1 ? 1e-4 * x : x;
                });
    const auto key = [&](std::int64_t i) {
      if (exact) return (i % dim) == (i / dim) % dim ? 1.0 : 0.0;
      return step * (mean + width * rk.normal(i));
    };
    const bool scaled = type != DType::kBf16;
    const double spread = how == "level" || flat ? 0.002 : 1;
    const auto scale = [&](std::int64_t j) {
      return std::exp2(spread * static_cast<double>(rs.between(j, -2, 2)));
    };
    if (!paged) {
      k = set.add("k", type, {keys, dim}, key);
      if (scaled) k_scale = set.add("k_scale", DType::kF32, {keys}, scale);
      return;
    }
    fill_pages(key, scale, scaled, seed);
  }

  // A page holds the values of all its tokens first, then all their scales.
  std::int64_t page_bytes(bool scaled) const {
    return size * (dim * dtype_bits(type) / 8 + (scaled ? 4 : 0));
  }

  void fill_pages(const std::function<double(std::int64_t)>& key,
                  const std::function<double(std::int64_t)>& scale, bool scaled, std::uint64_t seed) {
    std::int64_t used = 0;
    for (std::int64_t n : lens) used += (n + size - 1) / size;
    std::vector<std::int64_t> order(used);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[Random(seed, 5).between(i, 0, i - 1)]);
    const std::int64_t bytes = page_bytes(scaled), blocks = used + used / 3 + 1;
    std::vector<std::byte> raw(static_cast<std::size_t>(blocks * bytes), std::byte{0xff});
    std::size_t at = 0;
    for (std::size_t r = 0; r < lens.size(); ++r) {
      pages.emplace_back();
      for (std::int64_t j = 0; j < lens[r]; ++j) {
        if (j % size == 0) pages.back().push_back(order[at] + order[at] / 3), ++at;
        const std::span<std::byte> page{raw.data() + pages.back().back() * bytes,
                                        static_cast<std::size_t>(bytes)};
        const auto values = *TensorView::make(page, type, {size, dim}, {dim, 1});
        for (std::int64_t d = 0; d < dim; ++d) {
          values.set({j % size, d}, key((offset[r] + j) * dim + d));
          k.push_back(values.at({j % size, d}));
        }
        if (!scaled) continue;
        const auto scales = *TensorView::make(page.subspan(size * dim), DType::kF32, {size}, {1});
        scales.set({j % size}, scale(offset[r] + j));
        k_scale.push_back(scales.at({j % size}));
      }
    }
    cache = set.add("kv", DType::kU8, {blocks, bytes},
                    [&](std::int64_t i) { return static_cast<double>(raw[i]); });
  }

  Expected<std::vector<Reference>> references(std::size_t contract) const {
    IndexerProblem p{tokens, heads, dim, keys, q, k, k_scale, w, first, last};
    auto result = indexer_logits(p);
    if (!result) return tl::unexpected(result.error());
    Reference r;
    r.name = "logits";
    r.type = out;
    r.shape = {tokens, keys};
    r.axes = {"token", "key"};
    r.terms = {"the dot products", "the sum over heads", "rounding of the output"};
    const Accumulation order = contract == 1 ? kHopperFp8 : kAnyOrder;
    const double u_out = out == DType::kF32 ? kU32 : unit_roundoff(out);
    for (std::int64_t i = 0; i < tokens * keys; ++i) {
      const double dots =
          type == DType::kI8 ? 0 : (depth(order, static_cast<double>(dim)) + 4) * kU32 * result->dots[i];
      const double sum = static_cast<double>(heads + 4) * kU32 * result->weights[i];
      const double rounding =
          std::isinf(result->logits[i]) ? 0 : u_out * std::fabs(result->logits[i]) + 0x1p-134;
      r.budget.push_back((1 + 0x1p-6) * (dots + sum) + rounding);
      r.coarse.push_back(dots + sum > kCoarse * result->dots[i]);
      r.term.push_back(dots > sum && dots > rounding ? 0 : sum > rounding ? 1 : 2);
    }
    r.value = std::move(result->logits);
    if (exact) r.structured = Structured::kBits;
    return std::vector<Reference>{std::move(r)};
  }

  struct Key {
    std::vector<float> values;
    float scale = 1;
  };

  Key load(std::int64_t r, std::int64_t j, LogitBug bug) const {
    Key key;
    const bool scaled = !k_scale.empty();
    if (!paged) {
      for (std::int64_t d = 0; d < dim; ++d)
        key.values.push_back(static_cast<float>(k[(offset[r] + j) * dim + d]));
      const std::int64_t n = bug == kNeighbourScale ? (offset[r] + j + 1) % keys : offset[r] + j;
      if (scaled) key.scale = static_cast<float>(k_scale[n]);
    } else {
      std::int64_t page = j / size;
      const auto held = static_cast<std::int64_t>(pages[r].size());
      if (bug == kWrongPage && page == held / 2 && held > 1) page = (page + 1) % held;
      const std::int64_t bytes = page_bytes(scaled), base = pages[r][page] * bytes, slot = j % size;
      const std::int64_t width = dim * dtype_bits(type) / 8;
      const bool mixed = bug == kInterleavedScales && scaled;
      for (std::int64_t d = 0; d < dim; ++d)
        key.values.push_back(value(base + (mixed ? slot * (width + 4) : slot * width), d));
      const std::int64_t s = bug == kNeighbourScale ? (slot + 1) % std::min(size, lens[r]) : slot;
      if (scaled) key.scale = scale_at(base + (mixed ? slot * (width + 4) + width : size * width + 4 * s));
    }
    if (bug == kKScaleDropped) key.scale = 1;
    return key;
  }

  float value(std::int64_t base, std::int64_t d) const {
    if (dtype_bits(type) == 8)
      return static_cast<float>(decode(type, static_cast<std::uint64_t>(cache[base + d])));
    const auto low = static_cast<std::uint64_t>(cache[base + 2 * d]),
               high = static_cast<std::uint64_t>(cache[base + 2 * d + 1]);
    return static_cast<float>(decode(type, low | high << 8));
  }

  float scale_at(std::int64_t at) const {
    std::uint64_t bits = 0;
    for (int b = 0; b < 4; ++b) bits |= static_cast<std::uint64_t>(cache[at + b]) << (8 * b);
    return static_cast<float>(decode(DType::kF32, bits));
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<LogitBug>(mutant);
    Actual a{"logits", out, {tokens, keys}, std::vector<double>(tokens * keys, -kInf)};
    std::int64_t t = 0;
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(lens.size()); ++r) {
      std::vector<Key> loaded;
      for (std::int64_t j = 0; j < lens[r]; ++j) loaded.push_back(load(r, j, bug));
      for (std::int64_t i = 0; i < next[r]; ++i, ++t) {
        std::int64_t end = last[t] - offset[r];
        if (bug == kEndLong) end = std::min(end + 1, lens[r]);
        if (bug == kEndShort) end = std::max<std::int64_t>(end - 1, 0);
        if (bug == kNextNIgnored || bug == kTailUnmasked) end = lens[r];
        const std::int64_t shift = bug == kStartIgnored ? 0 : offset[r];
        for (std::int64_t j = 0; j < end; ++j)
          a.value[t * keys + shift + j] =
              fine ? logit(t, loaded[j], contract, bug) : round_to(out, logit(t, loaded[j], contract, bug));
      }
    }
    return {a};
  }

  float logit(std::int64_t t, const Key& key, std::size_t contract, LogitBug bug) const {
    float sum = 0;
    for (std::int64_t h = 0; h < heads; ++h) {
      if (bug == kHeadDropped && h == heads - 1) continue;
      const float dot = dot_in_order(contract == 1 && type != DType::kI8 ? kHopperFp8 : kAnyOrder,
                                     &q32[(t * heads + h) * dim], key.values.data(), dim),
                  weight = static_cast<float>(w[t * heads + h]);
      sum += weight * (bug == kReluAfter ? dot : std::max(dot, 0.0f));
      if (bug == kWeightTwice && h == 0) sum += weight * std::max(dot, 0.0f);
    }
    if (bug == kReluAfter) sum = std::max(sum, 0.0f);
    return sum * key.scale;
  }
};

// ---- top-k
// ---------------------------------------------------------------------------------------------------------
enum TopkBug {
  kTNone,
  kAbsolute,
  kRowStart,
  kSmallest,
  kDuplicate,
  kOneShort,
  kEndIncluded,
  kZeroPadding,
  kCoarse,
  kNegativeOrder
};

struct TopkState {
  InputSet set;
  std::int64_t rows = 0, width = 0, k = 0;
  std::vector<std::int64_t> first, last;
  std::vector<double> scores;

  static Expected<std::shared_ptr<TopkState>> make(const Case& c) {
    auto s = std::make_shared<TopkState>();
    s->k = c.integer("topk");
    for (std::int64_t n : c.list("lens")) {
      s->first.push_back(s->width);
      s->width += n;
      s->last.push_back(s->width);
    }
    s->rows = static_cast<std::int64_t>(s->first.size());
    if (auto ok = expect_few("lens", {s->rows, s->width}); !ok) return tl::unexpected(ok.error());
    if (auto ok = expect_few("lens, topk", {s->rows, s->k}); !ok) return tl::unexpected(ok.error());
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::string& fill = c.word("fill");
    s->scores = s->set.add("logits", DType::kF32, {s->rows, s->width}, [&](std::int64_t i) {
      const Random random(seed, 1);
      const std::int64_t row = i / s->width, j = i % s->width;
      if (j < s->first[row] || j >= s->last[row])
        return fill == "rising" ? 1e6 : 100 + random.normal(i);  // must not be chosen
      if (fill == "ties") return static_cast<double>(random.between(i, -2, 2));
      if (fill == "rising") return static_cast<double>(j - s->first[row]);
      if (fill == "near") return 1.0 + 1e-5 * random.normal(i);
      return random.normal(i);
    });
    return s;
  }

  Expected<std::vector<Reference>> references(std::size_t contract) const {
    const bool absolute = contract == 1;
    Reference r;
    r.name = "indices";
    r.type = DType::kI32;
    r.shape = {rows, k};
    r.axes = {"row", "place"};
    r.rule = [this, absolute](const Actual& a) -> std::optional<std::string> {
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<std::int64_t> chosen;
        for (std::int64_t i = 0; i < k; ++i) {
          const auto x = static_cast<std::int64_t>(a.value[row * k + i]);
          chosen.push_back(x < 0 ? x : absolute ? x : x + first[row]);
        }
        const std::span<const double> scores_of{scores.data() + row * width, static_cast<std::size_t>(width)};
        if (auto fault = topk_fault(scores_of, {}, first[row], last[row], k, chosen))
          return "row " + std::to_string(row) + ": " + *fault;
      }
      return std::nullopt;
    };
    return std::vector<Reference>{std::move(r)};
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool) const {
    const auto bug = static_cast<TopkBug>(mutant);
    Actual a{
        "indices", DType::kI32, {rows, k}, std::vector<double>(rows * k, bug == kZeroPadding ? 0.0 : -1.0)};
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t from = bug == kRowStart ? 0 : first[row];
      const std::int64_t to =
          bug == kRowStart ? last[row] - first[row] : std::min(width, last[row] + (bug == kEndIncluded));
      std::vector<std::int64_t> order(std::max<std::int64_t>(0, to - from));
      std::iota(order.begin(), order.end(), from);
      const auto key = [&](std::int64_t j) {
        auto x = static_cast<float>(scores[row * width + j]);
        if (bug == kCoarse) x = round_to_f32(DType::kBf16, x);
        if (bug == kNegativeOrder && x < 0)
          x = -1e30f - x;  // bits of negative numbers compared without turning them round
        return bug == kSmallest ? -x : x;
      };
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t x, std::int64_t y) { return key(x) > key(y); });
      std::int64_t n = std::min<std::int64_t>(k, static_cast<std::int64_t>(order.size()));
      if (bug == kDuplicate && n > 1) order[n - 1] = order[0];
      if (bug == kOneShort) n = std::max<std::int64_t>(0, n - 1);
      const bool absolute = (contract == 1) != (bug == kAbsolute);
      for (std::int64_t i = 0; i < n; ++i)
        a.value[row * k + i] = static_cast<double>(order[i] - (absolute ? 0 : from));
    }
    return {a};
  }
};

Family logits_family() {
  Family f;
  f.name = "indexer.logits";
  f.component = "indexer";
  f.schema = {
      f.name,
      {{"type", KeyKind::kWord, "e4m3", 0, 0, {"bf16", "e4m3", "int8"}, "type of q and k"},
       {"cache",
        KeyKind::kWord,
        "flat",
        0,
        0,
        {"flat", "paged"},
        "keys in a row, or pages of values then scales"},
       {"ctx", KeyKind::kWord, "1d", 0, 0, {"1d", "2d"}, "one length a request, or one a token"},
       {"weights", KeyKind::kWord, "f32", 0, 0, {"f32", "bf16"}, ""},
       {"out", KeyKind::kWord, "f32", 0, 0, {"f32", "bf16"}, ""},
       {"heads", KeyKind::kInt, "32", 1, 1024, {}, ""},
       {"dim", KeyKind::kInt, "64", 1, 1024, {}, ""},
       {"block", KeyKind::kInt, "64", 1, 4096, {}, "slots of a page"},
       {"lens", KeyKind::kList, "65,1", 0, 1 << 24, {}, "keys of each request"},
       {"next", KeyKind::kList, "1", 0, 4096, {}, "queries of each request"},
       {"fill",
        KeyKind::kWord,
        "randn",
        0,
        0,
        {"randn", "faint", "level", "offset", "flat", "onehot"},
        "level: equal scales; faint: a head of little weight; offset: queries and keys of mean 1; flat: all "
        "near 1"},
       call_key(),
       seed_key()}};
  f.contracts = {"any-order", "fp8-sums"};
  f.mutants = {{"relu-after", "ReLU after the sum over heads"},
               {"neighbour-scale", "scale of the neighbouring token"},
               {"head-dropped", "last head dropped"},
               {"weight-twice", "first head counted twice"},
               {"start-ignored", "row start ignored", true},
               {"end-long", "one key too many", true},
               {"end-short", "last key dropped", true},
               {"next-n-ignored", "all tokens of a request see the same keys", true},
               {"wrong-page", "one page read from the wrong block"},
               {"interleaved-scales", "planar scales read as interleaved", true},
               {"k-scale-dropped", "key scale dropped"},
               {"tail-unmasked", "positions past the length not masked", true}};
  f.smoke = {"indexer.logits seed=1",
             "indexer.logits lens=65,40,3 next=3,1,5 seed=2",
             "indexer.logits cache=paged lens=200,65,1 next=2,3,1 seed=3",
             "indexer.logits cache=paged block=16 type=bf16 ctx=2d lens=100,40 next=4,2 seed=4",
             "indexer.logits type=int8 cache=paged lens=70,33 next=2 seed=5",
             "indexer.logits fill=onehot type=bf16 lens=70,33 next=2 seed=6",
             "indexer.logits heads=4 dim=128 out=bf16 weights=bf16 lens=77 next=1 seed=7"};
  f.plain = {"indexer.logits heads=64 fill=faint lens=300 next=1 seed=8",
             "indexer.logits heads=64 fill=level lens=300 next=1 seed=9",
             "indexer.logits heads=64 cache=paged fill=level lens=300 next=1 seed=10",
             "indexer.logits lens=1 next=1 heads=64 fill=level seed=19",
             "indexer.logits lens=1 next=1 heads=64 fill=level seed=29",
             "indexer.logits heads=64 cache=paged lens=300 fill=flat"};
  f.random = [](const Schema& s, Draw& d, std::int64_t longest) {
    Case c(s);
    for (const char* key : {"type", "cache", "ctx", "weights", "out"}) {
      for (const KeySpec& k : s.keys)
        if (k.name == key)
          set_key(c, key, k.words[d.between(0, static_cast<std::int64_t>(k.words.size()) - 1)]);
    }
    set_key(c, "heads", d.pick({"1", "4", "32", "64"}));
    set_key(c, "dim", d.pick({"32", "64", "128"}));
    set_key(c, "block", d.pick({"16", "64"}));
    if (longest > kLong) {
      set_key(c, "heads", "2");
      set_key(c, "lens", std::to_string(d.between(32768, 40000)));
      set_key(c, "next", "1");
    } else {
      set_key(c, "lens",
              std::to_string(d.between(1, 130)) + "," + std::to_string(d.pick({0, 1, 63, 64, 65})));
      set_key(c, "next", std::to_string(d.between(1, 3)) + "," + std::to_string(d.between(0, 2)));
    }
    set_key(c, "fill", d.pick({"randn", "randn", "faint", "level", "offset"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<LogitsState>();
  return f;
}

Family topk_family() {
  Family f;
  f.name = "indexer.topk";
  f.component = "indexer";
  f.schema = {f.name,
              {{"lens", KeyKind::kList, "9,4", 0, 1 << 24, {}, "candidates of each row, packed side by side"},
               {"topk", KeyKind::kInt, "4", 1, 1 << 16, {}, ""},
               {"fill", KeyKind::kWord, "randn", 0, 0, {"randn", "ties", "rising", "near"}, ""},
               seed_key()}};
  f.contracts = {"relative", "absolute"};
  f.mutants = {{"absolute-for-relative", "absolute and relative indices exchanged", true},
               {"row-start", "row start ignored", true},
               {"smallest", "smallest instead of largest", true},
               {"duplicate", "one index twice", true},
               {"one-short", "one index too few", true},
               {"end-included", "first key past the end is a candidate", true},
               {"zero-padding", "missing places filled with 0 instead of -1", true},
               {"coarse", "scores compared in bf16", true},
               {"negative-order", "order of negative scores reversed", true}};
  f.smoke = {"indexer.topk lens=5,4 topk=2 fill=rising seed=1", "indexer.topk lens=100,50,3,0 topk=8 seed=2",
             "indexer.topk lens=100,50 topk=8 fill=ties seed=3",
             "indexer.topk lens=300,500 topk=16 fill=near seed=4", "indexer.topk lens=30,20 topk=25 seed=5"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "lens", std::to_string(d.between(0, 300)) + "," + std::to_string(d.between(0, 90)));
    set_key(c, "topk", d.pick({"1", "2", "16", "64", "256"}));
    set_key(c, "fill", d.pick({"randn", "ties", "rising", "near"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<TopkState>();
  return f;
}

}  // namespace

std::vector<Family> indexer_families() { return {logits_family(), topk_family()}; }

}  // namespace assay::num
