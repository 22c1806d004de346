// Trees of a git revision and of the git index, read from the object database: no checkout, and the
// repository is never written, its index not refreshed.
#pragma once

#include <memory>
#include <string>

#include "tree/tree.h"

namespace assay {

// `path` is a repository (bare and linked worktrees too) or a folder inside one: then the tree is that
// folder's. `spec` is what the user typed, for messages. A file's content_id is its blob id;
// identity().revision the commit's id. Submodules, links out of the tree and such become skipped().
Expected<std::unique_ptr<Tree>> open_revision(const std::string& path, const std::string& revision,
                                              const std::string& spec);

// What is staged. A path in conflict is skipped with that reason.
Expected<std::unique_ptr<Tree>> open_index(const std::string& path, const std::string& spec);

}  // namespace assay
