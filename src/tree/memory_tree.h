// A Tree made in memory, for tests and for text that never was a file.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

// `files` maps paths to contents. `spec` becomes identity().spec.
std::unique_ptr<Tree> make_memory_tree(std::map<std::string, std::string> files, std::string spec = "memory");

}  // namespace assay
