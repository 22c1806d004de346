// What a finding is recognised by in a later run: rule, symbol and the normalised text of its line, never the
// line's number or the file's name.
#pragma once

#include "model/report.h"

namespace assay {

// White space is one space, none at the ends.
std::string normalised_text(std::string_view line);

// Sets the fingerprint of every finding and site that has none. Where several would share one, the second and
// later ones, in the order of the report, get a number; so the findings must be sorted.
void set_fingerprints(Report& report);

}  // namespace assay
