// The record of an environment, for a terminal.
#pragma once

#include <string>

#include "model/preflight.h"

namespace assay {

std::string preflight_text(const PreflightRecord& record);

}  // namespace assay
