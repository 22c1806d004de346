#include "oracle/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "oracle/dense_kernels.h"

namespace assay::num {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kRowsPerUnit = 64;  // query rows that share one gather of the keys

// One unit of work: consecutive queries of one request, all query heads of one key head.
struct Unit {
  std::size_t request;
  std::int64_t kv_head;
  std::int64_t first_query, last_query;
  std::int64_t first_token;  // of the request
};

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

// Works through one unit; scratch memory lives as long as the unit.
class UnitWorker {
 public:
  UnitWorker(const AttentionProblem& p, const Unit& u, const RowVisitor& visit, AttentionResult& result)
      : p_(p), u_(u), visit_(visit), result_(result), qk_(p.q.shape()[2]), vd_(p.kv.v.shape()[3]) {}

  void run() {
    positions_ = positions_of(p_, u_, &first_);
    const auto n = static_cast<std::int64_t>(positions_.size());
    const auto* pages = p_.kv.table.empty() ? nullptr : &p_.kv.table[u_.request];
    k_.resize(n * qk_);
    v_.resize(n * vd_);
    gather_rows(p_.kv.k, p_.kv.k_scale, pages, u_.kv_head, positions_, k_.data());
    gather_rows(p_.kv.v, p_.kv.v_scale, pages, u_.kv_head, positions_, v_.data());
    tiled_ = tile_keys(k_.data(), n, qk_);
    total_ = n;
    const std::int64_t group = p_.q.shape()[1] / p_.kv.k.shape()[2];
    std::vector<RowId> rows;
    for (std::int64_t i = u_.first_query; i < u_.last_query; ++i)
      for (std::int64_t g = 0; g < group; ++g) rows.push_back({i, u_.kv_head * group + g});
    for (std::size_t at = 0; at < rows.size(); at += kRowBlock)
      run_rows({rows.data() + at, std::min<std::size_t>(kRowBlock, rows.size() - at)});
  }

 private:
  struct RowId {
    std::int64_t query, head;
  };

  KeyRange range_of(const RowId& row) const {
    if (!p_.selected.empty()) return {0, total_};
    KeyRange seen = visible_keys(p_.mask, causal_of(p_, u_.request), p_.q_lens[u_.request], p_.kv_lens[u_.request],
                                 row.query);
    if (seen.first >= seen.last) return {0, 0};
    return {seen.first - first_, seen.last - first_};
  }

  void run_rows(std::span<const RowId> rows) {
    const auto count = static_cast<std::int64_t>(rows.size());
    q_.assign(kRowBlock * qk_, 0.0);
    KeyRange all{total_, 0};
    KeyRange ranges[kRowBlock];
    for (std::int64_t r = 0; r < count; ++r) {
      if (qk_ > 0) p_.q.load_row({u_.first_token + rows[r].query, rows[r].head, 0}, qk_, &q_[r * qk_]);
      ranges[r] = range_of(rows[r]);
      if (ranges[r].first >= ranges[r].last) continue;
      all.first = std::min(all.first, ranges[r].first);
      all.last = std::max(all.last, ranges[r].last);
    }
    const std::int64_t stride = padded_keys(total_);
    raw_.resize(kRowBlock * stride);
    spread_.resize(kRowBlock * stride);
    score_.resize(kRowBlock * stride);
    weight_.assign(kRowBlock * stride, 0.0);
    if (all.first < all.last)
      dots_and_spreads(q_.data(), tiled_.data(), qk_, all.first, all.last, stride, p_.scale, raw_.data(),
                       spread_.data());
    AttendedRow done[kRowBlock];
    for (std::int64_t r = 0; r < count; ++r) done[r] = softmax_row(rows[r], ranges[r], r, stride);
    out_.assign(kRowBlock * vd_, 0.0);
    if (all.first < all.last)
      weighted_values(weight_.data(), stride, v_.data(), vd_, all.first, all.last, out_.data());
    for (std::int64_t r = 0; r < count; ++r) publish(rows[r], done[r], r);
  }

  AttendedRow softmax_row(const RowId& id, const KeyRange& range, std::int64_t r, std::int64_t stride) {
    double* score = &score_[r * stride] + range.first;
    double* weight = &weight_[r * stride] + range.first;
    const double* raw = &raw_[r * stride] + range.first;
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
    row.q = &q_[r * qk_];
    row.k = k_.data() + range.first * qk_;
    row.v = v_.data() + range.first * vd_;
    row.qk_dim = qk_;
    row.v_dim = vd_;
    row.scale = p_.scale;
    row.softcap = p_.softcap;
    row.raw = raw;
    row.spread = &spread_[r * stride] + range.first;
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
    return s - p_.alibi[id.head] * static_cast<double>(std::abs(position - positions_[at]));
  }

  void publish(const RowId& id, AttendedRow& row, std::int64_t r) {
    const std::int64_t at = row.token * p_.q.shape()[1] + id.head;
    std::copy_n(&out_[r * vd_], vd_, result_.out.begin() + at * vd_);
    result_.lse[at] = row.lse;
    row.out = &out_[r * vd_];
    if (visit_ && row.sum > 0) visit_(row);
  }

  const AttentionProblem& p_;
  const Unit& u_;
  const RowVisitor& visit_;
  AttentionResult& result_;
  const std::int64_t qk_, vd_;
  std::int64_t first_ = 0, total_ = 0;
  std::vector<std::int64_t> positions_;
  std::vector<double> k_, tiled_, v_, q_, raw_, spread_, score_, weight_, out_;
};

}  // namespace

KeyRange visible_keys(const Mask& mask, bool causal, std::int64_t q_len, std::int64_t kv_len, std::int64_t i) {
  const std::int64_t position = mask.corner == Corner::kUpperLeft ? i : kv_len - q_len + i;
  KeyRange seen{0, kv_len};
  if (causal) seen.last = std::min(seen.last, position + 1);
  if (mask.window_right >= 0) seen.last = std::min(seen.last, position + mask.window_right + 1);
  if (mask.window_left >= 0) seen.first = std::max(seen.first, position - mask.window_left);
  seen.last = std::max<std::int64_t>(seen.last, 0);
  seen.first = std::min(seen.first, seen.last);
  return seen;
}

void gather_rows(const TensorView& cache, const CacheScale& scale, const std::vector<std::int32_t>* pages,
                 std::int64_t kv_head, std::span<const std::int64_t> positions, double* to) {
  const std::int64_t size = cache.shape()[1], dim = cache.shape()[3];
  const double per_head = scale.tensor * (scale.head.empty() ? 1.0 : scale.head[kv_head]);
  for (std::int64_t position : positions) {
    const std::int64_t page = position / size, slot = position % size;
    const std::int64_t block = pages ? (*pages)[page] : page;
    if (dim > 0) cache.load_row({block, slot, kv_head, 0}, dim, to);
    double factor = per_head;
    if (!scale.token.shape().empty()) factor *= scale.token.at({block, slot, kv_head});
    if (factor != 1.0)
      for (std::int64_t d = 0; d < dim; ++d) to[d] *= factor;
    if (!scale.group.shape().empty())
      for (std::int64_t d = 0; d < dim; ++d) to[d] *= scale.group.at({block, slot, kv_head, d / scale.group_size});
    to += dim;
  }
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
  parallel_for(units.size(), threads > 0 ? threads : default_threads(),
               [&](std::size_t i) { UnitWorker(p, units[i], visit, result).run(); });
  return result;
}

}  // namespace assay::num
