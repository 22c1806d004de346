#include "base/once.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

namespace assay {
namespace {

TEST(Once, AThrowingCallIsTriedAgain) {
  Once once;
  int calls = 0;
  auto fail = [&] {
    ++calls;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(once.run(fail), std::runtime_error);
  EXPECT_THROW(once.run(fail), std::runtime_error);
  once.run([&] { ++calls; });
  once.run([&] { ++calls; });
  EXPECT_EQ(calls, 3);
}

TEST(Once, ManyThreadsSeeOneCall) {
  Once once;
  int value = 0;
  std::vector<std::thread> threads;
  std::vector<int> seen(8);
  for (int& s : seen) {
    threads.emplace_back([&] {
      once.run([&] { ++value; });
      s = value;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(seen, std::vector<int>(8, 1));
}

}  // namespace
}  // namespace assay
