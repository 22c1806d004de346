// What zip and tar archives have in common: judging the paths in them and finding a release's top folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tree/tree.h"

namespace assay {

inline constexpr size_t kMaxArchiveEntries = 1'000'000;

// Why a file must not be listed under this path ("path climbs out of the archive", …); empty when it is in
// order.
std::string archive_path_fault(std::string_view path);

// The "name-version/" that all of the sorted entries lie in when it is the root of a project (it holds
// pyproject.toml, setup.py, setup.cfg or PKG-INFO), else empty. A folder that is itself the package is not
// stripped.
std::string project_top_folder(const std::vector<TreeEntry>& entries);

// "1.5 MB"
std::string byte_size_text(uint64_t bytes);

}  // namespace assay
