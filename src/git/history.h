// The commits between two revisions, for finding the first one that breaks something.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace assay {

struct HistoryCommit {
  std::string id;
  std::string summary;  // first line of the message
  int64_t time = 0;     // of the commit, seconds since 1970
};

// What `git rev-list --first-parent OLD..NEW` lists: from `newer` along first parents down to what `older`
// already contains, newest first, `older` not included. Empty when `older` contains `newer`.
Expected<std::vector<HistoryCommit>> first_parent_commits(const std::string& path, const std::string& older,
                                                          const std::string& newer);

// The best common ancestor's id. Error: "PATH: 'A' and 'B' have no common ancestor".
Expected<std::string> merge_base(const std::string& path, const std::string& a, const std::string& b);

}  // namespace assay
