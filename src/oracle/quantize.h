// Quantised stores: what a code has to be, and which neighbouring code an honest kernel may write instead.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/dtype.h"

namespace assay::num {

// The code of x / scale, rounded to nearest even and saturated.
std::uint64_t quantize(DType type, double x, double scale);

// May a kernel that computes x / scale in binary32 store `code`? Only the right code, or its neighbour where
// the quotient lies within 4u32·|x/scale| of the tie between them.
//
// Proof. The quotient (or the product with a rounded reciprocal) errs by at most 3u32·|x/scale|; rounding to
// nearest of a value that moved by ε changes the code only if a tie lies within ε.
bool acceptable_code(DType type, double x, double scale, std::uint64_t code);

// The dynamic scale of a token: max(amax, 1e-4) / largest, or the next power of two above it (ue8m0). Source:
// vLLM's indexer_k_quant_and_cache.
double dynamic_scale(std::span<const double> token, double largest, bool power_of_two);

}  // namespace assay::num
