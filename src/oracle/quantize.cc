#include "oracle/quantize.h"

#include <algorithm>
#include <cmath>

#include "formats/small_float.h"

namespace assay::num {

std::uint64_t quantize(DType type, double x, double scale) { return encode(type, x / scale); }

bool acceptable_code(DType type, double x, double scale, std::uint64_t code) {
  const double y = x / scale, slack = 4 * 0x1p-24 * std::fabs(y);
  return code == encode(type, y) || code == encode(type, y - slack) || code == encode(type, y + slack);
}

double dynamic_scale(std::span<const double> token, double largest, bool power_of_two) {
  double amax = 1e-4;
  for (double x : token) amax = std::max(amax, std::fabs(x));
  const double scale = amax / largest;
  return power_of_two ? std::exp2(std::ceil(std::log2(scale))) : scale;
}

}  // namespace assay::num
