// Integer bookkeeping around kernels: index conversion and the split of a batch into decodes and prefills.
// Sources: vLLM's triton_convert_req_index_to_global_index and split_decodes_and_prefills / reorder_batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"

namespace assay::num {

struct IndexSpaces {
  std::int64_t block_size = 1;
  std::int64_t rows_per_block = 1;  // physical rows of a block, at least block_size: pages may be padded
  std::vector<std::vector<std::int32_t>> table;  // [request][page]
  std::vector<std::int64_t> workspace_start;     // [request] first row in a gathered workspace
};

// The same key in the spaces that kernels use; -1 throughout for a hole or an index beyond the request's
// pages.
struct ConvertedIndex {
  std::int64_t slot;       // block·block_size + offset: what a slot mapping holds
  std::int64_t row;        // block·rows_per_block + offset: row of the cache's memory
  std::int64_t workspace;  // row of the gathered workspace
};
ConvertedIndex convert_index(const IndexSpaces& spaces, std::int64_t request, std::int64_t index);

struct BatchSplit {
  std::vector<std::int64_t>
      order;  // requests, decodes first, each part in its old order; empty requests left out
  std::int64_t decodes = 0, decode_tokens = 0, prefills = 0, prefill_tokens = 0;
  std::vector<std::int64_t> tokens;  // [decode_tokens + prefill_tokens] the token's place in the old batch
  std::vector<std::int64_t>
      query_start;  // [decodes + prefills + 1] cumulative query lengths in the new order
};
// A request with at most `threshold` query tokens is a decode. Error: a negative length.
Expected<BatchSplit> split_batch(std::span<const std::int64_t> q_lens, std::int64_t threshold);

}  // namespace assay::num
