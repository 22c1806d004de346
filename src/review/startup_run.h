// `assay startup`: what a real start does, beside what the source says.
#pragma once

#include <chrono>

#include "model/startup.h"
#include "review/run.h"

namespace assay {

struct StartupOptions {
  std::chrono::milliseconds limit{300'000};
  bool quick = false;  // one process: no start without the plugin to compare with, none in a spawned child
};

// Uses plugin (any source), target (empty: what the interpreter has), python and jobs of `options`. A plugin that is not the
// installed one, file by file, is exported and put first on the path; the record proves by path and content that it ran.
Expected<StartupRecord> run_startup(const RunOptions& options, const StartupOptions& how);

}  // namespace assay
