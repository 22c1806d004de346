// Makes a failing case small: for people, and so that the next run is fast.
#pragma once

#include <functional>

#include "cases/case_line.h"

namespace assay::num {

// Tries simpler values key by key (defaults, shorter lists, halved numbers, smaller entries) and keeps each
// change after which `fails` still holds, until none is left or `tries` calls were made. The result fails, as
// the given case does.
Case shrink(Case failing, const std::function<bool(const Case&)>& fails, int tries = 200);

}  // namespace assay::num
