#include "git/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git/temp_repository.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A zip archive with one empty member "p.py", byte by byte.
const std::string kZip(
    "PK\3\4\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x4\0\0\0p.py"
    "PK\1\2\x14\3\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x4\0\0\0\0\0\0\0\0\0\0\0\xa4\x81\0\0\0\0p.py"
    "PK\5\6\0\0\0\0\1\0\1\0\x32\0\0\0\x22\0\0\0\0\0",
    34 + 50 + 22);

std::string error_of(const std::string& spec, const SourceOptions& options = {}) {
  auto tree = open_source(spec, options);
  if (tree) return "no error";
  EXPECT_EQ(tree.error().kind, ErrorKind::kInput);
  return tree.error().message;
}

std::shared_ptr<Tree> open(const std::string& spec, const SourceOptions& options = {}) {
  auto tree = open_source(spec, options);
  EXPECT_TRUE(tree) << tree.error().message;
  return *tree;
}

TEST(Source, FoldersArchivesAndRevisions) {
  TempRepository repo;
  repo.write("a.py", "committed");
  repo.commit("first");
  repo.write("a.py", "staged");
  repo.git({"add", "a.py"});
  repo.write("a.py", "working");
  const std::string root = repo.path().string();
  EXPECT_EQ(text_of(*open(root), "a.py"), "working");
  EXPECT_EQ(text_of(*open(root + "@main"), "a.py"), "committed");
  EXPECT_EQ(text_of(*open(root + "@:index"), "a.py"), "staged");
  EXPECT_EQ(open(root + "@main")->identity().spec, root + "@main");
  EXPECT_EQ(error_of(root + "@nope"), root + "@nope: unknown revision 'nope'");
  EXPECT_EQ(error_of(root + "@"), root + "@: names no revision after '@'");
  TempFolder other;
  other.write("p.whl", kZip);
  EXPECT_THAT(paths_of(*open(other / "p.whl")), ElementsAre("p.py"));
  EXPECT_EQ(error_of(other.path().string() + "@main"), other.path().string() + "@main: not a git repository");
}

TEST(Source, TheSignMayStandInPathsAndRevisions) {
  TempRepository repo;
  repo.write("a@b/a.py", "first");
  repo.commit("first");
  repo.write("a@b/a.py", "second");
  repo.commit("second");
  const std::string folder = repo / "a@b";
  EXPECT_EQ(text_of(*open(folder), "a.py"), "second");
  EXPECT_EQ(text_of(*open(folder + "@main"), "a.py"), "second");
  EXPECT_EQ(text_of(*open(folder + "@HEAD@{1}"), "a.py"), "first");
}

TEST(Source, WhatIsNoSource) {
  TempFolder folder;
  folder.write("a.py", "");
  folder.write("cut.whl", kZip.substr(0, 60));
  EXPECT_EQ(error_of(""), "an empty name is no source");
  EXPECT_EQ(error_of("no/such"), "no/such: no such file or directory");
  EXPECT_EQ(error_of("no/such.whl"), "no/such.whl: no such file or directory");
  EXPECT_EQ(error_of("no/such@main"), "no/such@main: no such file or directory");
  EXPECT_EQ(error_of(folder / "a.py"),
            folder / "a.py" + ": neither a folder nor an archive (.whl, .zip, .tar.gz, .tar.xz, .tar.bz2)");
  EXPECT_EQ(error_of(folder / "cut.whl"),
            folder / "cut.whl" + ": truncated archive: the directory at its end is missing");
  EXPECT_EQ(error_of("https://user:secret@example.org/x.whl"),
            "https://***@example.org/x.whl: is a URL; assay reads folders, archives, git repositories on "
            "this machine and "
            "pypi: releases");
  EXPECT_EQ(error_of("installed:"), "installed:: wants installed:PYTHON");
  EXPECT_EQ(error_of("installed:python3"),
            "installed:python3: which package of that interpreter is not known");
  EXPECT_THAT(error_of("installed:python3", {.package = "no_such_package"}),
              StartsWith("installed:python3: 'no_such_package' is not installed for Python "));
}

// A "python" that notes how it was called and does what its test says.
class PypiTest : public ::testing::Test {
 protected:
  void python(const std::string& script) {
    // $dest is the folder that pip was told to fill.
    folder_.write("python", "#!/bin/sh\necho \"$*\" >> '" + folder_ / "calls" +
                                "'\nfor a; do [ \"$last\" = --dest ] && dest=$a; last=$a; done\n" + script);
    fs::permissions(folder_ / "python", fs::perms::owner_all);
    folder_.write("p.whl", kZip);
    options_.python = folder_ / "python";
    options_.cache_dir = folder_ / "cache";
  }
  std::vector<std::string> calls() {
    std::vector<std::string> lines;
    std::ifstream file(folder_ / "calls");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::string wheel() { return "cp '" + folder_ / "p.whl" + "' \"$dest/p-1.0-py3-none-any.whl\"\n"; }

  TempFolder folder_;
  SourceOptions options_;
};

TEST_F(PypiTest, FetchedOnceAndReadInPlace) {
  python(wheel());
  for (const char* spec : {"pypi:P_x==1.0", "pypi:p-x==1.0"}) {
    auto tree = open(spec, options_);
    EXPECT_THAT(paths_of(*tree), ElementsAre("p.py"));
    EXPECT_EQ(tree->identity().spec, spec);
    EXPECT_EQ(tree->identity().kind, "wheel");
  }
  ASSERT_EQ(calls().size(), 1u);
  EXPECT_THAT(calls()[0], StartsWith("-m pip download --no-deps --no-input "));
  EXPECT_THAT(calls()[0], HasSubstr(" --only-binary=:all: P_x==1.0"));
}

TEST_F(PypiTest, WheelsForOtherMachinesThenTheSourceArchive) {
  const std::string none = "echo 'ERROR: No matching distribution found for p==1.0' >&2; exit 1\n";
  python("case \"$*\" in *manylinux_2_28_x86_64*) " + wheel() + ";; *) " + none + ";; esac\n");
  EXPECT_TRUE(open("pypi:p==1.0", options_));
  fs::remove_all(folder_ / "cache");
  python("case \"$*\" in *'--no-binary p'*) " + wheel() + ";; *) " + none + ";; esac\n");
  EXPECT_TRUE(open("pypi:p==1.0", options_));
  fs::remove_all(folder_ / "cache");
  python(none);
  EXPECT_EQ(error_of("pypi:p==1.0", options_),
            "pypi:p==1.0: pip could not fetch it: No matching distribution found for p==1.0");
  EXPECT_TRUE(fs::is_empty(folder_ / "cache/pypi")) << "nothing half done is left";
}

TEST_F(PypiTest, PipsComplaintWithoutCredentials) {
  python(
      "echo 'ERROR: HTTP 403 at https://me:secret@host.example/p' >&2; echo '[notice] a new pip' >&2; exit "
      "1\n");
  EXPECT_EQ(error_of("pypi:p==1.0", options_),
            "pypi:p==1.0: pip could not fetch it: HTTP 403 at https://***@host.example/p");
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(PypiTest, ANetworkThatDoesNotAnswerIsAskedOnce) {
  python(
      "echo 'WARNING: Retrying (Retry(total=0)) after connection broken' >&2\n"
      "echo 'ERROR: No matching distribution found for p==1.0' >&2; exit 1\n");
  EXPECT_THAT(error_of("pypi:p==1.0", options_), HasSubstr("No matching distribution found"));
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(PypiTest, TwoRunsAtOnce) {
  // The other run's copy appears while pip is at work.
  const std::string release = folder_ / "cache/pypi/p-1.0";
  python("mkdir '" + release + "'; cp '" + folder_ / "p.whl" + "' '" + release + "/p-1.0-cp312-other.whl'\n" +
         wheel());
  EXPECT_THAT(paths_of(*open("pypi:p==1.0", options_)), ElementsAre("p.py"));
  EXPECT_TRUE(fs::exists(release + "/p-1.0-cp312-other.whl"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "cache/pypi"), {}), 1)
      << "the own copy is removed";
}

TEST_F(PypiTest, ADamagedCopyIsFetchedAgain) {
  python(wheel());
  folder_.write("cache/pypi/p-1.0/p-1.0-py3-none-any.whl", kZip.substr(0, 50));
  EXPECT_THAT(paths_of(*open("pypi:p==1.0", options_)), ElementsAre("p.py"));
  EXPECT_EQ(calls().size(), 1u);
}

TEST_F(PypiTest, OnlyNamesAndVersionsReachPip) {
  python(wheel());
  for (const char* spec : {"pypi:p", "pypi:", "pypi:p==", "pypi:-r==1.0", "pypi:p==1.0 -r x",
                           "pypi:../p==1.0", "pypi:p==--no-deps", "pypi:p[x]==1.0"}) {
    EXPECT_EQ(error_of(spec, options_), std::string(spec) + ": wants pypi:NAME==VERSION");
  }
  EXPECT_TRUE(calls().empty());
}

TEST_F(PypiTest, ACacheThatCannotBeWritten) {
  python(wheel());
  folder_.write("file", "");
  options_.cache_dir = folder_ / "file";
  auto tree = open_source("pypi:p==1.0", options_);
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kIncomplete);
  EXPECT_EQ(tree.error().message, "pypi:p==1.0: the cache folder cannot be written: " + folder_ / "file");
}

TEST_F(PypiTest, NoSuchInterpreter) {
  options_ = {.python = "no-such-python", .cache_dir = folder_ / "cache"};
  EXPECT_EQ(error_of("pypi:p==1.0", options_), "pypi:p==1.0: no-such-python: program not found");
}

}  // namespace
}  // namespace assay
