#include "base/hash.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Hash, KnownValues) {
  // The published XXH3-128 value of no bytes, seed 0.
  EXPECT_EQ(content_hash(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_hash("a"), content_hash("b"));
}

TEST(Hash, PiecesGiveTheHashOfTheWhole) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 7);
  Hasher hasher;
  hasher.add(std::string_view(bytes).substr(0, 1));
  hasher.add(std::string_view(bytes).substr(1, 3000));
  hasher.add(std::string_view(bytes).substr(3001));
  EXPECT_EQ(hasher.hex(), content_hash(bytes));
}

}  // namespace
}  // namespace assay
