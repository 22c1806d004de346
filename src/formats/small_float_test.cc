#include "formats/small_float.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace assay::num {
namespace {

const DType kSmall[] = {DType::kBf16,     DType::kF16,      DType::kE4m3fn, DType::kE5m2,
                        DType::kE4m3fnuz, DType::kE5m2fnuz, DType::kE2m1};

struct Entry {
  double value;
  std::uint64_t bits;
};

// All finite, non-negative values of a format in rising order: the independent view that encode() is compared
// with.
std::vector<Entry> positive_values(DType type) {
  std::vector<Entry> all;
  for (std::uint64_t bits = 0; bits < (1ull << (dtype_bits(type) - 1)); ++bits) {
    const double v = decode(type, bits);
    if (std::isfinite(v)) all.push_back({v, bits});
  }
  return all;
}

void expect_both(DType type, double x, std::uint64_t bits, Rounding rounding) {
  ASSERT_EQ(encode(type, x, rounding), bits) << dtype_name(type) << " " << x;
  const auto narrow = static_cast<float>(x);
  if (static_cast<double>(narrow) == x) {
    ASSERT_EQ(encode_fast(type, narrow, rounding), bits) << dtype_name(type) << " " << x;
  }
}

// Sign, exponent and fraction as the standards' tables give them, without decode().
TEST(SmallFloat, EveryPatternMeansWhatItsStandardSays) {
  struct Row {
    DType type;
    int exponent_bits, fraction_bits, bias;
    bool infinities;                  // the top exponent holds infinities and NaNs
    std::vector<unsigned> no_number;  // NaN, where only single patterns are
  };
  const Row rows[] = {
      {DType::kBf16, 8, 7, 127, true, {}},        {DType::kF16, 5, 10, 15, true, {}},
      {DType::kE5m2, 5, 2, 15, true, {}},         {DType::kE4m3fn, 4, 3, 7, false, {0x7f, 0xff}},
      {DType::kE4m3fnuz, 4, 3, 8, false, {0x80}}, {DType::kE5m2fnuz, 5, 2, 16, false, {0x80}},
      {DType::kE2m1, 2, 1, 1, false, {}}};
  for (const Row& row : rows)
    for (unsigned bits = 0; bits < 1u << dtype_bits(row.type); ++bits) {
      const unsigned fraction = bits % (1u << row.fraction_bits),
                     exponent = bits >> row.fraction_bits & ((1u << row.exponent_bits) - 1);
      const double sign = bits >> (dtype_bits(row.type) - 1) ? -1 : 1,
                   unit = std::pow(2.0, -row.fraction_bits);
      double value = exponent == 0
                         ? std::pow(2.0, 1 - row.bias) * fraction * unit
                         : std::pow(2.0, static_cast<int>(exponent) - row.bias) * (1 + fraction * unit);
      if (row.infinities && exponent == (1u << row.exponent_bits) - 1)
        value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
      for (unsigned nan : row.no_number)
        if (bits == nan) value = std::nan("");
      const double got = decode(row.type, bits);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(got)) << dtype_name(row.type) << " " << bits;
      } else {
        ASSERT_EQ(got, sign * value) << dtype_name(row.type) << " " << bits;
        ASSERT_EQ(std::signbit(got), sign < 0) << dtype_name(row.type) << " " << bits;
      }
    }
  for (unsigned bits = 0; bits < 255; ++bits) {
    ASSERT_EQ(decode(DType::kE8m0, bits), std::pow(2.0, static_cast<int>(bits) - 127));
    ASSERT_EQ(encode(DType::kE8m0, std::pow(2.0, static_cast<int>(bits) - 127)), bits);
  }
  for (int x = -128; x < 128; ++x) {
    ASSERT_EQ(decode(DType::kI8, static_cast<unsigned>(x) & 0xff), x);
    ASSERT_EQ(encode(DType::kI8, x), static_cast<unsigned>(x) & 0xff);
  }
  for (int x = -8; x < 8; ++x) {
    ASSERT_EQ(decode(DType::kI4, static_cast<unsigned>(x) & 0xf), x);
    ASSERT_EQ(encode(DType::kI4, x), static_cast<unsigned>(x) & 0xf);
    ASSERT_EQ(encode(DType::kU4, x + 8), static_cast<unsigned>(x + 8));
  }
}

TEST(SmallFloat, TablesEqualTheDefinition) {
  for (DType type : kSmall) {
    const float* table = decoded_patterns(type);
    for (std::uint64_t bits = 0; bits < (1ull << dtype_bits(type)); ++bits) {
      const double v = decode(type, bits);
      ASSERT_TRUE(std::isnan(v) ? std::isnan(table[bits]) : v == table[bits])
          << dtype_name(type) << " " << bits;
    }
  }
}

TEST(SmallFloat, EveryPatternComesBack) {
  for (DType type : kSmall)
    for (std::uint64_t bits = 0; bits < (1ull << dtype_bits(type)); ++bits) {
      const double v = decode(type, bits);
      if (std::isnan(v)) {
        EXPECT_TRUE(std::isnan(decode(type, encode(type, v))) || type == DType::kE2m1);
        continue;
      }
      ASSERT_EQ(encode(type, v, Rounding::kNearestEven, Overflow::kSpecial), bits) << dtype_name(type);
      ASSERT_EQ(encode_fast(type, static_cast<float>(v), Rounding::kNearestEven, Overflow::kSpecial), bits);
    }
}

TEST(SmallFloat, EveryTieGoesToEvenAndEveryNeighbourToItsSide) {
  for (DType type : kSmall) {
    const auto values = positive_values(type);
    ASSERT_TRUE(
        std::is_sorted(values.begin(), values.end(), [](auto& a, auto& b) { return a.value < b.value; }));
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const Entry low = values[i], high = values[i + 1];
      const double tie = low.value + (high.value - low.value) / 2;
      const std::uint64_t even = low.bits % 2 == 0 ? low.bits : high.bits;
      expect_both(type, tie, even, Rounding::kNearestEven);
      expect_both(type, std::nextafter(tie, 0.0), low.bits, Rounding::kNearestEven);
      expect_both(type, std::nextafter(tie, 1e300), high.bits, Rounding::kNearestEven);
      const auto narrow = static_cast<float>(tie);
      if (static_cast<double>(narrow) == tie && tie > 1e-44) {
        expect_both(type, std::nextafterf(narrow, 0.0f), low.bits, Rounding::kNearestEven);
        expect_both(type, std::nextafterf(narrow, std::numeric_limits<float>::infinity()), high.bits,
                    Rounding::kNearestEven);
      }
      expect_both(type, std::nextafter(high.value, 0.0), low.bits, Rounding::kTowardZero);
      expect_both(type, tie, low.bits, Rounding::kTowardZero);
      const std::uint64_t sign = 1ull << (dtype_bits(type) - 1);
      const bool no_minus_zero = type == DType::kE4m3fnuz || type == DType::kE5m2fnuz;
      expect_both(type, -tie, even == 0 && no_minus_zero ? 0 : even | sign, Rounding::kNearestEven);
    }
  }
}

TEST(SmallFloat, OverflowSaturatesOrBecomesSpecial) {
  struct Row {
    DType type;
    double largest;
    bool has_infinity;
  };
  const Row rows[] = {{DType::kBf16, 3.3895313892515355e38, true},
                      {DType::kF16, 65504, true},
                      {DType::kE4m3fn, 448, false},
                      {DType::kE5m2, 57344, true},
                      {DType::kE4m3fnuz, 240, false},
                      {DType::kE5m2fnuz, 57344, false}};
  for (const Row& r : rows) {
    EXPECT_EQ(positive_values(r.type).back().value, r.largest);
    for (double x : {r.largest * 1.5, std::numeric_limits<double>::infinity()}) {
      EXPECT_EQ(decode(r.type, encode(r.type, -x)), -r.largest);
      const double special = decode(r.type, encode(r.type, x, Rounding::kNearestEven, Overflow::kSpecial));
      EXPECT_TRUE(r.has_infinity ? std::isinf(special) : std::isnan(special));
    }
  }
  EXPECT_EQ(decode(DType::kE2m1, encode(DType::kE2m1, 100.0, Rounding::kNearestEven, Overflow::kSpecial)),
            6.0);
}

TEST(SmallFloat, KnownBytes) {
  EXPECT_EQ(decode(DType::kE4m3fn, 0x38), 1.0);  // the byte that is 1 in one e4m3 and 0.5 in the other
  EXPECT_EQ(decode(DType::kE4m3fnuz, 0x38), 0.5);
  EXPECT_TRUE(std::isnan(decode(DType::kE4m3fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(decode(DType::kE4m3fn, 0x7f)));
  EXPECT_EQ(decode(DType::kE8m0, 127), 1.0);
  EXPECT_TRUE(std::isnan(decode(DType::kE8m0, 255)));
  EXPECT_EQ(encode(DType::kE8m0, 0.75), 127u);
  EXPECT_EQ(decode(DType::kI4, 0xf), -1.0);
  EXPECT_EQ(decode(DType::kU4, 0xf), 15.0);
  EXPECT_EQ(encode(DType::kI8, 127.5), 0x7fu);
  EXPECT_EQ(encode(DType::kI8, -1000), 0x80u);
  EXPECT_EQ(encode(DType::kI8, 2.5), 2u);
}

TEST(SmallFloat, InlineBf16EqualsTheDefinition) {
  for (std::uint32_t high = 0; high < 0x10000; ++high)
    for (std::uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float x = std::bit_cast<float>((high << 16) | low);
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(x))));
        continue;
      }
      ASSERT_EQ(float_to_bf16(x), encode(DType::kBf16, x, Rounding::kNearestEven, Overflow::kSpecial));
    }
}

}  // namespace
}  // namespace assay::num
