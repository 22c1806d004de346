#include "oracle/arguments.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::num {

Expected<void> expect_count(const char* name, std::size_t has, std::int64_t wanted) {
  if (static_cast<std::int64_t>(has) == wanted) return {};
  return fail(fmt::format("{}: {} elements where {} are needed", name, has, wanted));
}

Expected<void> expect_finite(const char* name, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return fail(fmt::format("{}[{}]: {} is no finite number", name, i, values[i]));
  return {};
}

}  // namespace assay::num
