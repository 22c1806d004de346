#include <algorithm>

#include "cli/commands.h"
#include "cli/output.h"
#include "model/order.h"
#include "report/writer.h"

namespace assay {

Expected<ExitCode> check_command(const Options& options) {
  auto run = run_options(options);
  if (!run) return tl::make_unexpected(run.error());
  const Format* format = find_format(options.format.empty() ? "concise" : options.format);
  if (format == nullptr) return fail(ErrorKind::kUsage, "no such format: " + options.format);
  auto report = run_check(*run);
  if (!report) return tl::make_unexpected(report.error());
  sort_report(*report);
  auto written = write_output(options.output, format->write(*report, {}));
  if (!written) return tl::make_unexpected(written.error());
  bool failing =
      std::ranges::any_of(report->findings, [](const Finding& f) { return f.level == Level::kError; });
  return failing && !options.exit_zero ? kExitFindings : kExitClean;
}

}  // namespace assay
