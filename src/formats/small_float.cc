#include "formats/small_float.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::num {
namespace {

enum class Specials : std::uint8_t {
  kIeee,  // the top exponent holds infinities and NaNs
  kFn,    // no infinity; only the all-ones pattern is NaN
  kFnuz,  // no infinity, no negative zero; the pattern of -0 is NaN
  kNone,  // every pattern is finite
};

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr std::uint32_t sign_bit() const { return 1u << (width() - 1); }
  constexpr std::uint32_t max_finite() const {
    const std::uint32_t all = sign_bit() - 1;
    switch (specials) {
      case Specials::kIeee:
        return all - (1u << mantissa_bits);
      case Specials::kFn:
        return all - 1;
      default:
        return all;
    }
  }
  constexpr std::uint32_t infinity() const { return max_finite() + 1; }
  constexpr std::uint32_t nan() const {
    switch (specials) {
      case Specials::kIeee:
        return infinity() | (1u << (mantissa_bits - 1));
      case Specials::kFn:
        return sign_bit() - 1;
      case Specials::kFnuz:
        return sign_bit();
      default:
        return max_finite();
    }
  }
};

constexpr Layout layout_of(DType type) {
  switch (type) {
    case DType::kBf16:
      return {8, 7, 127, Specials::kIeee};
    case DType::kF16:
      return {5, 10, 15, Specials::kIeee};
    case DType::kE4m3fn:
      return {4, 3, 7, Specials::kFn};
    case DType::kE5m2:
      return {5, 2, 15, Specials::kIeee};
    case DType::kE4m3fnuz:
      return {4, 3, 8, Specials::kFnuz};
    case DType::kE5m2fnuz:
      return {5, 2, 16, Specials::kFnuz};
    default:
      return {2, 1, 1, Specials::kNone};  // e2m1
  }
}

bool has_layout(DType type) { return is_float(type) && dtype_bits(type) <= 16 && type != DType::kE8m0; }

// Sign and the code of the magnitude, once rounded, to the final pattern.
std::uint32_t finish(const Layout& f, bool negative, std::uint64_t magnitude, Overflow overflow) {
  std::uint32_t code = static_cast<std::uint32_t>(magnitude);
  if (magnitude > f.max_finite()) {
    if (overflow == Overflow::kSaturate || f.specials == Specials::kNone)
      code = f.max_finite();
    else if (f.specials == Specials::kIeee)
      code = f.infinity();
    else
      return f.nan();
  }
  if (f.specials == Specials::kFnuz && code == 0) return 0;
  return code | (negative ? f.sign_bit() : 0u);
}

std::uint64_t encode_e8m0(double x) {
  if (std::isnan(x)) return 255;
  x = std::fabs(x);
  if (x <= std::ldexp(1.0, -127)) return 0;
  if (x >= std::ldexp(1.0, 127)) return 254;
  int exponent = std::ilogb(x);
  if (x >= std::ldexp(1.5, exponent)) ++exponent;
  return static_cast<std::uint64_t>(exponent + 127);
}

std::uint64_t encode_integer(DType type, double x, Rounding rounding) {
  const int bits = dtype_bits(type);
  const bool is_unsigned = type == DType::kU8 || type == DType::kU4;
  const double low = is_unsigned ? 0.0 : -std::ldexp(1.0, bits - 1);
  const double high = is_unsigned ? std::ldexp(1.0, bits) - 1 : std::ldexp(1.0, bits - 1) - 1;
  if (std::isnan(x)) return 0;
  const double r = rounding == Rounding::kNearestEven ? std::nearbyint(x) : std::trunc(x);
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  if (r <= low) return static_cast<std::uint64_t>(is_unsigned ? 0 : 1ull << (bits - 1)) & mask;
  if (r >= high) return is_unsigned ? mask : mask >> 1;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(r)) & mask;
}

double decode_integer(DType type, std::uint64_t bits) {
  const int width = dtype_bits(type);
  if (type == DType::kU8 || type == DType::kU4) return static_cast<double>(bits & ((1ull << width) - 1));
  const int shift = 64 - width;
  return static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
}

double decode_layout(const Layout& f, std::uint32_t bits) {
  const bool negative = (bits & f.sign_bit()) != 0;
  const std::uint32_t magnitude = bits & (f.sign_bit() - 1);
  if (f.specials == Specials::kFnuz && bits == f.nan()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > f.max_finite()) {
    if (f.specials == Specials::kIeee && magnitude == f.infinity())
      return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  const std::uint32_t exponent = magnitude >> f.mantissa_bits;
  const std::uint32_t fraction = magnitude & ((1u << f.mantissa_bits) - 1);
  const double value = exponent == 0 ? std::ldexp(static_cast<double>(fraction), 1 - f.bias - f.mantissa_bits)
                                     : std::ldexp(static_cast<double>(fraction | (1u << f.mantissa_bits)),
                                                  static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

}  // namespace

double decode(DType type, std::uint64_t bits) {
  if (type == DType::kF64) return std::bit_cast<double>(bits);
  if (type == DType::kF32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (type == DType::kE8m0)
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  if (!is_float(type)) return decode_integer(type, bits);
  return decode_layout(layout_of(type), static_cast<std::uint32_t>(bits));
}

const float* decoded_patterns(DType type) {
  static const auto tables = [] {
    std::array<std::vector<float>, 16> all;
    for (std::size_t t = 0; t < all.size(); ++t) {
      const auto of = static_cast<DType>(t);
      if (dtype_bits(of) > 16) continue;
      for (std::uint64_t bits = 0; bits < std::uint64_t{1} << dtype_bits(of); ++bits)
        all[t].push_back(static_cast<float>(decode(of, bits)));
    }
    return all;
  }();
  return tables[static_cast<std::size_t>(type)].data();
}

std::uint64_t encode(DType type, double x, Rounding rounding, Overflow overflow) {
  if (type == DType::kF64) return std::bit_cast<std::uint64_t>(x);
  if (type == DType::kF32) return std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (type == DType::kE8m0) return encode_e8m0(x);
  if (!is_float(type)) return encode_integer(type, x, rounding);
  const Layout f = layout_of(type);
  const bool negative = std::signbit(x);
  if (std::isnan(x)) return f.nan() | (f.specials == Specials::kIeee && negative ? f.sign_bit() : 0u);
  const double magnitude = std::fabs(x);
  if (std::isinf(magnitude)) return finish(f, negative, f.max_finite() + 1ull, overflow);
  if (magnitude == 0) return finish(f, negative, 0, overflow);
  // Spacing of the representable numbers around x; below the smallest normal it no longer shrinks.
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - f.bias) exponent = 1 - f.bias;
  if (exponent > f.bias + 1) return finish(f, negative, f.max_finite() + 1ull, overflow);
  const double steps = std::ldexp(magnitude, f.mantissa_bits - exponent);
  const auto count = static_cast<std::uint64_t>(rounding == Rounding::kNearestEven ? std::nearbyint(steps)
                                                                                   : std::floor(steps));
  // Codes grow by one per step, across binades as well, so a carry needs no special case.
  const auto code = (static_cast<std::uint64_t>(exponent + f.bias - 1) << f.mantissa_bits) + count;
  if (rounding == Rounding::kTowardZero && code > f.max_finite())
    return finish(f, negative, f.max_finite(), overflow);
  return finish(f, negative, code, overflow);
}

std::uint32_t encode_fast(DType type, float x, Rounding rounding, Overflow overflow) {
  const Layout f = layout_of(type);
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool negative = (bits >> 31) != 0;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return f.nan() | (f.specials == Specials::kIeee && negative ? f.sign_bit() : 0u);
  if (magnitude == 0x7f800000u) return finish(f, negative, f.max_finite() + 1ull, overflow);
  int exponent = static_cast<int>(magnitude >> 23) - 127;
  std::uint32_t significand = magnitude & 0x7fffffu;
  if (exponent == -127)
    exponent = -126;
  else
    significand |= 0x800000u;
  const int lowest = 1 - f.bias;
  const int drop = 23 - f.mantissa_bits + (exponent < lowest ? lowest - exponent : 0);
  if (drop > 25) return finish(f, negative, 0, overflow);  // less than half of the smallest subnormal
  std::uint32_t kept = significand >> drop;
  if (rounding == Rounding::kNearestEven) {
    const std::uint32_t rest = significand & ((1u << drop) - 1);
    const std::uint32_t half = 1u << (drop - 1);
    if (rest > half || (rest == half && (kept & 1u))) ++kept;
  }
  const int base = exponent < lowest ? lowest : exponent;
  const std::uint64_t code = (static_cast<std::uint64_t>(base + f.bias - 1) << f.mantissa_bits) + kept;
  if (rounding == Rounding::kTowardZero && code > f.max_finite())
    return finish(f, negative, f.max_finite(), overflow);
  return finish(f, negative, code, overflow);
}

double round_to(DType type, double x, Rounding rounding) {
  if (type == DType::kF64) return x;
  if (type == DType::kF32) return static_cast<double>(static_cast<float>(x));
  return decode(type, encode(type, x, rounding, Overflow::kSpecial));
}

float round_to_f32(DType type, float x, Rounding rounding) {
  if (type == DType::kF32) return x;
  if (type == DType::kBf16 && rounding == Rounding::kNearestEven) return bf16_to_float(float_to_bf16(x));
  if (!has_layout(type)) return static_cast<float>(round_to(type, x, rounding));
  return decoded_patterns(type)[encode_fast(type, x, rounding, Overflow::kSpecial)];
}

}  // namespace assay::num
