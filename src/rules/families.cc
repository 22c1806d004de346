#include <array>

#include "rules/rules.h"

namespace assay {

std::span<const RuleFamily> rule_families() {
  static constexpr std::array kFamilies = std::to_array<RuleFamily>({
      {"syntax", check_syntax},
      {"imports", check_imports},
      {"names", check_names},
      {"attributes", check_attributes},
      {"class paths", check_class_paths},
      {"calls", check_calls},
      {"overrides", check_overrides},
      {"super calls", check_super},
      {"patched signatures", check_patched_signatures},
      {"returns", check_returns},
      {"abstract methods", check_abstract},
      {"unimplemented hooks", check_unimplemented},
      {"shifted arguments", check_shifted},
      {"state of objects", check_state},
      {"class identity", check_identity},
      {"what the target dropped", check_unused},
      {"guards", check_guards},
      {"argument types", check_types},
      {"constructors", check_uninitialised},
      {"members", check_members},
  });
  return kFamilies;
}

std::span<const ProjectRuleFamily> project_rule_families() {
  static constexpr std::array kFamilies = std::to_array<ProjectRuleFamily>({
      {"patches", check_patches},
      {"import order", check_import_order},
      {"registrations", check_registrations},
      {"importable", check_importable, true},
      {"packaging", check_packaging},
      {"hooks", check_hooks},
  });
  return kFamilies;
}

}  // namespace assay
