// startup: a real start of vLLM with the plugin, beside what the source says.
#include <unistd.h>

#include "base/line_printer.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "report/startup_text.h"
#include "review/startup_run.h"

namespace assay {

Expected<ExitCode> startup_command(const Options& options) {
  const bool json = options.format == "json";
  if (!json && !options.format.empty() && options.format != "text") return unknown_name("format", options.format, {"text", "json"});
  if (auto output = check_output(options.output); !output) return tl::make_unexpected(output.error());
  auto run = run_options(options);
  if (!run) return tl::make_unexpected(run.error());
  StartupOptions how;
  how.quick = options.quick;
  if (!options.time_limit.empty()) {
    auto limit = time_limit(options);
    if (!limit) return tl::make_unexpected(limit.error());
    how.limit = *limit;
  }
  LinePrinter progress(STDERR_FILENO);
  run->progress = [&](std::string_view line) { progress.show(line); };
  auto record = run_startup(*run, how);
  progress.clear();
  if (!record) return tl::make_unexpected(record.error());
  record->tool_version = kVersion;
  auto written = write_output(options.output, json ? startup_to_json(*record) : startup_text(*record));
  if (!written) return tl::make_unexpected(written.error());
  return record->sound() || options.exit_zero ? kExitClean : kExitFindings;
}

}  // namespace assay
