#include "base/timer.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Timers, AddUpInTheOrderOfFirstUse) {
  Timers timers;
  timers.add("read", 1.0);
  timers.add("bind", 0.5);
  timers.add("read", 0.25);
  auto seconds = timers.seconds();
  ASSERT_EQ(seconds.size(), 2u);
  EXPECT_EQ(seconds[0], (std::pair<std::string, double>("read", 1.25)));
  EXPECT_EQ(seconds[1].first, "bind");
}

TEST(Timers, ScopeIsMeasured) {
  Timers timers;
  { ScopedTimer timer(timers, "parse"); }
  ASSERT_EQ(timers.seconds().size(), 1u);
  EXPECT_GE(timers.seconds()[0].second, 0.0);
}

}  // namespace
}  // namespace assay
