#include "cases/attention_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "formats/random.h"
#include "formats/small_float.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;  // logical elements of one tensor
constexpr std::int64_t kPoisonWhole = std::int64_t{1}
                                      << 26;  // larger buffers are poisoned around the used pages only
enum Stream : std::uint64_t { kQ = 1, kK, kV, kPages, kSinks, kScales, kSelect, kTarget, kChannel };

// The byte that fills memory nobody may read: NaN where the type has one, else the value of largest
// magnitude.
std::byte poison_of(DType type) {
  switch (type) {
    case DType::kI8:
      return std::byte{0x81};
    case DType::kE4m3fnuz:
    case DType::kE5m2fnuz:
      return std::byte{0x80};
    default:
      return std::byte{0xff};
  }
}

class Builder {
 public:
  static Expected<std::shared_ptr<const AttentionCase>> build(const Case& line) {
    auto made = std::make_shared<AttentionCase>();
    Builder b(line, *made);
    if (auto ok = b.run(); !ok) return tl::unexpected(ok.error());
    return std::shared_ptr<const AttentionCase>(made);
  }

 private:
  Builder(const Case& line, AttentionCase& to) : c_(to), p_(to.problem), line_(line) { c_.line = line; }

  Expected<void> run() {
    for (auto step : {&Builder::read_lengths, &Builder::read_mask, &Builder::read_fill, &Builder::place_pages,
                      &Builder::make_cache, &Builder::make_scales, &Builder::write_cache,
                      &Builder::write_queries, &Builder::make_selection, &Builder::read_structure})
      if (auto ok = (this->*step)(); !ok) return ok;
    if (auto ok = check(p_); !ok) return ok;
    return {};
  }

  Expected<void> read_lengths() {
    p_.kv_lens = line_.list("lens");
    p_.q_lens = line_.list("q");
    if (p_.q_lens.size() == 1) p_.q_lens.assign(p_.kv_lens.size(), p_.q_lens[0]);
    if (p_.q_lens.size() != p_.kv_lens.size())
      return fail(fmt::format("q: {} entries for {} requests in lens", p_.q_lens.size(), p_.kv_lens.size()));
    tokens_ = std::accumulate(p_.q_lens.begin(), p_.q_lens.end(), std::int64_t{0});
    heads_ = line_.first("heads");
    kv_heads_ = line_.second("heads");
    if (heads_ % kv_heads_ != 0)
      return fail(fmt::format("heads={}/{}: query heads must be a multiple of key heads", heads_, kv_heads_));
    qk_ = line_.first("dim");
    vd_ = line_.second("dim");
    dtype_ = *parse_dtype(line_.word("dtype"));
    const std::string& kv = line_.word("kv");
    kv_type_ = kv == "auto"                     ? dtype_
               : kv == "nvfp4" || kv == "mxfp4" ? DType::kE2m1
                                                : *parse_dtype(kv == "int8" ? "i8" : kv);
    group_ = kv == "nvfp4" ? 16 : kv == "mxfp4" ? 32 : 0;
    if (group_ > 0 && (qk_ % group_ != 0 || vd_ % group_ != 0))
      return fail(fmt::format("dim: {} needs a multiple of {}", kv, group_));
    layout_ = line_.word("layout");
    if (layout_ == "mla" && (kv_heads_ != 1 || vd_ > qk_ || group_ > 0))
      return fail("layout=mla: one key head, a value dim within the key dim and no fp4 are needed");
    const std::int64_t keys = std::accumulate(p_.kv_lens.begin(), p_.kv_lens.end(), std::int64_t{0});
    if (static_cast<double>(keys) * static_cast<double>(kv_heads_ * std::max(qk_, vd_)) > kMostElements)
      return fail("lens: more than 2^31 cache elements");
    if (static_cast<double>(tokens_) * static_cast<double>(heads_ * std::max(qk_, vd_)) > kMostElements)
      return fail("q: more than 2^31 query or output elements");
    return {};
  }

  Expected<void> read_mask() {
    const std::string& causal = line_.word("causal");
    p_.mask.causal = causal == "br" || causal == "ul";
    if (causal == "ul") p_.mask.corner = Corner::kUpperLeft;
    if (causal == "mixed")
      for (std::size_t r = 0; r < p_.q_lens.size(); ++r) p_.causal.push_back(r % 2 == 0);
    const auto& window = line_.list("window");
    if (!window.empty() && window.size() != 2) return fail("window: two entries, left and right, are needed");
    if (!window.empty()) {
      p_.mask.window_left = window[0];
      p_.mask.window_right = window[1];
    }
    p_.softcap = line_.real("softcap");
    p_.scale = line_.real("scale") > 0 ? line_.real("scale") : 1 / std::sqrt(static_cast<double>(qk_));
    // A kernel receives the scale as a binary32.
    p_.scale = static_cast<float>(p_.scale);
    for (std::int64_t h = 0; h < heads_; ++h) {
      if (line_.word("alibi") == "on")
        p_.alibi.push_back(std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(heads_)));
      if (line_.word("sink") == "on")
        p_.sink.push_back(
            static_cast<float>(Random(seed(), kSinks).normal(h) * 1.5 + static_cast<double>(h % 3)));
      if (line_.word("sink") == "big") p_.sink.push_back(20.0 + static_cast<double>(h));
      if (line_.word("sink") == "last") p_.sink.push_back(h + 1 == heads_ ? 30.0 : -kInf);
      if (line_.word("sink") == "off-some") p_.sink.push_back(h % 2 ? 1.0 : -kInf);
    }
    for (double& slope : p_.alibi) slope = static_cast<float>(slope);
    return {};
  }

  Expected<void> read_fill() {
    fill_ = line_.word("fill");
    std::int64_t seen = longest();
    if (p_.mask.window_left >= 0) seen = std::min(seen, p_.mask.window_left + 1);
    v_size_ = 1;
    if (fill_ == "unit") v_size_ = std::sqrt(std::max(1.0, static_cast<double>(seen) / std::exp(1.0)));
    if (fill_ == "small") v_size_ = 0.1;
    if (fill_ == "huge") v_size_ = 1e4;
    q_size_ = fill_ == "small" ? 0.1 : fill_ == "peaked" ? 4.0 : fill_ == "huge" ? 24.0 : 1.0;
    k_size_ = fill_ == "small" ? 0.1 : 1.0;
    v_mean_ = fill_ == "offset" ? 1 : 0;
    needle_ = fill_ == "needle";
    channel_ = fill_ == "channel";
    tomography_ = fill_ == "tomo" ? 1 : fill_ == "tomo2" ? 2 : 0;
    k_random_ = Random(seed(), kK);
    v_random_ = Random(seed(), kV);
    return {};
  }

  std::int64_t longest() const {
    return p_.kv_lens.empty() ? 0 : *std::max_element(p_.kv_lens.begin(), p_.kv_lens.end());
  }

  std::uint64_t seed() const { return static_cast<std::uint64_t>(line_.integer("seed")); }

  // Blocks of the requests' pages: shuffled, with unused (poisoned) blocks between, or far away.
  Expected<void> place_pages() {
    size_ = line_.integer("block");
    const std::string& pages = line_.word("pages");
    if (layout_ == "varlen") {
      if (pages != "near") return fail(fmt::format("pages={}: a varlen tensor has no pages", pages));
      size_ = 1;
    }
    if (layout_ == "kvcache")
      size_ = 8 + longest();
    std::int64_t used = 0;
    for (std::int64_t n : p_.kv_lens) used += (n + size_ - 1) / size_;
    std::vector<std::int64_t> order(static_cast<std::size_t>(used));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const bool in_order = layout_ == "varlen";
    if (!in_order)
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1],
                  order[Random(seed(), kPages).between(i, 0, static_cast<std::int64_t>(i) - 1)]);
    std::int64_t base = 0;
    if (pages == "high") base = 65536 - used - used / 3 + 2;  // the last few ids are past 2^16
    if (pages == "far") base = far_base(used);
    std::size_t at = 0;
    for (std::int64_t n : p_.kv_lens) {
      p_.kv.table.emplace_back();
      for (std::int64_t i = 0; i < (n + size_ - 1) / size_; ++i) {
        const std::int64_t spread =
            in_order ? order[at] : base + order[at] + order[at] / 3;  // every fourth is unused
        if (spread > std::numeric_limits<std::int32_t>::max()) return fail("pages: block ids beyond 2^31");
        p_.kv.table.back().push_back(static_cast<std::int32_t>(spread));
        ++at;
      }
    }
    blocks_ = base + used + used / 3 + 1;
    return {};
  }

  std::int64_t page_elements() const {
    const std::int64_t wide = std::max(qk_, vd_) * kv_heads_ * size_;
    if (layout_ == "interleaved") return (qk_ + vd_) * kv_heads_ * size_;
    if (layout_ == "slab") return 3 * wide;
    if (layout_ == "gaps") return wide + kv_heads_ * size_ * 8 + 24;
    return wide;
  }

  // The last few blocks lie past 2^31 elements, where a 32-bit offset wraps.
  std::int64_t far_base(std::int64_t used) const {
    return ((std::int64_t{1} << 31) / page_elements()) - used - used / 3 + 2;
  }

  Shape strides_for(std::int64_t dim, std::int64_t* offset) const {
    *offset = 0;
    if (layout_ == "hnd") return {page_elements(), dim, size_ * dim, 1};
    if (layout_ == "slab") {
      *offset = page_elements() / 3;  // this layer is the second of three in each page
      return {page_elements(), kv_heads_ * dim, dim, 1};
    }
    if (layout_ == "gaps") {
      *offset = 16;
      return {page_elements(), kv_heads_ * dim + 8, dim, 1};
    }
    return {page_elements(), kv_heads_ * dim, dim, 1};
  }

  Expected<void> make_cache() {
    const std::int64_t page = page_elements();
    if (static_cast<double>(page) * static_cast<double>(blocks_) > 0x1p36)
      return fail("lens: the cache is larger than 2^36 elements");
    const auto total = static_cast<std::size_t>((page * blocks_ + 64) * dtype_bits(kv_type_) / 8 + 64);
    const bool shared = layout_ == "interleaved" || layout_ == "mla";
    for (SparseBuffer* b : {&c_.k_bytes, &c_.v_bytes}) {
      if (b == &c_.v_bytes && shared) break;
      auto made = SparseBuffer::make(total);
      if (!made) return tl::unexpected(made.error());
      *b = std::move(*made);
      poison(b->bytes(), page);
    }
    std::int64_t k_offset = 0, v_offset = 0;
    Shape k_strides = strides_for(qk_, &k_offset), v_strides = strides_for(vd_, &v_offset);
    if (layout_ == "interleaved") v_offset = qk_ * kv_heads_ * size_;  // [block][k, v][slot][head][dim]
    if (layout_ == "mla") v_strides = k_strides;
    auto k =
        TensorView::make(c_.k_bytes.bytes(), kv_type_, {blocks_, size_, kv_heads_, qk_}, k_strides, k_offset);
    auto v = TensorView::make(shared ? c_.k_bytes.bytes() : c_.v_bytes.bytes(), kv_type_,
                              {blocks_, size_, kv_heads_, vd_}, v_strides, v_offset);
    if (!k || !v) return fail("layout: " + (k ? v.error().message : k.error().message));
    p_.kv.k = *k;
    p_.kv.v = *v;
    return {};
  }

  void poison(std::span<std::byte> bytes, std::int64_t page) const {
    if (line_.word("unused") == "zero") return;
    const auto value = static_cast<int>(poison_of(kv_type_));
    if (static_cast<std::int64_t>(bytes.size()) <= kPoisonWhole) {
      std::memset(bytes.data(), value, bytes.size());
      return;
    }
    const std::int64_t step = page * dtype_bits(kv_type_) / 8;
    for (const auto& pages : p_.kv.table)
      for (std::int32_t block : pages)
        std::memset(bytes.data() + block * step, value, static_cast<std::size_t>(step));
  }

  // Distinct scales for each head or token, so that a neighbour's scale is a different number.
  Expected<void> make_scales() {
    if (kv_type_ == dtype_) return {};
    const double base = line_.real("kvbase") > 0 ? static_cast<float>(line_.real("kvbase"))
                        : kv_type_ == DType::kI8 ? 0.03125
                        : group_ > 0             ? 0.5
                                                 : 0.0625;
    const std::string& how = line_.word("kvscale");
    spread_ = line_.real("kvspread");
    p_.kv.k_scale.tensor = base;
    p_.kv.v_scale.tensor = group_ > 0 || how != "tensor" || line_.real("kvbase") > 0 ? base : base * 1.25;
    for (std::int64_t h = 0; how == "head" && h < kv_heads_; ++h) {
      p_.kv.k_scale.head.push_back(static_cast<float>(step_scale(h % 4 - 1)));
      p_.kv.v_scale.head.push_back(static_cast<float>(step_scale(1 - h % 4)));
    }
    if (how == "token" || group_ > 0) return make_stored_scales(how == "token");
    return {};
  }

  double step_scale(std::int64_t steps) const { return std::exp2(spread_ * static_cast<double>(steps)); }

  Expected<void> make_stored_scales(bool token) {
    const std::int64_t groups = group_ > 0 ? qk_ / group_ + vd_ / group_ : 2;
    const DType type = line_.word("kv") == "nvfp4" ? DType::kE4m3fn : group_ > 0 ? DType::kE8m0 : DType::kF32;
    if (token && group_ > 0) return fail("kvscale=token: fp4 caches have block scales");
    const std::int64_t count = blocks_ * size_ * kv_heads_ * groups, bytes = count * dtype_bits(type) / 8;
    if (count > kMostElements) return fail("lens: more than 2^31 scales");
    auto made = SparseBuffer::make(static_cast<std::size_t>(bytes));
    if (!made) return tl::unexpected(made.error());
    c_.scale_bytes = std::move(*made);
    const std::int64_t k_groups = group_ > 0 ? qk_ / group_ : 1;
    // [block][slot][head][all k groups, all v groups]
    const auto view = [&](std::int64_t first, std::int64_t n) {
      return TensorView::make(c_.scale_bytes.bytes(), type, {blocks_, size_, kv_heads_, n},
                              {size_ * kv_heads_ * groups, kv_heads_ * groups, groups, 1}, first);
    };
    auto k = view(0, k_groups), v = view(k_groups, groups - k_groups);
    if (!k || !v) return fail("kvscale: the scales' view");
    if (group_ > 0) {
      p_.kv.k_scale.group = *k;
      p_.kv.v_scale.group = *v;
      p_.kv.k_scale.group_size = p_.kv.v_scale.group_size = group_;
      return {};
    }
    const auto per_token = [&](std::int64_t first) {
      return *TensorView::make(c_.scale_bytes.bytes(), type, {blocks_, size_, kv_heads_},
                               {size_ * kv_heads_ * groups, kv_heads_ * groups, groups}, first);
    };
    p_.kv.k_scale.token = per_token(0);
    p_.kv.v_scale.token = per_token(1);
    return {};
  }

  double k_value(std::size_t r, std::int64_t j, std::int64_t h, std::int64_t d) const {
    const std::uint64_t i = counter(r, j, h, d, qk_);
    if (needle_) return k_random_.bits(i) & 1 ? 1 : -1;
    return k_size_ * k_random_.normal(i);
  }

  double v_value(std::size_t r, std::int64_t j, std::int64_t h, std::int64_t d) const {
    if (tomography_ > 0) return (tomography_ == 1 ? j : j / vd_) % vd_ == d ? 1 : 0;
    const double x = v_random_.normal(counter(r, j, h, d, vd_));
    return channel_ ? Random(0, kChannel).normal(d) + 0.002 * x : v_mean_ + v_size_ * x;
  }

  std::uint64_t counter(std::size_t r, std::int64_t j, std::int64_t h, std::int64_t d,
                        std::int64_t dim) const {
    return (static_cast<std::uint64_t>(r) << 44) + static_cast<std::uint64_t>((j * kv_heads_ + h) * dim + d);
  }

  Expected<void> write_cache() {
    const bool mla = layout_ == "mla";
    for (std::size_t r = 0; r < p_.kv_lens.size(); ++r)
      for (std::int64_t j = 0; j < p_.kv_lens[r]; ++j) {
        const std::int64_t block = p_.kv.table[r][j / size_], slot = j % size_;
        for (std::int64_t h = 0; h < kv_heads_; ++h) {
          write_token_scales(r, j, block, slot, h);
          // MLA: the value is the head of the key's bytes, so one of the two fills decides.
          const bool v_first = mla && (tomography_ > 0 || channel_);
          for (std::int64_t d = 0; d < qk_; ++d)
            write(p_.kv.k, p_.kv.k_scale, block, slot, h, d,
                  v_first && d < vd_ ? v_value(r, j, h, d) : k_value(r, j, h, d));
          for (std::int64_t d = 0; d < vd_ && !mla; ++d)
            write(p_.kv.v, p_.kv.v_scale, block, slot, h, d, v_value(r, j, h, d));
        }
      }
    return {};
  }

  void write(const TensorView& view, const CacheScale& s, std::int64_t block, std::int64_t slot,
             std::int64_t h, std::int64_t d, double x) const {
    double divisor = kv_type_ == dtype_ ? 1 : s.tensor;
    if (!s.head.empty()) divisor *= s.head[h];
    if (!s.token.shape().empty()) divisor *= s.token.at({block, slot, h});
    if (group_ > 0) divisor *= s.group.at({block, slot, h, d / group_});
    const double y = x / divisor;
    const std::int64_t at = view.index({block, slot, h, d});
    const auto f = static_cast<float>(y);
    view.store_bits(at, kv_type_ == DType::kBf16 ? float_to_bf16(f) : encode(kv_type_, y));
  }

  void write_token_scales(std::size_t r, std::int64_t j, std::int64_t block, std::int64_t slot,
                          std::int64_t h) const {
    if (p_.kv.k_scale.token.shape().empty() && group_ == 0) return;
    const Random random(seed(), kScales);
    const std::uint64_t at = counter(r, j, h, 0, 64);
    const auto one_of = [&](std::uint64_t i) { return step_scale(random.between(at + i, -2, 1)); };
    if (!p_.kv.k_scale.token.shape().empty()) {
      p_.kv.k_scale.token.set({block, slot, h}, one_of(0));
      p_.kv.v_scale.token.set({block, slot, h}, one_of(1) * 0.75);
    }
    if (group_ == 0) return;
    for (std::int64_t g = 0; g < qk_ / group_; ++g)
      p_.kv.k_scale.group.set({block, slot, h, g}, one_of(2 + g));
    for (std::int64_t g = 0; g < vd_ / group_; ++g)
      p_.kv.v_scale.group.set({block, slot, h, g}, one_of(40 + g));
  }

  // The key that a needle query points at: the visible edges first, then anywhere in between.
  std::int64_t target_of(std::size_t r, std::int64_t i, std::int64_t head) const {
    const bool causal = p_.causal.empty() ? p_.mask.causal : p_.causal[r];
    const KeyRange seen = visible_keys(p_.mask, causal, p_.q_lens[r], p_.kv_lens[r], i);
    if (seen.first >= seen.last) return -1;
    if (head % 3 == 0) return seen.last - 1;
    if (head % 3 == 1) return seen.first;
    return Random(seed(), kTarget)
        .between((static_cast<std::uint64_t>(r) << 32) + i * heads_ + head, seen.first, seen.last - 1);
  }

  Expected<void> write_queries() {
    const auto bytes = static_cast<std::size_t>(tokens_ * heads_ * qk_ * dtype_bits(dtype_) / 8);
    auto made = SparseBuffer::make(bytes);
    if (!made) return tl::unexpected(made.error());
    c_.q_bytes = std::move(*made);
    const Shape shape = {tokens_, heads_, qk_};
    auto view = TensorView::make(c_.q_bytes.bytes(), dtype_, shape, contiguous_strides(shape));
    if (!view) return fail("q: " + view.error().message);
    p_.q = *view;
    std::int64_t token = 0;
    for (std::size_t r = 0; r < p_.q_lens.size(); ++r)
      for (std::int64_t i = 0; i < p_.q_lens[r]; ++i, ++token)
        for (std::int64_t h = 0; h < heads_; ++h) write_query(r, i, token, h);
    return {};
  }

  void write_query(std::size_t r, std::int64_t i, std::int64_t token, std::int64_t h) const {
    if (tomography_ > 0) return;  // zero
    const std::int64_t target = needle_ ? target_of(r, i, h) : -1;
    // The largest score, needle_score, is kept within what a folded binary32 scale still represents exactly
    // enough.
    const double needle =
        std::exp2(std::round(std::log2(kNeedleScore / (p_.scale * static_cast<double>(qk_)))));
    for (std::int64_t d = 0; d < qk_; ++d) {
      double x = q_size_ * Random(seed(), kQ).normal((token * heads_ + h) * qk_ + d);
      if (target >= 0)
        x = needle *
            p_.kv.k.at({p_.kv.table[r][target / size_], target % size_, h / (heads_ / kv_heads_), d});
      p_.q.set({token, h, d}, x);
    }
  }

  // Sparse attention: distinct positions with holes inside and at the end, ids past the end, and one
  // duplicate.
  Expected<void> make_selection() {
    const std::int64_t wanted = line_.integer("topk");
    if (wanted == 0) return {};
    std::int64_t token = 0;
    for (std::size_t r = 0; r < p_.q_lens.size(); ++r)
      for (std::int64_t i = 0; i < p_.q_lens[r]; ++i, ++token) {
        const Random random(seed(), kSelect + 100 * static_cast<std::uint64_t>(token));
        std::vector<std::int64_t> list;
        const std::int64_t n = p_.kv_lens[r], stride = std::max<std::int64_t>(1, n / wanted);
        for (std::int64_t t = 0; t < wanted; ++t) {
          const std::int64_t low = t * stride;
          list.push_back(low < n ? random.between(t, low, std::min(n, low + stride) - 1) : -1);
        }
        if (line_.word("holes") == "on") {
          for (std::int64_t t = 1; t < wanted; t += 7) list[t] = -1;
          for (std::int64_t t = 3; t < wanted; t += 11) list[t] = n + random.between(1000 + t, 0, 1 << 20);
          if (wanted > 6 && list[5] >= 0) list[6] = list[5];
          if (wanted > 9) list[9] = std::numeric_limits<std::int32_t>::max();
        }
        for (std::size_t s = list.size(); s > 1; --s)
          std::swap(list[s - 1], list[random.between(5000 + s, 0, s - 1)]);
        p_.selected.push_back(list);
      }
    return {};
  }

  Expected<void> read_structure() {
    const bool bends = p_.softcap > 0 || !p_.alibi.empty();
    c_.iid_values = fill_ == "randn" || fill_ == "unit" || fill_ == "peaked" || fill_ == "small";
    if (layout_ == "mla") c_.iid_values = false;  // values are part of the keys
    if (group_ > 0 || !p_.kv.v_scale.token.shape().empty()) c_.iid_values = false;
    if (fill_ == "tomo" || fill_ == "tomo2") {
      if (bends) return fail(fmt::format("fill={}: no softcap or alibi, scores must be zero", fill_));
      const bool mla_scores = layout_ == "mla";  // q is zero, so keys do not matter
      if (kv_type_ != dtype_ && !mla_scores) return {};
      c_.lse = Structured::kExpCounts;
      const std::int64_t counted = kCountedPerDim * vd_ / 2;
      bool countable = kv_type_ == dtype_ && p_.sink.empty();
      for (std::int64_t n : p_.kv_lens) countable = countable && n <= counted;
      if (countable) c_.out = Structured::kCounts;
      for (double s : p_.sink)
        if (s > 6) c_.lse = Structured::kNone;
      for (std::int64_t n : p_.kv_lens)
        if (n > 120000) c_.lse = Structured::kNone;
    }
    if (fill_ == "needle") {
      if (bends || !p_.selected.empty()) return fail("fill=needle: no softcap, alibi or topk");
      if (qk_ < 64) return fail("fill=needle: dim of at least 64, so that random keys differ enough");
      if (kv_type_ == dtype_ && layout_ != "mla") c_.out = Structured::kBits;
    }
    return {};
  }

  static constexpr double kNeedleScore = 340;

  AttentionCase& c_;
  AttentionProblem& p_;
  const Case& line_;
  std::int64_t tokens_ = 0, heads_ = 0, kv_heads_ = 0, qk_ = 0, vd_ = 0, size_ = 1, blocks_ = 0, group_ = 0;
  DType dtype_ = DType::kBf16, kv_type_ = DType::kBf16;
  std::string layout_, fill_;
  bool needle_ = false, channel_ = false;
  int tomography_ = 0;  // which digit of the position the values show
  Random k_random_{0}, v_random_{0};
  double q_size_ = 1, k_size_ = 1, v_size_ = 1, v_mean_ = 0, spread_ = 1;
};

}  // namespace

Expected<std::shared_ptr<const AttentionCase>> build_attention_case(const Case& line) {
  return Builder::build(line);
}

}  // namespace assay::num
