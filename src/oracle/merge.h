// Merging attention over parts of the keys by their log-sum-exp. Source: the split softmax of Milakov &
// Gimelshein 2018; conventions as vLLM's merge_attn_states (base e) and FlashInfer's merge_state (base 2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace assay::num {

struct AttentionState {
  std::vector<double> out;  // [rows][dim]
  std::vector<double> lse;  // [rows]
};

// A row whose LSE is -inf or +inf saw no key: its weight is 0 whatever its output holds, NaN included. Where
// no state saw a key the result is (0, -inf). base2: the LSEs are of base 2. Error: names the state whose
// size is wrong, or a NaN LSE.
Expected<AttentionState> merge_states(std::span<const AttentionState> states, std::int64_t rows,
                                      std::int64_t dim, bool base2);

}  // namespace assay::num
