// Checks of what a caller hands in; each error names the argument.
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"

namespace assay::num {

// "x: 11 elements where 12 are needed".
Expected<void> expect_count(const char* name, std::size_t has, std::int64_t wanted);

// "w[3]: nan is no finite number".
Expected<void> expect_finite(const char* name, std::span<const double> values);

}  // namespace assay::num
