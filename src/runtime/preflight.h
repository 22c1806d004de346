// The record of the user's interpreter: what is installed in it, and what its imports really give.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/preflight.h"
#include "runtime/worker.h"

namespace assay {

// A module that the record is to speak of.
struct Subject {
  std::string module;        // top-level
  std::string role;          // target | plugin | component | torch
  std::string distribution;  // its name, where it is known otherwise
  bool examine = false;      // read its libraries even when its import works
  bool import = true;        // false: where it would come from is enough
};

struct PreflightQuestion {
  WorkerOptions worker;
  std::vector<Subject> subjects;          // imported in this order, in one process as long as it lives
  std::vector<std::string> plugin_groups;  // entry-point groups
  bool import = true;                      // false: what the finders say, alone
  std::chrono::milliseconds import_limit{60'000};
};

// Fills everything but what the local trees say. A component that cannot be imported, or ends the process, costs its own row;
// an Error only when the interpreter itself does not start.
Expected<PreflightRecord> collect_preflight(const PreflightQuestion& question);

struct ImportFault {
  std::string message;
  std::vector<std::string> libraries;  // of the distribution, absolute
  std::vector<std::string> requires_;  // "torch==2.11.0"
};
// The library at `path`, read without loading it.
LibraryRow examine_library(const std::string& path, const std::vector<std::string>& present);

// What is known about a failed import beyond its message: which symbol nobody defines, and which torch the library was made
// for. `present`: libraries of the process; `torch`: the installed version.
std::string explain_import(const ImportFault& fault, const std::vector<std::string>& present, const std::string& torch,
                           std::vector<LibraryRow>& examined);

}  // namespace assay
