// Element types that kernels store, and what is needed to reason about them: width and unit roundoff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace assay::num {

enum class DType : std::uint8_t {
  kF64,
  kF32,
  kBf16,
  kF16,
  kE4m3fn,
  kE5m2,
  kE4m3fnuz,
  kE5m2fnuz,
  kE8m0,  // a power of two, used as a scale
  kE2m1,  // fp4, two a byte, low nibble first
  kI64,
  kI32,
  kI8,
  kU8,
  kI4,  // two a byte, low nibble first
  kU4,
};

std::string_view dtype_name(DType type);

// Error: names the word that is no element type.
Expected<DType> parse_dtype(std::string_view name);

// Width of one element in bits (4 for the nibble types).
constexpr int dtype_bits(DType type) {
  constexpr int kBits[] = {64, 32, 16, 16, 8, 8, 8, 8, 8, 4, 64, 32, 8, 8, 4, 4};
  return kBits[static_cast<std::size_t>(type)];
}

constexpr bool is_float(DType type) { return type <= DType::kE2m1; }

// Largest relative error of one round-to-nearest into a normal number of the type: 2^-8 for bf16. Zero for
// integers.
double unit_roundoff(DType type);

// Largest absolute error of one round-to-nearest among the type's subnormals (half of the smallest one).
double subnormal_roundoff(DType type);

}  // namespace assay::num
