// Conversions between binary64/binary32 and the small float formats.
//
// Two independent ways of rounding stand side by side: encode() works on real numbers (divide by the spacing,
// round to an integer) and is the definition; encode_fast() works on the bits of a binary32. Tests hold them
// bit-equal over every pattern and every tie. Sources: IEEE 754-2019 §4.3; OCP 8-bit Floating Point
// Specification 1.0 (e4m3fn, e5m2); OCP Microscaling Formats 1.0 (e8m0, e2m1); Noune et al. 2022,
// arXiv:2206.02915 (the fnuz variants).
#pragma once

#include <bit>
#include <cstdint>

#include "formats/dtype.h"

namespace assay::num {

enum class Rounding : std::uint8_t { kNearestEven, kTowardZero };

// What a finite value beyond the largest finite one, or an infinity, becomes.
enum class Overflow : std::uint8_t {
  kSaturate,  // the largest finite value of the same sign
  kSpecial,   // infinity where the format has one, else NaN
};

// The value of a bit pattern. Formats: every float type but f64; integers are taken as two's complement or
// unsigned.
double decode(DType type, std::uint64_t bits);

// decode() of every pattern of a type of at most 16 bits, as binary32, which holds all of them exactly:
// reading a cache is dominated by this look-up.
const float* decoded_patterns(DType type);

// The bit pattern nearest to x. NaN becomes the format's NaN (e2m1 has none: its largest value). e8m0 takes
// the nearest power of two, ties up, and ignores the sign. Integers round to nearest even and always
// saturate; NaN becomes 0.
std::uint64_t encode(DType type, double x, Rounding rounding = Rounding::kNearestEven,
                     Overflow overflow = Overflow::kSaturate);

// As encode() for bf16, f16, e4m3fn, e5m2, the fnuz types and e2m1, from a binary32, without floating-point
// arithmetic.
std::uint32_t encode_fast(DType type, float x, Rounding rounding = Rounding::kNearestEven,
                          Overflow overflow = Overflow::kSaturate);

// decode(encode(x)) for any float type; f32 and f64 included. bf16 and f16 overflow to infinity as hardware
// does.
double round_to(DType type, double x, Rounding rounding = Rounding::kNearestEven);

// The same for binary32 arithmetic, on the fast path.
float round_to_f32(DType type, float x, Rounding rounding = Rounding::kNearestEven);

// bf16 is the upper half of a binary32: the two conversions that simulated kernels use most, in line.
inline float bf16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline std::uint16_t float_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<std::uint16_t>((bits >> 16) | 0x40u);  // quiet NaN
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace assay::num
