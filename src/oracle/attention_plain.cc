// Attention straight from its definition. Slow on purpose: nothing is blocked, transposed or reordered.
#include <cmath>
#include <limits>

#include "oracle/attention.h"

namespace assay::num {
namespace {

using Real = long double;

Real cached(const AttentionProblem& p, const TensorView& cache, const CacheScale& scale, std::size_t request,
            std::int64_t position, std::int64_t head, std::int64_t d) {
  const std::int64_t size = cache.shape()[1];
  const std::int64_t page = position / size, slot = position % size;
  const std::int64_t block = p.kv.table.empty() ? page : p.kv.table[request][page];
  Real value = cache.at({block, slot, head, d});
  value *= scale.tensor;
  if (!scale.head.empty()) value *= scale.head[head];
  if (!scale.token.shape().empty()) value *= scale.token.at({block, slot, head});
  if (!scale.group.shape().empty()) value *= scale.group.at({block, slot, head, d / scale.group_size});
  return value;
}

std::vector<std::int64_t> keys_of(const AttentionProblem& p, std::size_t r, std::int64_t i,
                                  std::int64_t token) {
  std::vector<std::int64_t> keys;
  if (!p.selected.empty()) {
    for (std::int64_t j : p.selected[token])
      if (j >= 0 && j < p.kv_lens[r]) keys.push_back(j);
    return keys;
  }
  const bool causal = p.causal.empty() ? p.mask.causal : p.causal[r] != 0;
  const std::int64_t position = p.mask.corner == Corner::kUpperLeft ? i : p.kv_lens[r] - p.q_lens[r] + i;
  for (std::int64_t j = 0; j < p.kv_lens[r]; ++j) {
    const bool after = causal && j > position;
    const bool too_old = p.mask.window_left >= 0 && j < position - p.mask.window_left;
    const bool too_new = p.mask.window_right >= 0 && j > position + p.mask.window_right;
    if (!after && !too_old && !too_new) keys.push_back(j);
  }
  return keys;
}

Real score(const AttentionProblem& p, std::size_t r, std::int64_t i, std::int64_t token, std::int64_t head,
           std::int64_t kv_head, std::int64_t j) {
  Real dot = 0;
  for (std::int64_t d = 0; d < p.q.shape()[2]; ++d)
    dot += static_cast<Real>(p.q.at({token, head, d})) * cached(p, p.kv.k, p.kv.k_scale, r, j, kv_head, d);
  dot *= p.scale;
  if (p.softcap > 0) dot = p.softcap * std::tanh(dot / p.softcap);
  if (!p.alibi.empty()) {
    const std::int64_t position = p.mask.corner == Corner::kUpperLeft ? i : p.kv_lens[r] - p.q_lens[r] + i;
    dot -= static_cast<Real>(p.alibi[head]) * std::abs(position - j);
  }
  return dot;
}

}  // namespace

Expected<AttentionResult> attend_plain(const AttentionProblem& p) {
  if (auto ok = check(p); !ok) return tl::unexpected(ok.error());
  const std::int64_t heads = p.q.shape()[1], group = heads / p.kv.k.shape()[2], v_dim = p.kv.v.shape()[3];
  AttentionResult result;
  std::int64_t token = 0;
  for (std::size_t r = 0; r < p.q_lens.size(); ++r)
    for (std::int64_t i = 0; i < p.q_lens[r]; ++i, ++token)
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto keys = keys_of(p, r, i, token);
        std::vector<Real> scores;
        Real top = p.sink.empty() ? -std::numeric_limits<Real>::infinity() : static_cast<Real>(p.sink[h]);
        for (std::int64_t j : keys) {
          scores.push_back(score(p, r, i, token, h, h / group, j));
          top = std::max(top, scores.back());
        }
        const bool empty = keys.empty() && !(top > -std::numeric_limits<Real>::infinity());
        Real sum = p.sink.empty() || empty ? 0 : std::exp(p.sink[h] - top);
        for (Real s : scores) sum += std::exp(s - top);
        for (std::int64_t d = 0; d < v_dim; ++d) {
          Real out = 0;
          for (std::size_t n = 0; n < keys.size(); ++n)
            out +=
                std::exp(scores[n] - top) / sum * cached(p, p.kv.v, p.kv.v_scale, r, keys[n], h / group, d);
          result.out.push_back(static_cast<double>(out));
        }
        result.lse.push_back(empty ? -std::numeric_limits<double>::infinity()
                                   : static_cast<double>(top + std::log(sum)));
      }
  return result;
}

}  // namespace assay::num
