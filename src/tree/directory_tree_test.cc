#include "tree/directory_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tree/temp_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DirectoryTreeTest : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& content = "x") { folder_.write(path, content); }
  std::unique_ptr<Tree> open() {
    auto tree = open_directory(root_.string());
    EXPECT_TRUE(tree) << tree.error().message;
    return std::move(*tree);
  }

  TempFolder folder_;
  const fs::path root_ = folder_.path();
};

TEST_F(DirectoryTreeTest, ListsAndReads) {
  write("setup.py", "setup()\n");
  write("pkg/__init__.py", "");
  write("pkg-1.0.dist-info/entry_points.txt", "[vllm.platform_plugins]\n");
  write("pkg.egg-info/entry_points.txt", "e");
  auto tree = open();
  EXPECT_THAT(paths_of(*tree), ElementsAre("pkg-1.0.dist-info/entry_points.txt",
                                           "pkg.egg-info/entry_points.txt", "pkg/__init__.py", "setup.py"));
  EXPECT_EQ(tree->find("setup.py")->size, 8u);
  EXPECT_EQ(text_of(*tree, "setup.py"), "setup()\n");
  EXPECT_EQ(text_of(*tree, "pkg/__init__.py"), "");
  EXPECT_THAT(skips_of(*tree), IsEmpty());
  EXPECT_EQ(tree->identity().kind, "directory");
}

TEST_F(DirectoryTreeTest, LeavesOutWhatIsNotSource) {
  for (const char* folder :
       {".git", "__pycache__", ".venv", "venv", "node_modules", "build", "pkg/__pycache__", "sub/.git"}) {
    write(std::string(folder) + "/a.py");
  }
  write("env39/pyvenv.cfg");
  write("env39/lib/python3/site-packages/a.py");
  write("pkg/build/a.py");
  write("work/.git", "gitdir: elsewhere\n");
  auto tree = open();
  EXPECT_THAT(paths_of(*tree), ElementsAre("pkg/build/a.py"));
  EXPECT_THAT(skips_of(*tree), ElementsAre("build: output of a build"));
  write("build/__init__.py");
  EXPECT_THAT(paths_of(*open()), ElementsAre("build/__init__.py", "build/a.py", "pkg/build/a.py"));
}

TEST_F(DirectoryTreeTest, LinksInsideTheTreeAreFollowedOnce) {
  write("real/a.py", "a");
  fs::create_symlink("real/a.py", root_ / "file.py");
  fs::create_symlink("real", root_ / "first");
  fs::create_symlink(root_ / "real", root_ / "second");
  auto tree = open();
  EXPECT_THAT(paths_of(*tree), ElementsAre("file.py", "first/a.py", "real/a.py"));
  EXPECT_THAT(skips_of(*tree), ElementsAre("second: symbolic link to a folder that another link shows"));
  EXPECT_EQ(text_of(*tree, "file.py"), "a");
  EXPECT_EQ(text_of(*tree, "first/a.py"), "a");
}

TEST_F(DirectoryTreeTest, HostileLinks) {
  write("pkg/a.py");
  fs::create_symlink(".", root_ / "self");
  fs::create_symlink("../pkg", root_ / "pkg/again");
  fs::create_symlink("ping", root_ / "pong");
  fs::create_symlink("pong", root_ / "ping");
  fs::create_symlink("/etc", root_ / "etc");
  fs::create_symlink("../../../../../../etc/hostname", root_ / "pkg/host.py");
  fs::create_symlink("nowhere", root_ / "dangling");
  auto tree = open();
  EXPECT_THAT(paths_of(*tree), ElementsAre("pkg/a.py"));
  EXPECT_THAT(skips_of(*tree),
              ElementsAre("dangling: symbolic link to nothing", "etc: symbolic link out of the tree",
                          "ping: symbolic link loop", "pkg/again: symbolic link loop",
                          "pkg/host.py: symbolic link out of the tree", "pong: symbolic link loop",
                          "self: symbolic link loop"));
}

TEST_F(DirectoryTreeTest, LinksAmongFoldersDoNotMultiply) {
  // Ten folders that each link to all the others: followed naively, 10! paths.
  for (int i = 0; i < 10; ++i) write("d" + std::to_string(i) + "/a.py");
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) {
      if (i == j) continue;
      fs::create_symlink("../d" + std::to_string(j),
                         root_ / ("d" + std::to_string(i)) / ("l" + std::to_string(j)));
    }
  }
  auto tree = open();
  EXPECT_EQ(tree->entries().size(), 20u);
}

TEST_F(DirectoryTreeTest, SpecialFilesAndNames) {
  write("ok.py");
  ASSERT_EQ(::mkfifo((root_ / "pipe.py").c_str(), 0600), 0);
  write("bad\xff.py");
  auto tree = open();
  EXPECT_THAT(paths_of(*tree), ElementsAre("ok.py"));
  EXPECT_THAT(skips_of(*tree),
              ElementsAre("bad\\xff.py: name is not valid UTF-8", "pipe.py: not a regular file"));
}

TEST_F(DirectoryTreeTest, HostileDepth) {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "d/";
  write(deep + "a.py");
  write("ok.py");
  auto tree = open();
  EXPECT_THAT(paths_of(*tree), ElementsAre("ok.py"));
  ASSERT_EQ(tree->skipped().size(), 1u);
  EXPECT_EQ(tree->skipped()[0].reason, "nested more than 128 folders deep");
}

TEST_F(DirectoryTreeTest, UnreadableFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  write("closed/a.py");
  fs::permissions(root_ / "closed", fs::perms::none);
  auto tree = open();
  fs::permissions(root_ / "closed", fs::perms::owner_all);
  EXPECT_THAT(skips_of(*tree), ElementsAre("closed: cannot be read: permission denied"));
}

TEST_F(DirectoryTreeTest, FilesThatChangeAfterTheyWereListed) {
  write("grown.py", "a");
  write("gone.py", "a");
  write("pipe.py", "");
  auto tree = open();
  write("grown.py", "abc");
  fs::remove(root_ / "gone.py");
  fs::remove(root_ / "pipe.py");
  ASSERT_EQ(::mkfifo((root_ / "pipe.py").c_str(), 0600), 0);
  EXPECT_EQ(text_of(*tree, "grown.py"), "grown.py: changed while being read (1 bytes when listed, 3 now)");
  EXPECT_EQ(text_of(*tree, "gone.py"), "gone.py: vanished after it was listed");
  EXPECT_EQ(text_of(*tree, "pipe.py"), "pipe.py: not a regular file");
}

TEST_F(DirectoryTreeTest, WhatIsNoFolder) {
  write("file.py");
  const std::string file = (root_ / "file.py").string();
  EXPECT_EQ(open_directory(file).error().message, file + ": not a directory");
  EXPECT_EQ(open_directory("/no/such/folder").error().message, "/no/such/folder: no such file or directory");
  EXPECT_EQ(open_directory("/no/such\n", "/no/such\n").error().message,
            "/no/such\\n: no such file or directory");
}

}  // namespace
}  // namespace assay
