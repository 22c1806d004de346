#include "cli/commands.h"

#include <array>

namespace assay {

namespace {

constexpr unsigned kReview = kPluginSources | kEngine | kReporting;

constexpr std::array kCommands = std::to_array<Command>({
    {"check", "find what in the plugin does not fit the target", kReview | kTargetOption | kFailing,
     check_command},
});

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

}  // namespace assay
