// A normal start of vLLM with its plugins in the user's interpreter, watched; and one without the plugin, to compare with.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/startup.h"
#include "runtime/worker.h"

namespace assay {

struct LookupQuestion {
  std::string kind, key;
  std::vector<std::string> modules;  // the first that can be imported
  std::string expression;            // evaluated there; empty: nobody knows how to ask
  std::vector<std::string> expected;  // dotted names from the source: of a key that is registered in several places, all
  bool conditional = false;           // the source says that it is there under a condition
};

struct StartupQuestion {
  WorkerOptions worker;
  std::vector<std::string> packages;      // the plugin's own
  std::vector<std::string> groups;        // entry-point groups that vLLM loads
  std::vector<LookupQuestion> lookups;
  std::chrono::milliseconds limit{300'000};  // of the whole start
  bool quick = false;                        // one process alone: no start without the plugin, none in a child
};

// Fills steps, swallowed, modules (without proof), changes, rows, child, gaps.
Expected<StartupRecord> observe_startup(const StartupQuestion& question);

}  // namespace assay
