#include "git/repository.h"

#include "base/text.h"

namespace assay {
namespace {

// libgit2 counts its users; one for the life of the process is enough.
void start_library() {
  [[maybe_unused]] static const bool started = [] {
    git_libgit2_init();
    // The ownership check protects from running a stranger's hooks and filters. Nothing here runs any.
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    // Extensions that change nothing for a reader of objects; a lazily fetched object that is missing is an
    // error of the read that wants it.
    const char* extensions[] = {"partialclone", "worktreeconfig", "preciousobjects"};
    git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, std::size(extensions));
    return true;
  }();
}

}  // namespace

std::string git_message() {
  const git_error* error = git_error_last();
  return printable(error && error->message ? error->message : "unknown cause");
}

std::string hex_of(const git_oid& id) {
  char text[GIT_OID_HEXSZ + 1];
  return git_oid_tostr(text, sizeof text, &id);
}

Expected<GitRepository> open_repository(const std::string& path, const std::string& named) {
  start_library();
  git_repository* repository = nullptr;
  const int result = git_repository_open_ext(&repository, path.c_str(), 0, nullptr);
  if (result == GIT_ENOTFOUND) return fail(printable(named) + ": not a git repository");
  if (result != 0) return fail(printable(named) + ": cannot be opened as a git repository: " + git_message());
  return GitRepository(repository);
}

Expected<GitObject> resolve_revision(git_repository* repository, const std::string& revision,
                                     const std::string& named) {
  git_object* object = nullptr;
  const int result = git_revparse_single(&object, repository, revision.c_str());
  const std::string what = "revision '" + printable(revision) + "'";
  if (result == GIT_EAMBIGUOUS) return fail(printable(named) + ": ambiguous " + what);
  if (result != 0) return fail(printable(named) + ": unknown " + what);
  return GitObject(object);
}

Expected<GitCommit> resolve_commit(git_repository* repository, const std::string& revision,
                                   const std::string& named) {
  auto object = resolve_revision(repository, revision, named);
  if (!object) return tl::unexpected<Error>(object.error());
  git_object* commit = nullptr;
  if (git_object_peel(&commit, object->get(), GIT_OBJECT_COMMIT) != 0) {
    return fail(printable(named) + ": '" + printable(revision) + "' is not a commit");
  }
  return GitCommit(reinterpret_cast<git_commit*>(commit));
}

}  // namespace assay
