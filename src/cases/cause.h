// Guessing why a kernel is wrong: each known fault is tried as a hypothesis on the same inputs, and the one
// whose result explains what was returned, within the contract's budget, is named. "unknown" is an answer.
#pragma once

#include <string>
#include <vector>

#include "cases/family.h"

namespace assay::num {

struct Guess {
  std::size_t mutant = 0;                 // 1 + index into Family::mutants; 0: unknown
  std::string looks_like;                 // "window one short", or "unknown"
  std::vector<std::size_t> alternatives;  // faults that explain the output as well, where there are several
};

// references: of the same contract, as judged before.
Guess guess_cause(const Family& family, const Workload& workload, std::size_t contract,
                  const std::vector<Reference>& references, const std::vector<Actual>& actuals);

// The contracts of the family, of those other than `declared`, that would accept the outputs: a kernel
// outside of what it declares but inside of something looser.
std::vector<std::size_t> accepting_contracts(const Family& family, const Workload& workload,
                                             std::size_t declared, const std::vector<Actual>& actuals);

}  // namespace assay::num
