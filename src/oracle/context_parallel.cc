#include "oracle/context_parallel.h"

#include <algorithm>

namespace assay::num {

std::int64_t owner_of(const ContextParallel& cp, std::int64_t position) {
  return position / cp.interleave % cp.world;
}

std::int64_t local_length(const ContextParallel& cp, std::int64_t length, std::int64_t rank) {
  const std::int64_t round = cp.world * cp.interleave;
  const std::int64_t rest = length % round - rank * cp.interleave;
  return length / round * cp.interleave + std::clamp<std::int64_t>(rest, 0, cp.interleave);
}

std::vector<std::int64_t> owned_positions(const ContextParallel& cp, std::int64_t length, std::int64_t rank) {
  std::vector<std::int64_t> positions;
  for (std::int64_t j = 0; j < length; ++j)
    if (owner_of(cp, j) == rank) positions.push_back(j);
  return positions;
}

std::vector<std::int64_t> local_causal_lengths(const ContextParallel& cp, std::int64_t kv_len,
                                               std::int64_t q_len, std::int64_t rank) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < q_len; ++i)
    lengths.push_back(local_length(cp, std::max<std::int64_t>(0, kv_len - q_len + i + 1), rank));
  return lengths;
}

}  // namespace assay::num
