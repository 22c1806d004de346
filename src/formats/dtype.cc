#include "formats/dtype.h"

#include <fmt/format.h>
#include <array>

#include <cmath>

namespace assay::num {
namespace {

struct Row {
  std::string_view name;
  int precision;   // stored mantissa bits plus the hidden one
  int lowest_log;  // log2 of the smallest subnormal
};

constexpr std::array<Row, 16> kRows = {{
    {"f64", 53, -1074},
    {"f32", 24, -149},
    {"bf16", 8, -133},
    {"f16", 11, -24},
    {"e4m3", 4, -9},
    {"e5m2", 3, -16},
    {"e4m3fnuz", 4, -10},
    {"e5m2fnuz", 3, -17},
    {"e8m0", 1, -127},
    {"e2m1", 2, -1},
    {"i64", 0, 0},
    {"i32", 0, 0},
    {"i8", 0, 0},
    {"u8", 0, 0},
    {"i4", 0, 0},
    {"u4", 0, 0},
}};

const Row& row(DType type) { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view dtype_name(DType type) { return row(type).name; }

Expected<DType> parse_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return fail(fmt::format("'{}' is no element type", name));
}

double unit_roundoff(DType type) { return is_float(type) ? std::ldexp(1.0, -row(type).precision) : 0.0; }
double subnormal_roundoff(DType type) {
  return is_float(type) ? std::ldexp(1.0, row(type).lowest_log - 1) : 0.0;
}

}  // namespace assay::num
