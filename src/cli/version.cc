#include "cli/version.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "model/json.h"

namespace assay {

Expected<ExitCode> version_command(const Options&) {
  auto written = write_output("", fmt::format("assay {} (report {})\n", kVersion, kReportSchema));
  if (!written) return tl::make_unexpected(written.error());
  return kExitClean;
}

}  // namespace assay
