#include "python/c3.h"

#include <gtest/gtest.h>

#include <string>

namespace assay {
namespace {

using Ids = std::vector<std::string>;

TEST(C3, Diamond) {
  Ids o{"O"}, b{"B", "O"}, c{"C", "O"};
  EXPECT_EQ(c3_linearize<std::string>("D", {"B", "C"}, {b, c}), (Ids{"D", "B", "C", "O"}));
  EXPECT_EQ(c3_linearize<std::string>("O", {}, {}), o);
}

TEST(C3, MixinBeforeItsOwnBase) {
  Ids base{"Base", "O"}, mixin{"Mixin", "Base", "O"};
  EXPECT_EQ(c3_linearize<std::string>("X", {"Mixin", "Base"}, {mixin, base}),
            (Ids{"X", "Mixin", "Base", "O"}));
  EXPECT_EQ(c3_linearize<std::string>("X", {"Base", "Mixin"}, {base, mixin}), std::nullopt);
}

TEST(C3, ConflictingOrders) {
  Ids x{"X", "A", "B", "O"}, y{"Y", "B", "A", "O"};
  EXPECT_EQ(c3_linearize<std::string>("Z", {"X", "Y"}, {x, y}), std::nullopt);
}

TEST(C3, DuplicateBase) {
  Ids a{"A", "O"};
  EXPECT_EQ(c3_linearize<std::string>("Z", {"A", "A"}, {a, a}), std::nullopt);
}

TEST(C3, Merge) {
  EXPECT_EQ(c3_merge<int>({}), (std::vector<int>{}));
  EXPECT_EQ(c3_merge<int>({{}, {1, 2}, {}, {3, 2}}), (std::vector<int>{1, 3, 2}));
  EXPECT_EQ(c3_merge<int>({{1, 2}, {2, 1}}), std::nullopt);
}

}  // namespace
}  // namespace assay
