// The rule families: each looks at one module of the plugin, or at the plugin as a whole, and reports what it finds.
#pragma once

#include <span>

#include "rules/context.h"

namespace assay {

using ModuleRule = void (*)(RuleContext&, const Module&);

struct RuleFamily {
  const char* name;  // for --stats
  ModuleRule run;
};

// In the order in which they run.
std::span<const RuleFamily> rule_families();

// Run once, on one thread, after the module rules; they know what those found.
using ProjectRule = void (*)(RuleContext&);

struct ProjectRuleFamily {
  const char* name;
  ProjectRule run;
  bool reads_findings = false;  // runs after all others, and knows what they found
};

std::span<const ProjectRuleFamily> project_rule_families();

void check_syntax(RuleContext& ctx, const Module& module);
void check_imports(RuleContext& ctx, const Module& module);
void check_names(RuleContext& ctx, const Module& module);
void check_attributes(RuleContext& ctx, const Module& module);
void check_class_paths(RuleContext& ctx, const Module& module);
void check_calls(RuleContext& ctx, const Module& module);
void check_overrides(RuleContext& ctx, const Module& module);
void check_super(RuleContext& ctx, const Module& module);
void check_patched_signatures(RuleContext& ctx, const Module& module);
void check_returns(RuleContext& ctx, const Module& module);
void check_abstract(RuleContext& ctx, const Module& module);
void check_unimplemented(RuleContext& ctx, const Module& module);
void check_shifted(RuleContext& ctx, const Module& module);
void check_state(RuleContext& ctx, const Module& module);
void check_identity(RuleContext& ctx, const Module& module);
void check_unused(RuleContext& ctx, const Module& module);
void check_guards(RuleContext& ctx, const Module& module);
void check_types(RuleContext& ctx, const Module& module);
void check_uninitialised(RuleContext& ctx, const Module& module);
void check_members(RuleContext& ctx, const Module& module);

void check_patches(RuleContext& ctx);
void check_import_order(RuleContext& ctx);
void check_registrations(RuleContext& ctx);
void check_importable(RuleContext& ctx);
void check_packaging(RuleContext& ctx);
void check_hooks(RuleContext& ctx);

}  // namespace assay
