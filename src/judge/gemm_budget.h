// Gates 2 and 3 of a matrix product with weights that were dequantised on the way.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "judge/accumulation.h"
#include "judge/verdict.h"

namespace assay::num {

struct GemmContract {
  DType out = DType::kBf16;
  DType weight = DType::kF64;  // type that dequantised weights are rounded to; f64: not rounded
  Accumulation order = kAnyOrder;
  std::int64_t splits = 1;
  DType partial = DType::kF32;
  bool partials_added = false;   // parts are added in the partial type (atomics)
  std::int64_t scale_after = 0;  // groups whose scale is applied after the product; 0: before
};

// Reference "out" [m][n] of a[m][k]·w[k][n] + bias[n] (or none).
//
// β = (1+2^-6)(u_w·Σ|aw| + acc[aw] + (4 [+ K/g + 2])u32·Σ|aw| + u_part·Σ_s|part_s| [+ u_part·Σ_s|running
// sum_s|]) + u_o|o| + η_o. Proof. Each rounded weight errs by u_w·|w|, each scale multiplication by u32 of
// its product, the sums as accumulation.h says; a stored part errs by u_part of itself, a running sum kept in
// that type once more per part. The output's rounding acts on the computed value.
//
// Gate 3, for zero-mean a: σ² = u_w²/3·Σa²w² + u_o²/3·o² + c_K·u32²/6·Σa²w² + drift², RMS over a column's m
// rows at most 1 + 3/√m. The drift of a unit that cuts (accumulation.h) outgrows its random errors where K is
// long: at K = 32768 in blocks of 8 it is as large as the rounding of a binary16 output.
Reference gemm_reference(std::span<const double> a, std::span<const double> w, std::span<const double> bias,
                         std::int64_t m, std::int64_t k, std::int64_t n, const GemmContract& contract,
                         bool iid);

}  // namespace assay::num
