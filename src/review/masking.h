// Which findings can show only once another is repaired.
#pragma once

#include "model/report.h"

namespace assay {

// A file whose import stops at some line runs nothing behind it: findings there get that one's fingerprint in `blocked_by`, and
// a limit that says so. Their level stays: they are next. Fingerprints must have been set.
void set_blocked(Report& report);

}  // namespace assay
