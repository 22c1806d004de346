// Gate 2 of an LSE merge.
#pragma once

#include <cstdint>
#include <span>

#include "formats/dtype.h"
#include "judge/verdict.h"
#include "oracle/merge.h"

namespace assay::num {

struct MergeContract {
  DType out = DType::kBf16;
  bool base2 = false;
  bool pairwise = false;       // N - 1 calls, each storing its result
  DType stored = DType::kF32;  // type of the stored outputs between pairwise calls
};

// References "out" [rows][dim] and "lse" [rows].
//
// Proof, one call: weights exp(lse_i - M) err by ε_i = 3u32·|lse_i - M| + 2^-22, and numerator and
// denominator share them, so o' - o = Σ w_i η_i (o_i - o) / Σ w_i(1+η_i) with |η_i| <= e^ε_i - 1; products,
// sums and the division add N + 6 roundings. LSE: N additions of positive terms, Σ w_i ε_i from the
// exponentials, and two roundings near |lse|. Pairwise: each of the N - 1 calls errs as above on what it is
// given, with the stored LSE rounded to u32·|lse| twice; the errors of the weights act on (o_i - o), those of
// the arithmetic on Σ w_i|o_i|, and each stored output is rounded.
Expected<std::vector<Reference>> merge_reference(std::span<const AttentionState> states, std::int64_t rows,
                                                 std::int64_t dim, const MergeContract& contract);

}  // namespace assay::num
