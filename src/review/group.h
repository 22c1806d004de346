// Brings findings together: by their upstream cause, and the places of one fault within a file.
#pragma once

#include "model/report.h"

namespace assay {

// Finding::group, where a rule has not set it, becomes "rule:symbol": the upstream name behind every place.
void set_groups(Report& report);

// Findings of one file with the same rule, symbol, level, state and message become one, whose `sites` are the
// further places. The findings must be sorted: the first place stays the finding's own.
void collapse_sites(Report& report);

// All that a report needs before it is written: order, fingerprints, sites, groups, counts per rule.
void finish_report(Report& report);

}  // namespace assay
