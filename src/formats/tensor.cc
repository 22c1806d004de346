#include "formats/tensor.h"

#include <array>
#include <cstring>
#include <string>

#include "formats/small_float.h"

namespace assay::num {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

Expected<std::int64_t> element_count(const Shape& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      return fail("dimension " + std::to_string(i) + " is negative (" + std::to_string(shape[i]) + ")");
    if (shape[i] == 0) {
      empty = true;
      continue;
    }
    if (count > kMost / shape[i]) return fail("the size overflows at dimension " + std::to_string(i));
    count *= shape[i];
  }
  return empty ? 0 : count;
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Expected<TensorView> TensorView::make(std::span<std::byte> bytes, DType type, Shape shape, Shape strides,
                                      std::int64_t offset) {
  if (shape.size() != strides.size())
    return fail("a shape of rank " + std::to_string(shape.size()) + " with " +
                std::to_string(strides.size()) + " strides");
  const auto count = element_count(shape);
  if (!count) return tl::unexpected(count.error());
  if (bytes.size() > static_cast<std::size_t>(kMost / 8))
    return fail("the bytes are more than can be addressed");
  const std::int64_t held = static_cast<std::int64_t>(bytes.size()) * 8 / dtype_bits(type);
  std::int64_t lowest = offset, highest = offset;
  if (*count > 0) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t reach = 0, *end = strides[i] < 0 ? &lowest : &highest;
      if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
          __builtin_add_overflow(*end, reach, end))
        return fail("the reach of dimension " + std::to_string(i) + " overflows");
    }
    if (lowest < 0 || highest >= held)
      return fail("the view reaches elements " + std::to_string(lowest) + " to " + std::to_string(highest) +
                  " of " + std::to_string(held));
  }
  TensorView view;
  view.bytes_ = bytes;
  view.type_ = type;
  view.shape_ = std::move(shape);
  view.strides_ = std::move(strides);
  view.offset_ = offset;
  return view;
}

std::int64_t TensorView::index(std::initializer_list<std::int64_t> at) const {
  ASSAY_CHECK(at.size() == shape_.size(), "coordinate of the wrong rank");
  std::int64_t element = offset_;
  std::size_t i = 0;
  for (std::int64_t x : at) {
    ASSAY_CHECK(x >= 0 && x < shape_[i], "coordinate " + std::to_string(i) + " outside the tensor");
    element += x * strides_[i++];
  }
  return element;
}

std::uint64_t TensorView::load_bits(std::int64_t element) const {
  const std::byte* base = bytes_.data();
  switch (dtype_bits(type_)) {
    case 64:
      return read<std::uint64_t>(base + element * 8);
    case 32:
      return read<std::uint32_t>(base + element * 4);
    case 16:
      return read<std::uint16_t>(base + element * 2);
    case 8:
      return static_cast<std::uint64_t>(base[element]);
    default:
      return (static_cast<std::uint64_t>(base[element >> 1]) >> (4 * (element & 1))) & 0xf;
  }
}

void TensorView::store_bits(std::int64_t element, std::uint64_t bits) const {
  std::byte* base = bytes_.data();
  if (const int width = dtype_bits(type_); width >= 8) {
    std::memcpy(base + element * (width / 8), &bits,
                static_cast<std::size_t>(width / 8));  // little-endian hosts only
    return;
  }
  const int shift = 4 * static_cast<int>(element & 1);
  std::byte& cell = base[element >> 1];
  cell = (cell & ~(std::byte{0xf} << shift)) | (static_cast<std::byte>(bits & 0xf) << shift);
}

double TensorView::load(std::int64_t element) const {
  const std::uint64_t bits = load_bits(element);
  if (type_ == DType::kBf16) return bf16_to_float(static_cast<std::uint16_t>(bits));
  return dtype_bits(type_) <= 16 ? decoded_patterns(type_)[bits] : decode(type_, bits);
}

void TensorView::set(std::initializer_list<std::int64_t> coordinate, double value) const {
  store_bits(index(coordinate), encode(type_, value));
}

void TensorView::load_row(std::initializer_list<std::int64_t> start, std::int64_t count, double* to) const {
  std::int64_t element = index(start);
  const std::int64_t step = strides_.back();
  if (type_ == DType::kBf16 && step == 1) {
    const std::byte* from = bytes_.data() + element * 2;
    for (std::int64_t i = 0; i < count; ++i) to[i] = bf16_to_float(read<std::uint16_t>(from + 2 * i));
    return;
  }
  if (dtype_bits(type_) == 8 && step == 1) {
    const float* meaning = decoded_patterns(type_);
    for (std::int64_t i = 0; i < count; ++i) to[i] = meaning[static_cast<std::size_t>(bytes_[element + i])];
    return;
  }
  for (std::int64_t i = 0; i < count; ++i, element += step) to[i] = load(element);
}

}  // namespace assay::num
