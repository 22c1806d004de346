// The table of commands; each has a file of its own beside this one.
#pragma once

#include <span>

#include "base/error.h"
#include "cli/exit_codes.h"
#include "cli/options.h"

namespace assay {

struct Command {
  const char* name;
  const char* summary;
  unsigned options;  // OptionSet bits
  Expected<ExitCode> (*run)(const Options&);
};

std::span<const Command> all_commands();

Expected<ExitCode> check_command(const Options& options);

}  // namespace assay
