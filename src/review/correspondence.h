// Local files beside the installed ones, by content.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/preflight.h"
#include "tree/tree.h"

namespace assay {

// A hash over the names and contents of a tree's files; those that cannot be read count by name.
std::string manifest_of(const Tree& tree, int threads);

// Files of `packages` in both trees, by where they lie below sys.path. `generated` says of such a path whether a build makes it:
// then it is listed apart.
Correspondence correspondence_of(const Tree& local, const Tree& installed, const std::vector<std::string>& packages,
                                 const std::function<bool(const std::string&)>& generated, int threads);

}  // namespace assay
