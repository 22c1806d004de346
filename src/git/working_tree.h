// What git says of a working tree: its commit, and how far the files are from it.
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace assay {

struct WorkingTreeState {
  std::string commit;  // empty: nothing committed yet
  size_t staged = 0, changed = 0, untracked = 0, conflicts = 0;
};

// Of the repository that `path` lies in, below `path` alone. The index is not refreshed, nothing is written; remotes and
// configuration are not looked at. Error: "PATH: not a git repository".
Expected<WorkingTreeState> working_tree_state(const std::string& path);

}  // namespace assay
