#include "git/history.h"

#include "base/text.h"
#include "git/repository.h"

namespace assay {

Expected<std::vector<HistoryCommit>> first_parent_commits(const std::string& path, const std::string& older,
                                                          const std::string& newer) {
  auto repository = open_repository(path, path);
  if (!repository) return tl::unexpected<Error>(repository.error());
  auto from = resolve_commit(repository->get(), older, path);
  if (!from) return tl::unexpected<Error>(from.error());
  auto to = resolve_commit(repository->get(), newer, path);
  if (!to) return tl::unexpected<Error>(to.error());

  git_revwalk* opened = nullptr;
  git_revwalk_new(&opened, repository->get());
  const GitRevwalk walk(opened);
  git_revwalk_sorting(walk.get(), GIT_SORT_TOPOLOGICAL);
  git_revwalk_simplify_first_parent(walk.get());
  std::vector<HistoryCommit> commits;
  git_oid id;
  if (git_revwalk_push(walk.get(), git_commit_id(to->get())) != 0 ||
      git_revwalk_hide(walk.get(), git_commit_id(from->get())) != 0) {
    return fail(printable(path) + ": the history cannot be read: " + git_message());
  }
  int result;
  while ((result = git_revwalk_next(&id, walk.get())) == 0) {
    git_commit* found = nullptr;
    if (git_commit_lookup(&found, repository->get(), &id) != 0) break;
    const GitCommit commit(found);
    const char* summary = git_commit_summary(found);
    commits.push_back({hex_of(id), summary ? summary : "", git_commit_time(found)});
  }
  if (result != GIT_ITEROVER) {
    return fail(printable(path) + ": the history cannot be read: " + git_message());
  }
  return commits;
}

Expected<std::string> merge_base(const std::string& path, const std::string& a, const std::string& b) {
  auto repository = open_repository(path, path);
  if (!repository) return tl::unexpected<Error>(repository.error());
  auto one = resolve_commit(repository->get(), a, path);
  if (!one) return tl::unexpected<Error>(one.error());
  auto two = resolve_commit(repository->get(), b, path);
  if (!two) return tl::unexpected<Error>(two.error());
  git_oid base;
  const int result =
      git_merge_base(&base, repository->get(), git_commit_id(one->get()), git_commit_id(two->get()));
  if (result == GIT_ENOTFOUND) {
    return fail(printable(path) + ": '" + printable(a) + "' and '" + printable(b) +
                "' have no common ancestor");
  }
  if (result != 0) return fail(printable(path) + ": the history cannot be read: " + git_message());
  return hex_of(base);
}

}  // namespace assay
