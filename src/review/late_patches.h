// What one rule's finding says about another's: a caller that keeps the old function never meets the replacement.
#pragma once

#include "model/report.h"

namespace assay {

// Findings of patched-signature become notes where every call that they name stands in a module of which
// patch-bound-too-late says that it took the old object.
void lower_unmet_replacements(Report& report);

}  // namespace assay
