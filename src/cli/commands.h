// The table of commands. Those that make a report share cli/report_commands.cc; the others have a file each.
#pragma once

#include <span>

#include "base/error.h"
#include "cli/exit_codes.h"
#include "cli/options.h"

namespace assay {

struct CommandRow {
  const char* name;
  const char* summary;
  unsigned options;  // OptionSet bits
  Expected<ExitCode> (*run)(const Options&);
};

std::span<const CommandRow> all_commands();

Expected<ExitCode> review_command(const Options& options);
Expected<ExitCode> check_command(const Options& options);
Expected<ExitCode> inventory_command(const Options& options);
Expected<ExitCode> compare_command(const Options& options);
Expected<ExitCode> preflight_command(const Options& options);
Expected<ExitCode> startup_command(const Options& options);
Expected<ExitCode> identity_command(const Options& options);
Expected<ExitCode> explain_command(const Options& options);
Expected<ExitCode> rules_command(const Options& options);
Expected<ExitCode> cache_command(const Options& options);
Expected<ExitCode> validate_command(const Options& options);
Expected<ExitCode> version_command(const Options& options);

}  // namespace assay
