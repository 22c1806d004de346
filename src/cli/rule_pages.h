// The pages of docs/rules/, built in (cmake/RulePages.cmake).
#pragma once

#include <span>
#include <string_view>

namespace assay {

struct RulePage {
  std::string_view rule;
  std::string_view text;
};

std::span<const RulePage> rule_pages();

}  // namespace assay
