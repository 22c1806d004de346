// What the process says when it ends.
#pragma once

#include "base/error.h"

namespace assay {

enum ExitCode : int {
  kExitClean = 0,
  kExitFindings = 1,  // at or above the fail level; of a compare: introduced ones
  kExitUsage = 2,  // command line, configuration, or an input that is not there or not what it claims to be
  kExitIncomplete = 3,     // the work could not be finished; what there is of it is written and says so
  kExitInternal = 101,     // a bug of assay
  kExitInterrupted = 130,  // Ctrl-C; nothing half-written is left
};

constexpr ExitCode exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
    case ErrorKind::kInput:
      return kExitUsage;
    case ErrorKind::kIncomplete:
      return kExitIncomplete;
    case ErrorKind::kInterrupted:
      return kExitInterrupted;
  }
  return kExitInternal;
}

}  // namespace assay
