#include "formats/tensor.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::num {
namespace {

std::vector<std::byte> bytes(std::size_t n) { return std::vector<std::byte>(n); }

TEST(Tensor, StridedOffsetAndNegativeStrides) {
  auto storage = bytes(64);
  auto all = TensorView::make(storage, DType::kF16, {32}, {1});
  ASSERT_TRUE(all);
  for (int i = 0; i < 32; ++i) all->set({i}, i);
  auto view = TensorView::make(storage, DType::kF16, {3, 2}, {-8, 3}, 20);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->at({0, 0}), 20);
  EXPECT_EQ(view->at({2, 1}), 20 - 16 + 3);
  double row[2];
  view->load_row({1, 0}, 2, row);
  EXPECT_EQ(row[1], 15);
}

TEST(Tensor, NibblesShareAByte) {
  auto storage = bytes(2);
  auto view = TensorView::make(storage, DType::kI4, {4}, {1});
  ASSERT_TRUE(view);
  for (int i = 0; i < 4; ++i) view->set({i}, i - 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(view->at({i}), i - 2);
  EXPECT_EQ(static_cast<int>(storage[0]), 0xfe);
}

TEST(Tensor, BadViewsAreNamed) {
  auto storage = bytes(16);
  const auto message = [&](Shape shape, Shape strides, std::int64_t offset) {
    auto view = TensorView::make(storage, DType::kF32, shape, strides, offset);
    return view ? std::string() : view.error().message;
  };
  EXPECT_EQ(message({2, 2}, {2, 1}, 0), "");
  EXPECT_EQ(message({0, 5}, {100, 100}, 0), "");  // reaches nothing
  EXPECT_EQ(message({2, 3}, {2, 1}, 1), "the view reaches elements 1 to 5 of 4");
  EXPECT_EQ(message({2}, {-1}, 0), "the view reaches elements -1 to 0 of 4");
  EXPECT_EQ(message({-1}, {1}, 0), "dimension 0 is negative (-1)");
  EXPECT_EQ(message({2}, {1, 1}, 0), "a shape of rank 1 with 2 strides");
  const auto big = std::numeric_limits<std::int64_t>::max() / 2;
  EXPECT_EQ(message({3}, {big}, 5), "the reach of dimension 0 overflows");
  EXPECT_EQ(message({big, 4}, {0, 0}, 0), "the size overflows at dimension 1");
}

TEST(Tensor, EveryWidthRoundTripsItsBits) {
  for (DType type : {DType::kF64, DType::kF32, DType::kBf16, DType::kE4m3fn, DType::kI64, DType::kI32,
                     DType::kI8, DType::kU8, DType::kU4}) {
    auto storage = bytes(64);
    auto view = TensorView::make(storage, type, {3}, {2}, 1);
    ASSERT_TRUE(view);
    view->set({1}, 5);
    EXPECT_EQ(view->at({1}), 5) << dtype_name(type);
    EXPECT_EQ(view->at({0}), 0);
    EXPECT_EQ(view->at({2}), 0);
  }
}

}  // namespace
}  // namespace assay::num
