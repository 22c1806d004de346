// The extension modules that a source tree's own build makes: they are absent from what is read, and exist once installed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tree/tree.h"

namespace assay {

// Dotted names with the reason, as ProjectOptions::generated_modules takes them, sorted: extensions that setup.py makes,
// maturin's module, and targets that CMake installs into a package.
std::vector<std::pair<std::string, std::string>> built_modules(const Tree& tree);

}  // namespace assay
