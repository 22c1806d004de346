// A Tree of a folder on disk, such as a working tree or an unpacked wheel.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tree/tree.h"

namespace assay {

// Lists the whole folder at once. `spec` is what the user typed, `path` when empty.
// Errors: "PATH: no such file or directory", "PATH: not a directory", "PATH: cannot be read: permission
// denied".
Expected<std::unique_ptr<Tree>> open_directory(const std::string& path, const std::string& spec = "");

// True for folders that never hold a project's own source: version control, caches, environments. `parent` is
// the folder it lies in, "" for the root of a project, where the output of setuptools counts as well.
bool is_left_out(std::string_view parent, std::string_view name);

}  // namespace assay
