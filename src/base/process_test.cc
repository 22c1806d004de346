#include "base/process.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace assay {
namespace {

Expected<ProcessResult> shell(const std::string& script, Command command = {}) {
  command.argv = {"sh", "-c", script};
  return run_process(command);
}

TEST(Process, OutputsAndStatus) {
  auto result = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit_status, 3);
  EXPECT_FALSE(result->timed_out);
}

TEST(Process, ArgumentsGoThroughUnchanged) {
  auto result = run_process({.argv = {"printf", "%s|", "a b", "$HOME", "*", ""}});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "a b|$HOME|*||");
}

TEST(Process, EnvironmentIsAddedTo) {
  ::setenv("ASSAY_TEST_OLD", "old", 1);
  auto result = shell("echo $ASSAY_TEST_OLD $ASSAY_TEST_NEW ${PATH:+path}",
                      {.environment = {{"ASSAY_TEST_OLD", "replaced"}, {"ASSAY_TEST_NEW", "new"}}});
  EXPECT_EQ(result->out, "replaced new path\n");
}

TEST(Process, InputIsEmpty) { EXPECT_EQ(shell("cat; echo end")->out, "end\n"); }

TEST(Process, NotFound) {
  auto result = run_process({.argv = {"no-such-program-of-assay"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "no-such-program-of-assay: program not found");
  EXPECT_EQ(run_process({.argv = {"/"}}).error().message, "/: cannot be started: Permission denied");
}

TEST(Process, TimeLimit) {
  const auto start = std::chrono::steady_clock::now();
  auto result = shell("echo begun; exec sleep 60", {.timeout = std::chrono::milliseconds(200)});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->timed_out);
  EXPECT_EQ(result->out, "begun\n");
  EXPECT_EQ(result->exit_status, 137);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Process, PastTheTimeLimitAGrandchildIsKilledToo) {
  auto result = shell("sleep 300 & echo $!; wait", {.timeout = std::chrono::milliseconds(300)});
  ASSERT_TRUE(result && result->timed_out);
  EXPECT_EQ(shell("for i in $(seq 50); do kill -0 " + result->out.substr(0, result->out.find('\n')) +
                  " 2>/dev/null || exit 0; sleep 0.1; done; exit 1")->exit_status, 0);
}

TEST(Process, OutputLimit) {
  auto result = shell("head -c 1000000 /dev/zero", {.max_output = 1000});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.size(), 1000u);
  EXPECT_TRUE(result->output_cut);
  EXPECT_EQ(result->exit_status, 0) << "the rest is read and dropped, the program isn't disturbed";
}

TEST(Process, MuchOutputOnBothPipesDoesNotDeadlock) {
  auto result = shell("head -c 3000000 /dev/zero >&2; head -c 3000000 /dev/zero");
  EXPECT_EQ(result->out.size(), 3000000u);
  EXPECT_EQ(result->err.size(), 3000000u);
}

TEST(Process, AGrandchildThatKeepsThePipeOpenIsNotWaitedFor) {
  const auto start = std::chrono::steady_clock::now();
  auto result = shell("sleep 30 & echo done");
  EXPECT_EQ(result->out, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Process, SignalsShowInTheStatus) { EXPECT_EQ(shell("kill -TERM $$")->exit_status, 143); }

}  // namespace
}  // namespace assay
