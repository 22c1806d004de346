#include "review/run.h"

namespace assay {

namespace {

Expected<Report> not_built_yet(const RunOptions& options) {
  if (options.plugin.empty()) return fail(ErrorKind::kUsage, "no plugin given: name it with --plugin");
  return fail(ErrorKind::kIncomplete, "not built yet");
}

}  // namespace

Expected<Report> run_check(const RunOptions& options) { return not_built_yet(options); }
Expected<Report> run_inventory(const RunOptions& options) { return not_built_yet(options); }
Expected<Report> run_compare(const RunOptions& options) { return not_built_yet(options); }

}  // namespace assay
