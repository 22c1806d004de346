#include "cli/commands.h"

#include <array>

namespace assay {

namespace {

constexpr unsigned kReview = kPluginSources | kEngine | kReporting;

constexpr std::array kCommands = std::to_array<CommandRow>({
    {"review", "everything that the given inputs allow, in one report", kReview | kTargetOption | kFailing, review_command},
    {"check", "find what in the plugin does not fit the target", kReview | kTargetOption | kFailing,
     check_command},
    {"inventory", "list every registration, override and patch, and every file", kReview | kTargetOption,
     inventory_command},
    {"compare", "find what TARGET breaks that works with BASE", kReview | kTargetArguments | kFailing,
     compare_command},
    {"preflight", "record the environment: interpreter, installed and local trees, what imports really give",
     kPluginSources | kPreflight | kRuntime, preflight_command},
    {"startup", "start vLLM with the plugin for real, and set that beside what the source says",
     kPluginSources | kEngine | kStartup | kRuntime, startup_command},
    {"identity", "what a callable really is: distribution, file, source, library, schema", kIdentity | kRuntime, identity_command},
    {"explain", "print the page of a rule", kRuleArgument, explain_command},
    {"rules", "list the rules", kListing, rules_command},
    {"validate", "judge kernels against the reference numerics (so far: --self-test)", kValidation, validate_command},
    {"cache", "show or empty the fact cache", kCacheArguments, cache_command},
    {"version", "print the version", 0, version_command},
});

}  // namespace

std::span<const CommandRow> all_commands() { return kCommands; }

}  // namespace assay
