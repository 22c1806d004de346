#include "git/git_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "git/temp_repository.h"

// libgit2 1.5 loses a small buffer per pattern when it looks for a repository's extensions.
extern "C" const char* __lsan_default_suppressions() { return "leak:libpcre2-8\n"; }

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class GitTreeTest : public ::testing::Test {
 protected:
  std::unique_ptr<Tree> at(const std::string& revision, const std::string& folder = "") {
    auto tree = open_revision(repo_ / folder, revision, "repo@" + revision);
    EXPECT_TRUE(tree) << tree.error().message;
    return std::move(*tree);
  }
  std::unique_ptr<Tree> staged(const std::string& folder = "") {
    auto tree = open_index(repo_ / folder, "repo@:index");
    EXPECT_TRUE(tree) << tree.error().message;
    return std::move(*tree);
  }
  std::string error_of(const std::string& path, const std::string& revision) {
    auto tree = open_revision(path, revision, "repo@" + revision);
    return tree ? "no error" : tree.error().message;
  }

  TempRepository repo_;
};

TEST_F(GitTreeTest, ARevisionIsReadWithoutCheckout) {
  repo_.write("pkg/a.py", "old\n");
  repo_.write("setup.py", "");
  const std::string first = repo_.commit("first");
  repo_.write("pkg/a.py", "new and longer\n");
  repo_.write("pkg/b.py", "b\n");
  repo_.commit("second");
  repo_.write("pkg/a.py", "not committed\n");
  auto tree = at("HEAD~1");
  EXPECT_THAT(paths_of(*tree), ElementsAre("pkg/a.py", "setup.py"));
  EXPECT_EQ(text_of(*tree, "pkg/a.py"), "old\n");
  EXPECT_EQ(text_of(*tree, "setup.py"), "");
  EXPECT_EQ(tree->find("pkg/a.py")->size, 4u);
  EXPECT_EQ(tree->find("pkg/a.py")->content_id, repo_.git({"rev-parse", "HEAD~1:pkg/a.py"}));
  EXPECT_EQ(tree->identity().revision, first);
  EXPECT_EQ(tree->identity().kind, "revision");
  EXPECT_EQ(tree->identity().spec, "repo@HEAD~1");
  EXPECT_EQ(text_of(*at("main"), "pkg/a.py"), "new and longer\n");
  EXPECT_EQ(text_of(*at(first.substr(0, 10)), "pkg/a.py"), "old\n");
  EXPECT_EQ(text_of(*at("main^{tree}"), "pkg/a.py"), "new and longer\n");
}

TEST_F(GitTreeTest, AFolderInsideTheRepositoryIsItsOwnTree) {
  repo_.write("plugins/p/a.py", "a");
  repo_.write("other.py", "");
  repo_.commit("first");
  EXPECT_THAT(paths_of(*at("HEAD", "plugins/p")), ElementsAre("a.py"));
  EXPECT_THAT(paths_of(*staged("plugins")), ElementsAre("p/a.py"));
  repo_.write("later/a.py", "a");
  EXPECT_EQ(error_of(repo_ / "later", "HEAD"), "repo@HEAD: this revision has no folder 'later'");
}

TEST_F(GitTreeTest, TheIndexIsReadAsStaged) {
  repo_.write("a.py", "committed\n");
  repo_.commit("first");
  repo_.write("a.py", "staged\n");
  repo_.write("new.py", "new\n");
  repo_.git({"add", "a.py", "new.py"});
  repo_.write("a.py", "working tree\n");
  repo_.write("meant.py", "x");
  repo_.git({"add", "-N", "meant.py"});
  auto tree = staged();
  EXPECT_THAT(paths_of(*tree), ElementsAre("a.py", "new.py"));
  EXPECT_EQ(text_of(*tree, "a.py"), "staged\n");
  EXPECT_THAT(skips_of(*tree), ElementsAre("meant.py: not staged, only meant to be added"));
  EXPECT_EQ(tree->identity().kind, "index");
}

TEST_F(GitTreeTest, AConflictedIndex) {
  repo_.write("a.py", "base\n");
  repo_.write("b.py", "b\n");
  repo_.commit("base");
  repo_.git({"checkout", "-q", "-b", "side"});
  repo_.write("a.py", "side\n");
  repo_.commit("side");
  repo_.git({"checkout", "-q", "main"});
  repo_.write("a.py", "main\n");
  repo_.commit("main");
  repo_.git({"merge", "-q", "side"}, true);
  auto tree = staged();
  EXPECT_THAT(paths_of(*tree), ElementsAre("b.py"));
  EXPECT_THAT(skips_of(*tree), ElementsAre("a.py: in conflict in the git index"));
}

TEST_F(GitTreeTest, TheRepositoryIsLeftAsItWas) {
  for (int i = 0; i < 20; ++i) repo_.write("pkg/m" + std::to_string(i) + ".py", std::to_string(i));
  repo_.commit("first");
  repo_.git({"gc", "-q"});
  repo_.write("pkg/m1.py", "changed, not staged");
  repo_.write("pkg/m2.py", "staged");
  repo_.git({"add", "pkg/m2.py"});
  repo_.write("untracked.py", "u");
  // An index that git itself would refresh: its file times are stale.
  fs::last_write_time(repo_ / "pkg/m3.py", fs::file_time_type::clock::now() + std::chrono::hours(1));
  const std::string before = repo_.snapshot();
  for (auto& tree : {at("HEAD"), staged()}) {
    for (const TreeEntry& entry : tree->entries()) EXPECT_TRUE(tree->read(entry));
  }
  EXPECT_EQ(repo_.snapshot(), before);
}

TEST_F(GitTreeTest, ReadingFromManyThreads) {
  for (int i = 0; i < 200; ++i) repo_.write("m" + std::to_string(i) + ".py", std::string(100 + i, 'x'));
  repo_.commit("first");
  repo_.git({"gc", "-q"});
  auto tree = at("HEAD");
  std::atomic<size_t> wrong{0};
  parallel_for(tree->entries().size() * 5, 8, [&](size_t i) {
    const TreeEntry& entry = tree->entries()[i % tree->entries().size()];
    auto blob = tree->read(entry);
    if (!blob || blob->view().size() != entry.size) ++wrong;
  });
  EXPECT_EQ(wrong.load(), 0u);
}

TEST_F(GitTreeTest, ABlobOutlivesItsTree) {
  repo_.write("a.py", "a");
  repo_.commit("first");
  Blob blob;
  {
    auto tree = at("HEAD");
    blob = *tree->read(tree->entries()[0]);
  }
  EXPECT_EQ(blob.view(), "a");
}

TEST_F(GitTreeTest, Links) {
  repo_.write("real/a.py", "a");
  for (auto [link, target] : {std::pair{"file.py", "real/a.py"},
                              {"chain.py", "file.py"},
                              {"first", "real"},
                              {"second", "./real/"},
                              {"out", "../elsewhere"},
                              {"abs", "/etc"},
                              {"self", "."},
                              {"ping", "pong"},
                              {"pong", "ping"},
                              {"dangling", "nowhere"},
                              {"real/up", "../real"}}) {
    fs::create_symlink(target, repo_ / link);
  }
  repo_.commit("first");
  auto tree = at("HEAD");
  EXPECT_THAT(paths_of(*tree), ElementsAre("chain.py", "file.py", "first/a.py", "real/a.py"));
  EXPECT_EQ(text_of(*tree, "chain.py"), "a");
  EXPECT_EQ(text_of(*tree, "first/a.py"), "a");
  EXPECT_THAT(
      skips_of(*tree),
      ElementsAre("abs: symbolic link out of the tree", "dangling: symbolic link to nothing",
                  "out: symbolic link out of the tree", "ping: symbolic link loop",
                  "pong: symbolic link loop", "real/up: symbolic link loop",
                  "second: symbolic link to a folder that another link shows", "self: symbolic link loop"));
  EXPECT_EQ(paths_of(*staged()), paths_of(*tree));
  EXPECT_EQ(skips_of(*staged()), skips_of(*tree));
}

TEST_F(GitTreeTest, SubmodulesAndHostileNames) {
  repo_.write("a.py", "a");
  const std::string commit = repo_.commit("first");
  repo_.git({"update-index", "--add", "--cacheinfo", "160000," + commit + ",vendored"});
  repo_.write("bad\xff.py", "x");
  repo_.write("venv/lib/x.py", "x");
  repo_.git({"add", "bad\xff.py", "venv"});
  repo_.git({"commit", "-q", "-m", "second"});
  for (auto& tree : {at("HEAD"), staged()}) {
    EXPECT_THAT(paths_of(*tree), ElementsAre("a.py"));
    EXPECT_THAT(skips_of(*tree), ElementsAre("bad\\xff.py: name is not valid UTF-8", "vendored: submodule"));
  }
}

TEST_F(GitTreeTest, TreesThatUnfoldWithoutEnd) {
  repo_.write("a.py", "a");
  repo_.commit("first");
  // Each level holds the one below ten times: 10^12 empty folders.
  const std::string empty = repo_.git({"hash-object", "-t", "tree", "-w", "/dev/null"});
  std::string level = empty;
  for (int depth = 0; depth < 12; ++depth) {
    std::string listing;
    for (int i = 0; i < 10; ++i) listing += "040000 tree " + level + "\td" + std::to_string(i) + "\n";
    repo_.write("listing", listing);
    Command command{.argv = {"sh", "-c", "git -C \"$0\" mktree < \"$0\"/listing", repo_.path().string()}};
    level = trim(run_process(command)->out);
  }
  EXPECT_EQ(error_of(repo_.path().string(), level),
            "repo@" + level + ": more than 1,000,000 files or 200,000 folders");
}

TEST_F(GitTreeTest, BareRepositoriesAndWorktrees) {
  repo_.write("a.py", "a");
  repo_.commit("first");
  TempFolder other;
  repo_.git({"clone", "-q", "--bare", ".", other / "bare.git"});
  auto bare = open_revision(other / "bare.git", "main", "bare.git@main");
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_EQ(text_of(**bare, "a.py"), "a");
  EXPECT_EQ(open_index(other / "bare.git", "bare.git@:index").error().message,
            "bare.git@:index: a bare git repository has no index");
  repo_.git({"worktree", "add", "-q", other / "tree"});
  auto worktree = open_revision(other / "tree", "HEAD", "tree@HEAD");
  ASSERT_TRUE(worktree) << worktree.error().message;
  EXPECT_EQ(text_of(**worktree, "a.py"), "a");
  other.write("tree/b.py", "b");
  EXPECT_THAT(paths_of(**open_index(other / "tree", "tree@:index")), ElementsAre("a.py"));
}

TEST_F(GitTreeTest, UnusualRepositories) {
  repo_.write("a.py", "a");
  repo_.commit("first");
  repo_.git({"config", "core.repositoryformatversion", "1"});
  repo_.git({"config", "extensions.partialClone", "origin"});
  EXPECT_THAT(paths_of(*at("HEAD")), ElementsAre("a.py"));
  repo_.git({"config", "extensions.unheardOf", "true"});
  EXPECT_THAT(error_of(repo_.path().string(), "HEAD"),
              StartsWith("repo@HEAD: cannot be opened as a git repository: "));
  TempFolder other;
  repo_.git({"init", "-q", "--object-format=sha256", other / "sha256"});
  EXPECT_THAT(error_of(other / "sha256", "HEAD"), HasSubstr("extensions.objectformat"));
}

TEST_F(GitTreeTest, AMissingObjectIsAnErrorOfItsFile) {
  repo_.write("a.py", "a");
  repo_.write("b.py", "b");
  repo_.commit("first");
  const std::string id = repo_.git({"rev-parse", "HEAD:a.py"});
  fs::remove(repo_ / (".git/objects/" + id.substr(0, 2) + "/" + id.substr(2)));
  auto tree = at("HEAD");
  EXPECT_THAT(text_of(*tree, "a.py"), StartsWith("a.py: cannot be read from the git repository: "));
  EXPECT_EQ(text_of(*tree, "b.py"), "b");
}

TEST_F(GitTreeTest, ADamagedIndex) {
  repo_.write("a.py", "a");
  repo_.commit("first");
  repo_.write(".git/index", "not an index");
  EXPECT_THAT(open_index(repo_.path().string(), "repo@:index").error().message,
              StartsWith("repo@:index: the git index cannot be read: "));
}

TEST_F(GitTreeTest, WhatIsNotThere) {
  EXPECT_EQ(error_of(repo_.path().string(), "HEAD"), "repo@HEAD: unknown revision 'HEAD'") << "no commit yet";
  EXPECT_THAT(paths_of(*staged()), IsEmpty());
  repo_.write("a.py", "a");
  repo_.commit("first");
  EXPECT_EQ(error_of(repo_.path().string(), "nope"), "repo@nope: unknown revision 'nope'");
  EXPECT_EQ(error_of(repo_.path().string(), "a\nb"), "repo@a\\nb: unknown revision 'a\\nb'");
  EXPECT_EQ(error_of(repo_.path().string(), "HEAD:a.py"), "repo@HEAD:a.py: 'HEAD:a.py' is not a commit");
  TempFolder plain;
  EXPECT_EQ(error_of(plain.path().string(), "HEAD"), "repo@HEAD: not a git repository");
}

}  // namespace
}  // namespace assay
