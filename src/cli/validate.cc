// validate --self-test: the proof that the gates of the reference numerics can fail, and do not fail wrongly.
#include "cases/self_test.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace assay {

Expected<ExitCode> validate_command(const Options& options) {
  if (!options.self_test) return fail(ErrorKind::kUsage, "validate judges no installed kernels yet; --self-test proves its gates");
  bool json = options.format == "json";
  if (!json && !options.format.empty() && options.format != "text") return unknown_name("format", options.format, {"text", "json"});
  num::SelfTestOptions what;
  what.families = options.families;
  auto result = num::self_test(what);
  if (!result) return tl::make_unexpected(result.error());
  auto written = write_output(options.output, json ? num::self_test_json(*result) : num::self_test_text(*result));
  if (!written) return tl::make_unexpected(written.error());
  bool sound = result->survivors.empty() && result->alarms.empty() && result->errors.empty();
  return sound ? kExitClean : kExitFindings;
}

}  // namespace assay
