// Who owns which key when a context is spread over ranks. Source: vLLM's decode context parallelism
// (get_dcp_local_seq_lens): runs of `interleave` keys go to the ranks in turn.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::num {

struct ContextParallel {
  std::int64_t world = 1;
  std::int64_t interleave = 1;
};

std::int64_t owner_of(const ContextParallel& cp, std::int64_t position);

// How many of the first `length` keys a rank owns.
std::int64_t local_length(const ContextParallel& cp, std::int64_t length, std::int64_t rank);

// Positions below `length` that a rank owns, rising; the i-th of them is the rank's local key i.
std::vector<std::int64_t> owned_positions(const ContextParallel& cp, std::int64_t length, std::int64_t rank);

// Local causal lengths of a request's q_len last tokens: expanded to one global length per token first,
// localised afterwards. The other order (local length minus q_len plus i) is wrong, since a rank owns only
// some of the new keys.
std::vector<std::int64_t> local_causal_lengths(const ContextParallel& cp, std::int64_t kv_len,
                                               std::int64_t q_len, std::int64_t rank);

}  // namespace assay::num
