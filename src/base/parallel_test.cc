#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

TEST(Parallel, CallsEachIndexOnce) {
  for (int threads : {0, 1, 2, 7}) {
    std::vector<std::atomic<int>> calls(1000);
    parallel_for(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    for (auto& count : calls) ASSERT_EQ(count.load(), 1);
  }
}

TEST(Parallel, NothingToDo) {
  parallel_for(0, 4, [](size_t) { FAIL(); });
}

TEST(Parallel, ThrowsTheFirstExceptionAfterAllHaveEnded) {
  std::atomic<int> running{0};
  auto fn = [&](size_t i) {
    ++running;
    if (i == 3) {
      --running;
      throw std::runtime_error("three");
    }
    --running;
  };
  EXPECT_THROW(parallel_for(100, 4, fn), std::runtime_error);
  EXPECT_EQ(running.load(), 0);
}

TEST(Parallel, DefaultIsAtLeastOne) { EXPECT_GE(default_threads(), 1); }

}  // namespace
}  // namespace assay
