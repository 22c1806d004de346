// One finding as annotated source of both sides, in the manner of rustc.
#pragma once

#include <string>

#include "model/report.h"
#include "report/paint.h"

namespace assay {

std::string finding_text(const Report& report, const Finding& finding, const Paint& paint);

// "12:3, 40:1 and 5 more"; a place in another file than `main` with its file.
std::string further_places(const Finding& finding, size_t most);

}  // namespace assay
