// What a start did, for a terminal.
#pragma once

#include <string>

#include "model/startup.h"

namespace assay {

std::string startup_text(const StartupRecord& record);

}  // namespace assay
