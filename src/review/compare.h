// Two runs side by side: what the second one has anew, still has, and no longer has.
#pragma once

#include "model/report.h"

namespace assay {

// `now` with the state of every finding set, and behind it the findings that only `before` has, as fixed.
// Findings are the same by rule, symbol, file and normalised text; of several alike, those in the same place
// are paired first. Both must be as the rules made them, before finish_report.
Report compare_reports(const Report& before, Report now);

}  // namespace assay
