// The table of rules: one row each, in the order of the documentation.
#pragma once

#include <span>
#include <string_view>

#include "model/finding.h"

namespace assay {

struct RuleInfo {
  std::string_view name;  // kebab case; stable
  Level level;            // unless the configuration says otherwise
  std::string_view summary;
  EvidenceLevel evidence;  // what a finding of this rule rests on when no process confirmed it
  bool of_idle_code = false;  // it says itself that a function or method never runs
};

std::span<const RuleInfo> all_rules();
const RuleInfo* find_rule(std::string_view name);  // nullptr: no such rule

}  // namespace assay
