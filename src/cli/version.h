#pragma once

namespace assay {

inline constexpr const char* kVersion = ASSAY_VERSION;  // set by CMake

}  // namespace assay
