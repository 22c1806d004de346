#include "git/working_tree.h"

#include <filesystem>

#include "base/text.h"
#include "git/repository.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

using GitStatusList = std::unique_ptr<git_status_list, GitFree<git_status_list_free>>;

// `path` relative to the repository's working folder, "" for that folder itself.
std::string below(git_repository* repository, const std::string& path) {
  const char* root = git_repository_workdir(repository);
  if (root == nullptr) return "";
  std::error_code error;
  const fs::path relative = fs::relative(fs::weakly_canonical(path, error), fs::weakly_canonical(root, error), error);
  return error || relative == "." ? "" : relative.string();
}

void count(const git_status_entry& entry, WorkingTreeState& state) {
  constexpr unsigned kStaged = GIT_STATUS_INDEX_NEW | GIT_STATUS_INDEX_MODIFIED | GIT_STATUS_INDEX_DELETED | GIT_STATUS_INDEX_RENAMED |
                               GIT_STATUS_INDEX_TYPECHANGE;
  constexpr unsigned kChanged = GIT_STATUS_WT_MODIFIED | GIT_STATUS_WT_DELETED | GIT_STATUS_WT_TYPECHANGE | GIT_STATUS_WT_RENAMED;
  state.staged += (entry.status & kStaged) != 0;
  state.changed += (entry.status & kChanged) != 0;
  state.untracked += (entry.status & GIT_STATUS_WT_NEW) != 0;
  state.conflicts += (entry.status & GIT_STATUS_CONFLICTED) != 0;
}

}  // namespace

Expected<WorkingTreeState> working_tree_state(const std::string& path) {
  auto repository = open_repository(path, path);
  if (!repository) return tl::make_unexpected(repository.error());
  WorkingTreeState state;
  git_oid head;
  if (git_reference_name_to_id(&head, repository->get(), "HEAD") == 0) state.commit = hex_of(head);
  if (git_repository_is_bare(repository->get())) return state;
  git_status_options options = GIT_STATUS_OPTIONS_INIT;
  options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
  options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS | GIT_STATUS_OPT_NO_REFRESH |
                  GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH;
  std::string folder = below(repository->get(), path);
  char* spec = folder.data();
  if (!folder.empty()) options.pathspec = {&spec, 1};
  git_status_list* list = nullptr;
  if (git_status_list_new(&list, repository->get(), &options) != 0) return fail(printable(path) + ": its state cannot be read: " + git_message());
  const GitStatusList owned(list);
  for (size_t i = 0; i < git_status_list_entrycount(list); ++i) count(*git_status_byindex(list, i), state);
  return state;
}

}  // namespace assay
