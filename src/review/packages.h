// Which importable packages a tree holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/tree.h"
#include "vllm/entry_points.h"

namespace assay {

// "a.b:c" gives "a".
std::string_view top_of(std::string_view dotted);

// The packages of a tree: those that its entry points name, else every folder with an __init__.py but the usual companions.
std::vector<std::string> packages_of(const Tree& tree, const std::vector<EntryPoint>& entries);

// Where a file of these packages lies below sys.path once installed: "src/p/a.py" gives "p/a.py". Empty: in none of them.
std::string importable_path(std::string_view path, const std::vector<std::string>& packages);

// "p/a/__init__.py" gives "p.a".
std::string dotted_of_file(std::string path);

}  // namespace assay
