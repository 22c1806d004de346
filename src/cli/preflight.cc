// preflight: the record of an environment. Exit 0 means collected, not compatible.
#include <fmt/format.h>
#include <unistd.h>

#include "base/line_printer.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/version.h"
#include "report/preflight_text.h"
#include "review/preflight_run.h"

namespace assay {

Expected<ExitCode> preflight_command(const Options& options) {
  const bool json = options.format == "json";
  if (!json && !options.format.empty() && options.format != "text") return unknown_name("format", options.format, {"text", "json"});
  if (auto output = check_output(options.output); !output) return tl::make_unexpected(output.error());
  Options plain = options;
  plain.components.clear();
  auto run = run_options(plain);
  if (!run) return tl::make_unexpected(run.error());
  // Here a component is a module to look at; a source of its own is none of the interpreter's.
  for (const std::string& name : options.components) run->components.push_back({name.substr(0, name.find('=')), ""});
  auto limit = time_limit(options);
  if (!limit) return tl::make_unexpected(limit.error());
  PreflightOptions how;
  how.import = !options.no_import;
  how.confirm = options.confirm;
  how.assume_confirmed = options.assume_confirmed;
  how.limit = *limit;
  LinePrinter progress(STDERR_FILENO);
  run->progress = [&](std::string_view line) { progress.show(line); };
  auto record = run_preflight(*run, how);
  if (!record) return tl::make_unexpected(record.error());
  record->tool_version = kVersion;
  progress.clear();
  auto written = write_output(options.output, json ? preflight_to_json(*record) : preflight_text(*record));
  if (!written) return tl::make_unexpected(written.error());
  return kExitClean;
}

}  // namespace assay
