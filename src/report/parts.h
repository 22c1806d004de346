// What the writers for people share: places, labels, which findings are shown, and counts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"

namespace assay {

// "file", "file:line" or "file:line:column", as much as is known.
std::string place(const Location& location);

// "1 error", "2 errors", "0 files".
std::string plural(size_t count, std::string_view noun);

// "vllm 0.26.0" of the input that this tree is; the tree's own name where nothing is known of it.
std::string tree_label(const Report& report, std::string_view tree);

// "demo 1.0 against vllm 0.26.0"; an input without a known name is called what the user called it
std::string subject(const Report& report);

// A report for people shows what stands open: nothing fixed or suppressed, and of a comparison only what is
// new.
bool is_listed(const Report& report, const Finding& finding);
std::vector<const Finding*> listed_findings(const Report& report);

// Findings of a comparison, brought together by their upstream cause; in the order of their first finding.
struct Cause {
  std::string group;
  std::vector<const Finding*> findings;
};
std::vector<Cause> listed_causes(const Report& report);

// Findings have states against a base, and only what is new is listed.
bool compares(const Report& report);
bool shows_findings(const Report& report);
bool shows_inventory(const Report& report);

struct Counts {
  size_t errors = 0, warnings = 0, notes = 0;  // of the listed findings
  size_t places = 0;                           // listed findings and their further sites
  size_t causes = 0;                           // listed findings, those of one group counted once
  size_t introduced = 0, fixed = 0, unchanged = 0, partly = 0, masked = 0, suppressed = 0;
};
Counts count(const Report& report);

}  // namespace assay
