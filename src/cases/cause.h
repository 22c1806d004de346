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

// All hypotheses about one case, worked out once for any number of outputs.
class CauseFinder {
 public:
  // references: of the same contract, as judged before. All four must outlive the finder.
  CauseFinder(const Family& family, const Workload& workload, std::size_t contract,
              const std::vector<Reference>& references);
  Guess guess(const std::vector<Actual>& actuals) const;

 private:
  const Family& family_;
  const std::vector<Reference>& references_;
  std::vector<std::vector<Actual>> made_;  // by mutant; empty where the fault does not show on this case
};

// The same for one output.
Guess guess_cause(const Family& family, const Workload& workload, std::size_t contract,
                  const std::vector<Reference>& references, const std::vector<Actual>& actuals);

// The contracts of the family, of those other than `declared`, that would accept the outputs: a kernel
// outside of what it declares but inside of something looser.
std::vector<std::size_t> accepting_contracts(const Family& family, const Workload& workload,
                                             std::size_t declared, const std::vector<Actual>& actuals);

}  // namespace assay::num
