// cache.insert: new keys written to their slots, quantised. cache.gather: pages read back, dequantised, into
// a workspace.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "cases/other_families.h"
#include "cases/simple_workload.h"
#include "judge/accumulation.h"
#include "oracle/quantize.h"

namespace assay::num {
namespace {

// The layouts: a scale for the whole cache; or one a token, all of them behind the page's values (planar).
struct CacheLayout {
  DType type = DType::kE4m3fn;
  std::int64_t blocks = 0, size = 0, dim = 0;
  bool planar = false;

  std::int64_t width() const { return dim * dtype_bits(type) / 8; }
  std::int64_t page() const { return size * (width() + (planar ? 4 : 0)); }
  std::int64_t value_at(std::int64_t slot) const { return slot / size * page() + slot % size * width(); }
  std::int64_t scale_at(std::int64_t slot) const {
    return slot / size * page() + size * width() + slot % size * 4;
  }
};

std::vector<KeySpec> layout_keys() {
  return {{"type",
           KeyKind::kWord,
           "e4m3",
           0,
           0,
           {"bf16", "e4m3", "e5m2", "e4m3fnuz", "int8"},
           "type of the cache"},
          {"scales",
           KeyKind::kWord,
           "tensor",
           0,
           0,
           {"tensor", "token", "ue8m0"},
           "one static scale, or a dynamic one a token"},
          {"tokens", KeyKind::kInt, "9", 0, 1 << 20, {}, ""},
          {"dim", KeyKind::kInt, "64", 2, 4096, {}, ""},
          {"block", KeyKind::kInt, "4", 1, 4096, {}, "slots of a page"},
          {"fill",
           KeyKind::kWord,
           "randn",
           0,
           0,
           {"randn", "ties", "large", "tiny", "level", "sink"},
           "sink: the first token far above the others"},
          seed_key()};
}

Expected<CacheLayout> read_layout(const Case& c) {
  CacheLayout l;
  l.type = *parse_dtype(c.word("type") == "int8" ? "i8" : c.word("type"));
  l.size = c.integer("block");
  l.dim = c.integer("dim");
  l.planar = c.word("scales") != "tensor";
  l.blocks = (c.integer("tokens") * 2) / l.size + 2;
  if (l.planar && l.type == DType::kBf16) return fail("scales: a bf16 cache has none");
  if (auto ok = expect_few("tokens, block, dim", {l.blocks, l.page()}); !ok)
    return tl::unexpected(ok.error());
  return l;
}

double largest_of(DType type) {
  return type == DType::kI8 ? 127 : type == DType::kE5m2 ? 57344 : type == DType::kE4m3fnuz ? 240 : 448;
}

// Slots: every other one in a shuffled order; some tokens are padding (-1).
std::int64_t slot_of(const CacheLayout& l, std::int64_t t, std::uint64_t seed) {
  if (Random(seed, 5).between(t, 0, 5) == 0) return -1;
  return (t * 2 + 1) % (l.blocks * l.size);
}

void put_float(std::vector<double>& bytes, std::int64_t at, double x) {
  const std::uint64_t bits = encode(DType::kF32, x);
  for (int b = 0; b < 4; ++b) bytes[at + b] = static_cast<double>(bits >> (8 * b) & 0xff);
}

double get_float(const std::vector<double>& bytes, std::int64_t at) {
  std::uint64_t bits = 0;
  for (int b = 0; b < 4; ++b) bits |= static_cast<std::uint64_t>(bytes[at + b]) << (8 * b);
  return decode(DType::kF32, bits);
}

void put_code(std::vector<double>& bytes, const CacheLayout& l, std::int64_t at, std::int64_t d,
              std::uint64_t code) {
  if (l.width() == l.dim) {
    bytes[at + d] = static_cast<double>(code & 0xff);
    return;
  }
  bytes[at + 2 * d] = static_cast<double>(code & 0xff);
  bytes[at + 2 * d + 1] = static_cast<double>(code >> 8);
}

std::uint64_t get_code(const std::vector<double>& bytes, const CacheLayout& l, std::int64_t at,
                       std::int64_t d) {
  if (l.width() == l.dim) return static_cast<std::uint64_t>(bytes[at + d]);
  return static_cast<std::uint64_t>(bytes[at + 2 * d]) | static_cast<std::uint64_t>(bytes[at + 2 * d + 1])
                                                             << 8;
}

// ---- insert
// --------------------------------------------------------------------------------------------------------
enum InsertBug {
  kNone,
  kPaddingWritten,
  kScaleInverted,
  kScaleDropped,
  kNoSaturation,
  kTruncated,
  kNeighbourSlot,
  kInterleaved,
  kFnuzBias,
  kHalfCopied,
  kScaleNeighbour,
  kScaleFromPage
};

struct InsertState {
  InputSet set;
  CacheLayout layout;
  std::int64_t tokens = 0;
  bool power_of_two = false;
  double scale = 0.25;
  std::vector<double> x, slots, before;

  static Expected<std::shared_ptr<InsertState>> make(const Case& c) {
    auto s = std::make_shared<InsertState>();
    auto l = read_layout(c);
    if (!l) return tl::unexpected(l.error());
    s->layout = *l;
    s->tokens = c.integer("tokens");
    s->power_of_two = c.word("scales") == "ue8m0";
    const auto seed = static_cast<std::uint64_t>(c.integer("seed"));
    const std::string& fill = c.word("fill");
    if (l->type == DType::kBf16) s->scale = 1;
    if (l->type == DType::kI8) s->scale = 0.03;
    const Random random(seed, 1);
    s->x = s->set.add("x", DType::kBf16, {s->tokens, l->dim}, [&](std::int64_t i) {
      const double n = random.normal(i);
      if (fill == "ties") return s->scale * (static_cast<double>(random.between(i, -30, 30)) + 0.5) / 8;
      if (fill == "large") return 400 * n;  // beyond what the code can hold
      if (fill == "tiny") return 1e-6 * n;
      return n * (1 + static_cast<double>(i / l->dim % 5));
    });
    s->slots = s->set.add("slot_mapping", DType::kI64, {s->tokens},
                          [&](std::int64_t t) { return static_cast<double>(slot_of(*l, t, seed)); });
    s->before = s->set.add("cache", DType::kU8, {l->blocks, l->page()},
                           [&](std::int64_t i) { return static_cast<double>((i * 37 + 11) % 256); });
    return s;
  }

  double scale_of(std::int64_t t) const {
    if (!layout.planar) return scale;
    return dynamic_scale({x.data() + t * layout.dim, static_cast<std::size_t>(layout.dim)},
                         largest_of(layout.type), power_of_two);
  }

  Expected<std::vector<Reference>> references(std::size_t) const {
    Reference r;
    r.name = "cache";
    r.type = DType::kU8;
    r.shape = {layout.blocks, layout.page()};
    r.axes = {"block", "byte"};
    r.rule = [this](const Actual& a) { return fault(a); };
    return std::vector<Reference>{std::move(r)};
  }

  std::optional<std::string> fault(const Actual& a) const {
    std::vector<bool> written(before.size(), false);
    for (std::int64_t t = 0; t < tokens; ++t) {
      const auto slot = static_cast<std::int64_t>(slots[t]);
      if (slot < 0) continue;
      double s = scale_of(t);
      if (layout.planar) {
        const std::int64_t at = layout.scale_at(slot);
        const double stored = get_float(a.value, at);
        const bool near = power_of_two
                              ? stored == s || std::fabs(std::log2(s) - std::nearbyint(std::log2(s))) < 1e-6
                              : std::fabs(stored - s) <= 4 * kU32 * s;
        if (!near)
          return "token " + std::to_string(t) + ": scale " + std::to_string(stored) + ", want " +
                 std::to_string(s);
        s = stored;
        std::fill_n(written.begin() + at, 4, true);
      }
      for (std::int64_t d = 0; d < layout.dim; ++d) {
        const std::uint64_t code = get_code(a.value, layout, layout.value_at(slot), d);
        if (!acceptable_code(layout.type, x[t * layout.dim + d], s, code))
          return "token " + std::to_string(t) + ", dim " + std::to_string(d) + ": code " +
                 std::to_string(code) + ", want " +
                 std::to_string(quantize(layout.type, x[t * layout.dim + d], s));
      }
      std::fill_n(written.begin() + layout.value_at(slot), layout.width(), true);
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!written[i] && a.value[i] != before[i])
        return "byte " + std::to_string(i) + " of an untouched slot changed";
    return std::nullopt;
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool) const {
    const auto bug = static_cast<InsertBug>(mutant);
    Actual a{"cache", DType::kU8, {layout.blocks, layout.page()}, before};
    for (std::int64_t t = 0; t < tokens; ++t) write(a.value, t, bug);
    return {a};
  }

  void write(std::vector<double>& bytes, std::int64_t t, InsertBug bug) const {
    auto slot = static_cast<std::int64_t>(slots[t]);
    if (slot < 0 && bug != kPaddingWritten) return;
    slot = std::max<std::int64_t>(slot, 0);
    if (bug == kNeighbourSlot) slot = (slot + 1) % (layout.blocks * layout.size);
    auto s = static_cast<float>(scale);
    if (layout.planar) {
      float amax = 1e-4f;
      for (std::int64_t d = 0; d < layout.dim; ++d)
        amax = std::max(amax, std::fabs(static_cast<float>(x[t * layout.dim + d])));
      s = amax / static_cast<float>(largest_of(layout.type));
      if (power_of_two) s = std::exp2(std::ceil(std::log2(s)));
      if (bug == kScaleFromPage) s *= 2;
      const std::int64_t neighbour = slot / layout.size * layout.size + (slot + 1) % layout.size;
      const std::int64_t at = bug == kInterleaved
                                  ? slot / layout.size * layout.page() +
                                        slot % layout.size * (layout.width() + 4) + layout.width()
                                  : layout.scale_at(bug == kScaleNeighbour ? neighbour : slot);
      put_float(bytes, at, s);
    }
    const std::int64_t at =
        bug == kInterleaved && layout.planar
            ? slot / layout.size * layout.page() + slot % layout.size * (layout.width() + 4)
            : layout.value_at(slot);
    for (std::int64_t d = 0; d < (bug == kHalfCopied ? layout.dim / 2 : layout.dim); ++d) {
      const auto v = static_cast<float>(x[t * layout.dim + d]);
      const float y = bug == kScaleInverted ? v * s : bug == kScaleDropped ? v : v / s;
      put_code(bytes, layout, at, d, code_of(y, bug));
    }
  }

  std::uint64_t code_of(float y, InsertBug bug) const {
    if (layout.type == DType::kI8 && bug == kNoSaturation)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::nearbyint(y))) & 0xff;
    const DType type = bug == kFnuzBias && layout.type == DType::kE4m3fnuz ? DType::kE4m3fn : layout.type;
    return encode(type, y, bug == kTruncated ? Rounding::kTowardZero : Rounding::kNearestEven,
                  bug == kNoSaturation ? Overflow::kSpecial : Overflow::kSaturate);
  }
};

Family insert_family() {
  Family f;
  f.name = "cache.insert";
  f.component = "cache";
  f.schema = {f.name, layout_keys()};
  f.contracts = {"f32-quotient"};
  f.mutants = {{"padding-written", "tokens of slot -1 written to slot 0", true},
               {"scale-inverted", "multiplied by the scale instead of divided", true},
               {"scale-dropped", "scale dropped", true},
               {"no-saturation", "no saturation", true},
               {"truncated", "truncated instead of rounded", true},
               {"neighbour-slot", "written one slot further", true},
               {"interleaved-scales", "scale stored behind each token instead of behind the page", true},
               {"fn-for-fnuz", "e4m3fn codes written to an e4m3fnuz cache", true},
               {"half-copied", "second half of the head dim not written", true},
               {"scale-neighbour", "scale stored for the neighbouring token", true},
               {"scale-doubled", "dynamic scale twice too large", true}};
  const std::string n = "cache.insert";
  f.smoke = {n + " seed=1",
             n + " scales=token tokens=13 seed=2",
             n + " scales=ue8m0 seed=3",
             n + " type=int8 fill=large seed=4",
             n + " type=e5m2 fill=large seed=5",
             n + " fill=ties seed=6",
             n + " type=e4m3fnuz seed=7",
             n + " type=bf16 seed=8",
             n + " fill=large seed=9"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "type", d.pick({"bf16", "e4m3", "e5m2", "e4m3fnuz", "int8"}));
    if (c.word("type") != "bf16") set_key(c, "scales", d.pick({"tensor", "token", "ue8m0"}));
    set_key(c, "tokens", std::to_string(d.between(0, 40)));
    set_key(c, "dim", d.pick({"2", "64", "128"}));
    set_key(c, "block", d.pick({"1", "4", "16"}));
    set_key(c, "fill", d.pick({"randn", "ties", "large", "tiny"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<InsertState>();
  return f;
}

// ---- gather
// --------------------------------------------------------------------------------------------------------
enum GatherBug {
  kGNone,
  kGScaleDropped,
  kGNeighbour,
  kGInterleaved,
  kGWrongPage,
  kGLastDropped,
  kGFnuz,
  kGStart,
  kGTail
};

struct GatherState {
  InputSet set;
  CacheLayout layout;
  double scale = 0.25;
  std::vector<std::int64_t> lens, start;
  std::vector<std::vector<std::int64_t>> pages;
  std::vector<double> bytes;
  std::int64_t rows = 0;

  static Expected<std::shared_ptr<GatherState>> make(const Case& c) {
    auto s = std::make_shared<GatherState>();
    auto l = read_layout(c);
    if (!l) return tl::unexpected(l.error());
    s->layout = *l;
    if (c.word("fill") == "level") s->scale = 1.004;
    s->scale = static_cast<float>(s->scale);
    const std::int64_t tokens = c.integer("tokens");
    s->lens = {tokens - tokens / 3, 0, tokens / 3};
    std::int64_t page = 0;
    for (std::int64_t n : s->lens) {
      s->start.push_back(s->rows);
      s->rows += n;
      s->pages.emplace_back();
      for (std::int64_t p = 0; p * l->size < n; ++p) s->pages.back().push_back((page++ * 5 + 3) % l->blocks);
    }
    // A permutation needs a step coprime to the number of blocks.
    std::int64_t step = 5;
    while (std::gcd(step, l->blocks) != 1) ++step;
    page = 0;
    for (auto& list : s->pages)
      for (std::int64_t& p : list) p = (page++ * step + 1) % l->blocks;
    if (page > l->blocks) return fail("tokens: more pages than blocks");
    s->fill(c);
    return s;
  }

  void fill(const Case& c) {
    const Random random(static_cast<std::uint64_t>(c.integer("seed")), 1);
    const bool level = c.word("fill") == "level", sink = c.word("fill") == "sink";
    const std::int64_t first = pages[0].empty() ? 0 : pages[0][0] * layout.size;
    std::vector<double> raw(layout.blocks * layout.page());
    for (std::int64_t slot = 0; slot < layout.blocks * layout.size; ++slot) {
      for (std::int64_t d = 0; d < layout.dim; ++d) {
        const double x = level ? Random(0, 9).normal(d)
                               : (sink && slot != first       ? 1e-4
                                  : layout.type == DType::kI8 ? 30
                                                              : 1) *
                                     random.normal(slot * layout.dim + d);
        put_code(raw, layout, layout.value_at(slot), d, encode(layout.type, x));
      }
      if (layout.planar)
        put_float(raw, layout.scale_at(slot),
                  level ? 1 + 0.002 * random.normal(slot + (1 << 30))
                        : std::exp2(random.between(slot + (1 << 30), -2, 2)));
    }
    bytes =
        set.add("cache", DType::kU8, {layout.blocks, layout.page()}, [&](std::int64_t i) { return raw[i]; });
  }

  Expected<std::vector<Reference>> references(std::size_t) const {
    Reference r;
    r.name = "workspace";
    r.type = DType::kBf16;
    r.shape = {rows, layout.dim};
    r.axes = {"row", "dim"};
    for (std::size_t q = 0; q < lens.size(); ++q)
      for (std::int64_t j = 0; j < lens[q]; ++j) {
        const std::int64_t slot = pages[q][j / layout.size] * layout.size + j % layout.size;
        const double s = layout.planar                 ? get_float(bytes, layout.scale_at(slot))
                         : layout.type == DType::kBf16 ? 1
                                                       : scale;
        for (std::int64_t d = 0; d < layout.dim; ++d) {
          const double x = s * decode(layout.type, get_code(bytes, layout, layout.value_at(slot), d));
          r.value.push_back(x);
          // One product in binary32, one rounding to the output.
          r.budget.push_back((unit_roundoff(DType::kBf16) + 2 * kU32) * std::fabs(x));
        }
      }
    return std::vector<Reference>{std::move(r)};
  }

  std::vector<Actual> simulate(std::size_t, std::size_t mutant, bool fine) const {
    const auto bug = static_cast<GatherBug>(mutant);
    Actual a{"workspace", DType::kBf16, {rows, layout.dim}, std::vector<double>(rows * layout.dim, 0.0)};
    for (std::size_t q = 0; q < lens.size(); ++q)
      for (std::int64_t j = 0; j < lens[q] - (bug == kGLastDropped); ++j) copy(a.value, q, j, bug, fine);
    return {a};
  }

  void copy(std::vector<double>& to, std::size_t q, std::int64_t j, GatherBug bug, bool fine) const {
    std::int64_t page = j / layout.size;
    const auto held = static_cast<std::int64_t>(pages[q].size());
    if (bug == kGWrongPage && page == held / 2) page = (page + 1) % held;
    const std::int64_t block = pages[q][page], in = j % layout.size, slot = block * layout.size + in;
    const bool mixed = bug == kGInterleaved && layout.planar;
    const std::int64_t at = mixed ? block * layout.page() + in * (layout.width() + 4) : layout.value_at(slot);
    float s = layout.type == DType::kBf16 ? 1.0f : static_cast<float>(scale);
    if (layout.planar)
      s = static_cast<float>(get_float(
          bytes,
          mixed ? at + layout.width()
                : layout.scale_at(bug == kGNeighbour ? block * layout.size + (in + 1) % layout.size : slot)));
    if (bug == kGScaleDropped) s = 1;
    const std::int64_t row = (bug == kGStart ? (q == 0 ? 0 : start[q] - 1) : start[q]) + j;
    for (std::int64_t d = 0; d < layout.dim; ++d) {
      const DType type = bug == kGFnuz && layout.type == DType::kE4m3fnuz ? DType::kE4m3fn : layout.type;
      const float x = static_cast<float>(decode(type, get_code(bytes, layout, at, d))) * s;
      to[row * layout.dim + d] = bug == kGTail && d == layout.dim - 1 ? 0.0
                                 : fine                               ? x
                                                                      : round_to_f32(DType::kBf16, x);
    }
  }
};

Family gather_family() {
  Family f;
  f.name = "cache.gather";
  f.component = "cache";
  f.schema = {f.name, layout_keys()};
  f.contracts = {"one-rounding"};
  f.mutants = {{"scale-dropped", "scale dropped"},
               {"neighbour-scale", "scale of the neighbouring token"},
               {"interleaved-scales", "planar scales read as interleaved", true},
               {"wrong-page", "one page read from the wrong block"},
               {"last-dropped", "last row of each request not copied"},
               {"fnuz-as-fn", "e4m3fnuz bytes read as e4m3fn", true},
               {"start-low", "workspace start one row low"},
               {"tail-dropped", "last dim not copied"}};
  const std::string n = "cache.gather";
  f.smoke = {n + " tokens=20 seed=1", n + " tokens=30 scales=token seed=2",
             n + " tokens=30 type=e4m3fnuz seed=3", n + " tokens=9 type=bf16 seed=4",
             n + " tokens=17 type=int8 scales=token seed=5"};
  f.plain = {n + " tokens=30 fill=level seed=6", n + " tokens=30 scales=token fill=level seed=7",
             n + " type=bf16 tokens=30 fill=sink", n + " type=bf16 tokens=1 dim=8 seed=91"};
  f.random = [](const Schema& s, Draw& d, std::int64_t) {
    Case c(s);
    set_key(c, "type", d.pick({"bf16", "e4m3", "e5m2", "e4m3fnuz", "int8"}));
    if (c.word("type") != "bf16") set_key(c, "scales", d.pick({"tensor", "token"}));
    set_key(c, "tokens", std::to_string(d.between(0, 60)));
    set_key(c, "dim", d.pick({"2", "64", "96"}));
    set_key(c, "block", d.pick({"1", "4", "16"}));
    set_key(c, "seed", std::to_string(d.between(0, 999999)));
    return c;
  };
  f.build = builder<GatherState>();
  return f;
}

}  // namespace

std::vector<Family> cache_families() { return {insert_family(), gather_family()}; }

}  // namespace assay::num
