// Attention cases made real: the bytes of q and of the cache in the named layout, poison wherever a kernel
// must not read, and the oracle's view of them.
#pragma once

#include <memory>
#include <vector>

#include "cases/case_line.h"
#include "cases/sparse_buffer.h"
#include "judge/attention_budget.h"
#include "oracle/attention.h"

namespace assay::num {

struct AttentionCase {
  Case line;
  SparseBuffer q_bytes, k_bytes, v_bytes, scale_bytes;
  AttentionProblem problem;
  bool iid_values = false;
  Structured out = Structured::kNone, lse = Structured::kNone;
  double largest_score = 0;  // for the conditions of bit-exact needles
};

// The schema of one family: `layout` is its default.
Schema attention_schema(const std::string& family, const std::string& layout, const std::string& heads,
                        const std::string& dim);

// Error: names the key whose value makes the case impossible.
Expected<std::shared_ptr<const AttentionCase>> build_attention_case(const Case& line);

// Keys longer than a bf16 output can count in one tomography window.
constexpr std::int64_t kCountedPerDim = 128;

}  // namespace assay::num
