// The sparse-attention indexer: logits Σ_h w_h·max(q_h·k, 0)·s_k and the top k of them. Source: DeepSeek-V3.2
// and DeepGEMM's fp8_mqa_logits; the ReLU comes before the sum over heads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace assay::num {

struct IndexerProblem {
  std::int64_t tokens = 0, heads = 0, dim = 0, keys = 0;
  std::span<const double> q;              // [tokens][heads][dim], decoded; scales of q are folded into w
  std::span<const double> k;              // [keys][dim], decoded
  std::span<const double> k_scale;        // [keys], or empty
  std::span<const double> w;              // [tokens][heads]
  std::vector<std::int64_t> first, last;  // [token] half-open range of the keys it may see
};

struct IndexerResult {
  // [tokens][keys]; outside of its range a token's logit is -inf.
  std::vector<double> logits;
  std::vector<double> dots;     // [tokens][keys] |s_k|·Σ_h |w_h|·Σ_d |q·k|: S1 of the budget
  std::vector<double> weights;  // [tokens][keys] |s_k|·Σ_h |w_h|·relu
};

// Error: names the field whose size is wrong or the range that leaves the keys.
Expected<IndexerResult> indexer_logits(const IndexerProblem& problem);

// Ends of the visible keys of a request's next_n tokens. 1-D lengths: token i sees len - next_n + i + 1 keys;
// 2-D: lens[i].
std::vector<std::int64_t> visible_ends(std::int64_t context_len, std::int64_t next_n);

// Is `selected` a right answer to "the k largest of scores[first, last)"? Ties may fall either way and scores
// may be off by slack[i]; fewer than k candidates leave -1 at any place. Returns what is wrong, or nothing.
//
// Proof of the margin: if an index i with s_i >= kth is missing, some selected index was preferred to it, so
// its computed score was not smaller: ŝ_sel >= ŝ_i, hence s_sel >= kth - slack_sel - max slack_i over the i
// with s_i >= kth.
std::optional<std::string> topk_fault(std::span<const double> scores, std::span<const double> slack,
                                      std::int64_t first, std::int64_t last, std::int64_t k,
                                      std::span<const std::int64_t> selected);

}  // namespace assay::num
