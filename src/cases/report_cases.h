// Bugs that people reported of real kernels, each as a case that shows it and the mutant that commits it.
#pragma once

#include <string>
#include <vector>

namespace assay::num {

struct ReportCase {
  std::string reference;  // project#number
  std::string what;       // the fault in a few words
  std::string line;       // a case on which a kernel with the fault is found out
  std::string mutant;     // of the line's family; empty: the family's honest kernels show what is right, no
                          // mutant commits it
};

const std::vector<ReportCase>& report_cases();

}  // namespace assay::num
