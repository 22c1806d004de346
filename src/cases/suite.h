// Which cases a kernel of a family is shown.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cases/family.h"

namespace assay::num {

enum class Tier : std::uint8_t {
  kSmoke,  // small cases that kill every mutant
  kFull,   // smoke, the reported bugs, plain inputs, contexts up to 131,072 keys and random cases
};

// "smoke" or "full".
std::optional<Tier> parse_tier(std::string_view name);

// In an order that never changes; no line twice.
std::vector<Case> suite(const Family& family, Tier tier);

// 32 k keys, or as many terms of a dot product.
bool is_long(const Case& c);

}  // namespace assay::num
