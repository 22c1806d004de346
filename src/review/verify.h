// Static findings tried in the user's interpreter: confirmed (the evidence rises to runtime-reproduced), withdrawn, or not decided,
// each with the reason.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "model/report.h"
#include "review/session.h"

namespace assay {

struct VerifyOptions {
  std::string python;  // a program name or path
  std::chrono::milliseconds limit{120'000};  // of one question
};

// A finding counts as decided only if the files that the process's answer rests on have the content of those that were read. What
// is withdrawn leaves `findings` and stands under `unknown` with the reason; `stats.verified` counts per rule. The plugin's source
// is put first on the process's path; the target is what the interpreter has.
Expected<void> verify_findings(const Session& session, const VerifyOptions& options, Report& report);

}  // namespace assay
