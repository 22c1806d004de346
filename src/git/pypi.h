// Published releases, fetched with the user's own pip.
#pragma once

#include <string>

#include "base/error.h"

namespace assay {

// The path of the archive of `requirement` ("NAME==VERSION") below `cache_dir`, fetched unless it is there. A
// wheel for this machine is tried first, then one for other Python versions and Linux machines, since it is
// only read; then the source archive (for which pip runs the release's own build backend to learn its name).
// `spec` is for messages.
Expected<std::string> fetch_release(const std::string& requirement, const std::string& python,
                                    const std::string& cache_dir, const std::string& spec);

}  // namespace assay
