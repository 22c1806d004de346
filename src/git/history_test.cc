#include "git/history.h"

#include <gtest/gtest.h>

#include "git/temp_repository.h"

namespace assay {
namespace {

class HistoryTest : public ::testing::Test {
 protected:
  HistoryTest() {
    // base - one - (merge of side) - three
    base_ = repo_.commit("base");
    repo_.git({"checkout", "-q", "-b", "side"});
    side_ = repo_.commit("side");
    repo_.git({"checkout", "-q", "main"});
    one_ = repo_.commit("one");
    repo_.git({"merge", "-q", "--no-ff", "-m", "merge", "side"});
    three_ = repo_.commit("three");
    path_ = repo_.path().string();
  }
  std::string summaries(const std::string& older, const std::string& newer) {
    auto commits = first_parent_commits(path_, older, newer);
    if (!commits) return commits.error().message;
    std::string all;
    for (const HistoryCommit& commit : *commits) all += commit.summary + ' ';
    return all;
  }

  TempRepository repo_;
  std::string path_, base_, side_, one_, three_;
};

TEST_F(HistoryTest, FirstParentsNewestFirst) {
  EXPECT_EQ(summaries(base_, "main"), "three merge one ");
  EXPECT_EQ(summaries(one_, three_), "three merge ");
  EXPECT_EQ(summaries("side", "main"), "three merge one ");
  EXPECT_EQ(summaries("main", base_), "");
  auto commits = first_parent_commits(path_, one_, three_);
  EXPECT_EQ((*commits)[0].id, three_);
  EXPECT_EQ((*commits)[0].time, 1700000000);
}

TEST_F(HistoryTest, MergeBase) {
  EXPECT_EQ(*merge_base(path_, one_, side_), base_);
  EXPECT_EQ(*merge_base(path_, "main", side_), side_);
  repo_.git({"checkout", "-q", "--orphan", "alone"});
  repo_.commit("alone");
  EXPECT_EQ(merge_base(path_, "main", "alone").error().message,
            path_ + ": 'main' and 'alone' have no common ancestor");
}

TEST_F(HistoryTest, UnknownRevision) {
  EXPECT_EQ(summaries("nope", "main"), path_ + ": unknown revision 'nope'");
  EXPECT_EQ(merge_base(path_, "main", "nope").error().message, path_ + ": unknown revision 'nope'");
  EXPECT_EQ(summaries("main^{tree}", "main"), path_ + ": 'main^{tree}' is not a commit");
}

}  // namespace
}  // namespace assay
