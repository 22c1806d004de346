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

// True for folders that never hold a project's own source: version control, caches, environments.
bool is_left_out(std::string_view folder_name);

// The bytes of one file on disk that was listed as `entry`; errors name entry.path.
Expected<Blob> read_file(const std::string& path, const TreeEntry& entry);

}  // namespace assay
