// `assay preflight`: the interpreter's record, joined with the local trees.
#pragma once

#include <chrono>
#include <string>

#include "model/preflight.h"
#include "review/run.h"

namespace assay {

struct PreflightOptions {
  bool import = true;          // false: metadata alone, nothing is imported
  bool confirm = false;        // the user confirms the mapping
  bool assume_confirmed = false;  // a CI does
  std::chrono::milliseconds limit{60'000};  // of one import
  std::string state_dir;       // where confirmations are kept; empty: the user's state folder
};

// Uses plugin, target (both may be empty), python, components and jobs of `options`.
Expected<PreflightRecord> run_preflight(const RunOptions& options, const PreflightOptions& how);

}  // namespace assay
