// Reference attention in binary64 on the stored bytes, with the log-sum-exp of every row.
//
// One engine serves dense, paged, sparse and MLA attention: keys are first gathered and dequantised into
// binary64, then a block of query rows that share a key head is worked through. Sources:
// softmax(scale·q·kᵀ)·v as in Vaswani et al. 2017; masks and conventions as flash_attn_varlen_func documents
// them; ALiBi as Press et al. 2022; sinks as in gpt-oss (one more logit per head whose value is zero).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "formats/tensor.h"

namespace assay::num {

enum class Corner : std::uint8_t { kBottomRight, kUpperLeft };

// Which keys query i of a request sees. A window of -1 is unlimited.
struct Mask {
  bool causal = false;
  Corner corner = Corner::kBottomRight;
  std::int64_t window_left = -1;
  std::int64_t window_right = -1;
};

// How the stored value of a key or value element becomes a real number: value · scale.
struct CacheScale {
  double tensor = 1.0;
  std::vector<double> head;  // [kv heads], or empty
  TensorView token;          // [block][slot][kv heads], or of rank 0
  TensorView group;          // [block][slot][kv heads][dim / group_size], or of rank 0 (nvfp4, mxfp4)
  std::int64_t group_size = 0;
};

struct KvCache {
  TensorView k, v;                               // [block][slot][kv heads][dim]
  std::vector<std::vector<std::int32_t>> table;  // [request][page]; empty: page p is block p
  CacheScale k_scale, v_scale;
};

struct AttentionProblem {
  std::vector<std::int64_t> q_lens, kv_lens;  // [request]
  TensorView q;                               // [tokens][query heads][qk dim]
  KvCache kv;
  Mask mask;
  std::vector<std::uint8_t> causal;  // [request], overrides mask.causal; or empty
  double scale = 1.0;                // of q·k
  double softcap = 0;                // cap·tanh(score / cap); 0: none
  std::vector<double> alibi;         // [query heads] slopes, or empty
  std::vector<double> sink;          // [query heads] logits, or empty; -inf: none
  // [token] key positions that it attends to, or empty. Positions outside [0, kv_len) are holes. Replaces the
  // mask.
  std::vector<std::vector<std::int64_t>> selected;
};

// One row's inner quantities, valid only during the call that receives it.
struct AttendedRow {
  std::int64_t request, token, head;  // token counts over the whole batch
  std::int64_t keys;                  // n
  const double* q;                    // [qk dim]
  const double*
      k_tiled;  // dequantised keys as dense_kernels.h tiles them; key 0 of the row is number k_first
  std::int64_t k_first;
  const double* v;          // [n][v dim]
  const float* v_narrow;    // [n][v dim], v rounded to binary32: budgets need no more
  const double* v_largest;  // [v dim], at least max_j |v_jd|
  std::int64_t qk_dim, v_dim;
  double scale;
  double softcap;        // 0: none
  const double* raw;     // [n] x_j = scale·q·k_j, before softcap and ALiBi
  const double* spread;  // [n] G_j = scale·Σ|q·k_j|
  const double* score;   // [n] s_j
  const double* weight;  // [n] p_j, summing to 1 with the sink's weight
  double sink, sink_weight;
  double max, sum;    // M, and l = Σ exp(s_j - M), the sink included
  const double* out;  // [v dim]
  double lse;

  double key(std::int64_t j, std::int64_t d) const;  // element d of key j
};

struct AttentionResult {
  std::vector<double> out;  // [tokens][query heads][v dim]; a row without any key is 0
  std::vector<double> lse;  // [tokens][query heads], natural; a row without any key or sink is -inf
};

using RowVisitor = std::function<void(const AttendedRow&)>;

// Half-open range of the keys that query `i` of a request sees.
struct KeyRange {
  std::int64_t first, last;
};
KeyRange visible_keys(const Mask& mask, bool causal, std::int64_t q_len, std::int64_t kv_len, std::int64_t i);

// Names the field that is wrong: shapes that disagree, heads that do not divide, pages outside the cache, …
Expected<void> check(const AttentionProblem& problem);

// What isn't a finite number among the inputs of one row: "k[request 0][position 17][head 1][dim 3]: nan is
// no finite number".
Error not_finite(const AttentionProblem& problem, std::int64_t request, std::int64_t token,
                 std::int64_t head);

// Error: as check(), and an infinity or NaN that a row sees. `visit` is called once per row that has keys,
// from several threads at once. Memory: a few arrays as long as one request's keys per thread. threads = 0:
// as many as the machine has.
Expected<AttentionResult> attend(const AttentionProblem& problem, const RowVisitor& visit = {},
                                 int threads = 0);

// The same by the shortest path from the definition, one row at a time in long double; the test of attend().
Expected<AttentionResult> attend_plain(const AttentionProblem& problem);

}  // namespace assay::num
