#include "oracle/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "base/parallel.h"
#include "oracle/dense_kernels.h"

namespace assay::num {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kThreadsPay = 1 << 20;    // products from which starting threads is worth its while
constexpr std::int64_t kRowsPerUnit = 64;  // query rows that share one gather of the keys

// One unit of work: consecutive queries of one request, all query heads of one key head.
struct Unit {
  std::size_t request;
  std::int64_t kv_head;
  std::int64_t first_query, last_query;
  std::int64_t first_token;  // of the request
};

// Products of keys with queries and of weights with values, at most.
double work_of(const AttentionProblem& p) {
  double pairs = 0;
  for (std::size_t r = 0; r < p.q_lens.size(); ++r)
    pairs += static_cast<double>(p.q_lens[r]) * static_cast<double>(p.kv_lens[r]);
  return pairs * static_cast<double>(p.q.shape()[1] * (p.q.shape()[2] + p.kv.v.shape()[3]));
}

bool causal_of(const AttentionProblem& p, std::size_t r) {
  return p.causal.empty() ? p.mask.causal : p.causal[r] != 0;
}

std::vector<Unit> split_into_units(const AttentionProblem& p) {
  const std::int64_t kv_heads = p.kv.k.shape()[2], group = p.q.shape()[1] / kv_heads;
  const std::int64_t step =
      p.selected.empty() ? std::max<std::int64_t>(1, kRowsPerUnit / std::max<std::int64_t>(1, group)) : 1;
  std::vector<Unit> units;
  std::int64_t token = 0;
  for (std::size_t r = 0; r < p.q_lens.size(); token += p.q_lens[r++])
    for (std::int64_t h = 0; h < kv_heads; ++h)
      for (std::int64_t i = 0; i < p.q_lens[r]; i += step)
        units.push_back({r, h, i, std::min(i + step, p.q_lens[r]), token});
  return units;
}

// The keys that any row of the unit sees, in the order in which rows index them.
std::vector<std::int64_t> positions_of(const AttentionProblem& p, const Unit& u, std::int64_t* first) {
  std::vector<std::int64_t> positions;
  *first = 0;
  if (!p.selected.empty()) {
    for (std::int64_t j : p.selected[u.first_token + u.first_query])
      if (j >= 0 && j < p.kv_lens[u.request]) positions.push_back(j);
    return positions;
  }
  std::int64_t low = p.kv_lens[u.request], high = 0;
  for (std::int64_t i = u.first_query; i < u.last_query; ++i) {
    const KeyRange seen =
        visible_keys(p.mask, causal_of(p, u.request), p.q_lens[u.request], p.kv_lens[u.request], i);
    if (seen.first >= seen.last) continue;
    low = std::min(low, seen.first);
    high = std::max(high, seen.last);
  }
  *first = low;
  for (std::int64_t j = low; j < high; ++j) positions.push_back(j);
  return positions;
}

// Memory that one unit after another works in.
struct Scratch {
  std::vector<std::int64_t> positions;
  std::vector<float> narrow;
  std::vector<double> largest, line, tiled, v, q, raw, spread, score, weight, out;
};

// Hands each thread a scratch of its own.
class ScratchPool {
 public:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Scratch>();
    auto scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

// The dequantised keys or values of one request and head, row after row.
class CacheReader {
 public:
  CacheReader(const TensorView& cache, const CacheScale& scale, const std::vector<std::int32_t>* pages,
              std::int64_t head)
      : cache_(cache),
        scale_(scale),
        pages_(pages),
        head_(head),
        size_(cache.shape()[1]),
        dim_(cache.shape()[3]),
        per_head_(scale.tensor * (scale.head.empty() ? 1.0 : scale.head[head])) {}

  void read(std::int64_t position, double* to) const {
    const std::int64_t page = position / size_, slot = position % size_,
                       block = pages_ ? (*pages_)[page] : page;
    if (dim_ > 0) cache_.load_row({block, slot, head_, 0}, dim_, to);
    double factor = per_head_;
    if (!scale_.token.shape().empty()) factor *= scale_.token.at({block, slot, head_});
    if (factor != 1.0)
      for (std::int64_t d = 0; d < dim_; ++d) to[d] *= factor;
    if (!scale_.group.shape().empty())
      for (std::int64_t d = 0; d < dim_; ++d)
        to[d] *= scale_.group.at({block, slot, head_, d / scale_.group_size});
  }

 private:
  const TensorView& cache_;
  const CacheScale& scale_;
  const std::vector<std::int32_t>* pages_;
  const std::int64_t head_, size_, dim_;
  const double per_head_;
};

// Works through one unit.
class UnitWorker {
 public:
  UnitWorker(const AttentionProblem& p, const Unit& u, const RowVisitor& visit, AttentionResult& result,
             Scratch& scratch)
      : s_(scratch),
        p_(p),
        u_(u),
        visit_(visit),
        result_(result),
        qk_(p.q.shape()[2]),
        vd_(p.kv.v.shape()[3]) {}

  void run() {
    s_.positions = positions_of(p_, u_, &first_);
    const auto n = static_cast<std::int64_t>(s_.positions.size());
    gather(n);
    total_ = n;
    const std::int64_t group = p_.q.shape()[1] / p_.kv.k.shape()[2];
    std::vector<RowId> rows;
    for (std::int64_t i = u_.first_query; i < u_.last_query; ++i)
      for (std::int64_t g = 0; g < group; ++g) rows.push_back({i, u_.kv_head * group + g});
    for (std::size_t at = 0; at < rows.size(); at += kRowBlock)
      run_rows({rows.data() + at, std::min<std::size_t>(kRowBlock, rows.size() - at)});
  }

  // A row that saw an infinity or NaN, or -1.
  std::int64_t bad_token() const { return bad_token_; }
  std::int64_t bad_head() const { return bad_head_; }

 private:
  void gather(std::int64_t n) {
    const auto* pages = p_.kv.table.empty() ? nullptr : &p_.kv.table[u_.request];
    const CacheReader keys(p_.kv.k, p_.kv.k_scale, pages, u_.kv_head),
        values(p_.kv.v, p_.kv.v_scale, pages, u_.kv_head);
    s_.line.resize(qk_);
    s_.tiled.resize(padded_keys(n) * qk_);
    s_.v.resize(n * vd_);
    for (std::int64_t j = 0; j < n; ++j) {
      keys.read(s_.positions[j], s_.line.data());
      tile_key(s_.line.data(), j, qk_, s_.tiled.data());
      values.read(s_.positions[j], s_.v.data() + j * vd_);
    }
    std::fill(s_.line.begin(), s_.line.end(), 0.0);
    for (std::int64_t j = n; j < padded_keys(n); ++j) tile_key(s_.line.data(), j, qk_, s_.tiled.data());
    if (visit_) narrow_values(n);
  }

  void narrow_values(std::int64_t n) {
    s_.narrow.resize(n * vd_);
    s_.largest.assign(vd_, 0.0);
    for (std::int64_t j = 0; j < n; ++j)
      narrow_row(s_.v.data() + j * vd_, vd_, s_.narrow.data() + j * vd_, s_.largest.data());
  }

  struct RowId {
    std::int64_t query, head;
  };

  KeyRange range_of(const RowId& row) const {
    if (!p_.selected.empty()) return {0, total_};
    KeyRange seen = visible_keys(p_.mask, causal_of(p_, u_.request), p_.q_lens[u_.request],
                                 p_.kv_lens[u_.request], row.query);
    if (seen.first >= seen.last) return {0, 0};
    return {seen.first - first_, seen.last - first_};
  }

  void run_rows(std::span<const RowId> rows) {
    const auto count = static_cast<std::int64_t>(rows.size());
    s_.q.assign(kRowBlock * qk_, 0.0);
    KeyRange all{total_, 0};
    KeyRange ranges[kRowBlock];
    for (std::int64_t r = 0; r < count; ++r) {
      if (qk_ > 0)
        p_.q.load_row({u_.first_token + rows[r].query, rows[r].head, 0}, qk_, s_.q.data() + r * qk_);
      ranges[r] = range_of(rows[r]);
      if (ranges[r].first >= ranges[r].last) continue;
      all.first = std::min(all.first, ranges[r].first);
      all.last = std::max(all.last, ranges[r].last);
    }
    const std::int64_t stride = padded_keys(total_);
    s_.raw.resize(kRowBlock * stride);
    s_.spread.resize(kRowBlock * stride);
    s_.score.resize(kRowBlock * stride);
    s_.weight.assign(kRowBlock * stride, 0.0);
    if (all.first < all.last)
      dots_and_spreads(s_.q.data(), s_.tiled.data(), qk_, all.first, all.last, count, stride, p_.scale,
                       s_.raw.data(), s_.spread.data());
    AttendedRow done[kRowBlock];
    for (std::int64_t r = 0; r < count; ++r) done[r] = softmax_row(rows[r], ranges[r], r, stride);
    s_.out.assign(kRowBlock * vd_, 0.0);
    if (all.first < all.last)
      weighted_values(s_.weight.data(), stride, s_.v.data(), vd_, all.first, all.last, count, s_.out.data());
    for (std::int64_t r = 0; r < count; ++r) publish(rows[r], done[r], r);
  }

  AttendedRow softmax_row(const RowId& id, const KeyRange& range, std::int64_t r, std::int64_t stride) {
    double* score = s_.score.data() + r * stride + range.first;
    double* weight = s_.weight.data() + r * stride + range.first;
    const double* raw = s_.raw.data() + r * stride + range.first;
    const std::int64_t n = range.last - range.first;
    const double sink = p_.sink.empty() ? -kInfinity : p_.sink[id.head];
    double top = sink;
    for (std::int64_t j = 0; j < n; ++j) {
      score[j] = bend(id, raw[j], range.first + j);
      top = std::max(top, score[j]);
    }
    double sum = sink == -kInfinity ? 0 : std::exp(sink - top);
    const double sink_part = sum;
    sum += exponentials(score, n, top, weight);
    for (std::int64_t j = 0; j < n; ++j) weight[j] /= sum;
    AttendedRow row{};
    row.request = static_cast<std::int64_t>(u_.request);
    row.token = u_.first_token + id.query;
    row.head = id.head;
    row.keys = n;
    row.q = s_.q.data() + r * qk_;
    row.k_tiled = s_.tiled.data();
    row.k_first = range.first;
    row.v = s_.v.data() + range.first * vd_;
    row.v_narrow = s_.narrow.data() + range.first * vd_;
    row.v_largest = s_.largest.data();
    row.qk_dim = qk_;
    row.v_dim = vd_;
    row.scale = p_.scale;
    row.softcap = p_.softcap;
    row.raw = raw;
    row.spread = s_.spread.data() + r * stride + range.first;
    row.score = score;
    row.weight = weight;
    row.sink = sink;
    row.sink_weight = sum > 0 ? sink_part / sum : 0;
    row.max = top;
    row.sum = sum;
    row.lse = sum > 0 ? top + std::log(sum) : -kInfinity;
    return row;
  }

  // Softcap, then ALiBi.
  double bend(const RowId& id, double raw, std::int64_t at) const {
    double s = p_.softcap > 0 ? p_.softcap * std::tanh(raw / p_.softcap) : raw;
    if (p_.alibi.empty()) return s;
    const std::int64_t position = p_.mask.corner == Corner::kUpperLeft
                                      ? id.query
                                      : p_.kv_lens[u_.request] - p_.q_lens[u_.request] + id.query;
    return s - p_.alibi[id.head] * static_cast<double>(std::abs(position - s_.positions[at]));
  }

  void publish(const RowId& id, AttendedRow& row, std::int64_t r) {
    const std::int64_t at = row.token * p_.q.shape()[1] + id.head;
    std::copy_n(s_.out.data() + r * vd_, vd_, result_.out.begin() + at * vd_);
    result_.lse[at] = row.lse;
    row.out = s_.out.data() + r * vd_;
    if (!finite(row)) {
      bad_token_ = row.token;
      bad_head_ = row.head;
    } else if (visit_ && row.sum > 0) {
      visit_(row);
    }
  }

  // Spreads show what is wrong with q and k even where it hides from the score, outputs what is wrong with v.
  bool finite(const AttendedRow& row) const {
    double sum = row.keys > 0 ? row.lse : 0;
    for (std::int64_t j = 0; j < row.keys; ++j) sum += row.spread[j];
    for (std::int64_t d = 0; d < vd_; ++d) sum += std::fabs(row.out[d]);
    return std::isfinite(sum);
  }

  Scratch& s_;
  const AttentionProblem& p_;
  const Unit& u_;
  const RowVisitor& visit_;
  AttentionResult& result_;
  const std::int64_t qk_, vd_;
  std::int64_t first_ = 0, total_ = 0;
  std::int64_t bad_token_ = -1, bad_head_ = -1;
};

}  // namespace

KeyRange visible_keys(const Mask& mask, bool causal, std::int64_t q_len, std::int64_t kv_len,
                      std::int64_t i) {
  const std::int64_t position = mask.corner == Corner::kUpperLeft ? i : kv_len - q_len + i;
  KeyRange seen{0, kv_len};
  if (causal) seen.last = std::min(seen.last, position + 1);
  if (mask.window_right >= 0) seen.last = std::min(seen.last, position + mask.window_right + 1);
  if (mask.window_left >= 0) seen.first = std::max(seen.first, position - mask.window_left);
  seen.last = std::max<std::int64_t>(seen.last, 0);
  seen.first = std::min(seen.first, seen.last);
  return seen;
}

double AttendedRow::key(std::int64_t j, std::int64_t d) const {
  const std::int64_t at = k_first + j;
  return k_tiled[at / kKeyBlock * kKeyBlock * qk_dim + d * kKeyBlock + at % kKeyBlock];
}

Expected<AttentionResult> attend(const AttentionProblem& p, const RowVisitor& visit, int threads) {
  if (auto ok = check(p); !ok) return tl::unexpected(ok.error());
  const auto rows = element_count({p.q.shape()[0], p.q.shape()[1]});
  const auto size = element_count({p.q.shape()[0], p.q.shape()[1], p.kv.v.shape()[3]});
  if (!rows || !size) return fail("q: the output's size overflows");
  AttentionResult result;
  result.out.assign(*size, 0.0);
  result.lse.assign(*rows, -kInfinity);
  const auto units = split_into_units(p);
  ScratchPool pool;
  if (threads <= 0) threads = work_of(p) < kThreadsPay ? 1 : default_threads();
  std::mutex mutex;
  std::optional<Error> bad;
  parallel_for(units.size(), threads, [&](std::size_t i) {
    auto scratch = pool.take();
    UnitWorker worker(p, units[i], visit, result, *scratch);
    worker.run();
    pool.give(std::move(scratch));
    if (worker.bad_token() < 0) return;
    const std::lock_guard lock(mutex);
    bad = not_finite(p, static_cast<std::int64_t>(units[i].request), worker.bad_token(), worker.bad_head());
  });
  if (bad) return tl::unexpected(*bad);
  return result;
}

}  // namespace assay::num
