// libgit2 behind handles that close themselves. Included by this room's .cc files only.
#pragma once

#include <git2.h>

#include <memory>
#include <string>

#include "base/error.h"

namespace assay {

template <auto Free>
struct GitFree {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using GitRepository = std::unique_ptr<git_repository, GitFree<git_repository_free>>;
using GitObject = std::unique_ptr<git_object, GitFree<git_object_free>>;
using GitCommit = std::unique_ptr<git_commit, GitFree<git_commit_free>>;
using GitTreeObject = std::unique_ptr<git_tree, GitFree<git_tree_free>>;
using GitTreeEntry = std::unique_ptr<git_tree_entry, GitFree<git_tree_entry_free>>;
using GitIndex = std::unique_ptr<git_index, GitFree<git_index_free>>;
using GitOdb = std::unique_ptr<git_odb, GitFree<git_odb_free>>;
using GitOdbObject = std::unique_ptr<git_odb_object, GitFree<git_odb_object_free>>;
using GitRevwalk = std::unique_ptr<git_revwalk, GitFree<git_revwalk_free>>;

// The repository that `path` lies in: its root, a folder below it, a bare repository or a linked worktree.
// Nothing is asked about who owns it: reading runs no hooks and no configured program. `named` is used in
// messages.
Expected<GitRepository> open_repository(const std::string& path, const std::string& named);

// Anything `git rev-parse` takes. Error: "NAMED: unknown revision 'REV'".
Expected<GitObject> resolve_revision(git_repository* repository, const std::string& revision,
                                     const std::string& named);

// As above, down to the commit.
Expected<GitCommit> resolve_commit(git_repository* repository, const std::string& revision,
                                   const std::string& named);

std::string hex_of(const git_oid& id);

// What libgit2 said last on this thread, fit for a message.
std::string git_message();

}  // namespace assay
