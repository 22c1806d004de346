#include "oracle/indices.h"

#include <fmt/format.h>

namespace assay::num {

ConvertedIndex convert_index(const IndexSpaces& s, std::int64_t request, std::int64_t index) {
  const auto& pages = s.table[request];
  if (index < 0 || index / s.block_size >= static_cast<std::int64_t>(pages.size())) return {-1, -1, -1};
  const std::int64_t block = pages[index / s.block_size], offset = index % s.block_size;
  return {block * s.block_size + offset, block * s.rows_per_block + offset,
          s.workspace_start[request] + index};
}

Expected<BatchSplit> split_batch(std::span<const std::int64_t> q_lens, std::int64_t threshold) {
  BatchSplit split;
  split.query_start.push_back(0);
  for (const bool decodes : {true, false}) {
    std::int64_t token = 0;
    for (std::size_t r = 0; r < q_lens.size(); token += q_lens[r++]) {
      if (q_lens[r] < 0) return fail(fmt::format("q_lens[{}]: {}", r, q_lens[r]));
      if (q_lens[r] == 0 || (q_lens[r] <= threshold) != decodes) continue;
      split.order.push_back(static_cast<std::int64_t>(r));
      (decodes ? split.decodes : split.prefills) += 1;
      (decodes ? split.decode_tokens : split.prefill_tokens) += q_lens[r];
      for (std::int64_t i = 0; i < q_lens[r]; ++i) split.tokens.push_back(token + i);
      split.query_start.push_back(split.query_start.back() + q_lens[r]);
    }
  }
  return split;
}

}  // namespace assay::num
