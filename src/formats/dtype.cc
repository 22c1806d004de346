#include "formats/dtype.h"

#include <fmt/format.h>
#include <array>

#include <cmath>

namespace assay::num {
namespace {

struct Row {
  std::string_view name;
  int bits;
  bool is_float;
  int precision;   // stored mantissa bits plus the hidden one
  int lowest_log;  // log2 of the smallest subnormal
};

constexpr std::array<Row, 16> kRows = {{
    {"f64", 64, true, 53, -1074},
    {"f32", 32, true, 24, -149},
    {"bf16", 16, true, 8, -133},
    {"f16", 16, true, 11, -24},
    {"e4m3", 8, true, 4, -9},
    {"e5m2", 8, true, 3, -16},
    {"e4m3fnuz", 8, true, 4, -10},
    {"e5m2fnuz", 8, true, 3, -17},
    {"e8m0", 8, true, 1, -127},
    {"e2m1", 4, true, 2, -1},
    {"i64", 64, false, 0, 0},
    {"i32", 32, false, 0, 0},
    {"i8", 8, false, 0, 0},
    {"u8", 8, false, 0, 0},
    {"i4", 4, false, 0, 0},
    {"u4", 4, false, 0, 0},
}};

const Row& row(DType type) { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view dtype_name(DType type) { return row(type).name; }

Expected<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return fail(fmt::format("'{}' is no element type", name));
}

int dtype_bits(DType type) { return row(type).bits; }
bool is_float(DType type) { return row(type).is_float; }
double unit_roundoff(DType type) { return is_float(type) ? std::ldexp(1.0, -row(type).precision) : 0.0; }
double subnormal_roundoff(DType type) {
  return is_float(type) ? std::ldexp(1.0, row(type).lowest_log - 1) : 0.0;
}

}  // namespace assay::num
