// A typed, strided window on bytes that somebody else owns. Never copies; every address is checked when it is
// made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "formats/dtype.h"

namespace assay::num {

using Shape = std::vector<std::int64_t>;

// Number of elements, or an error that names the offending dimension (negative, or the product overflows
// 2^62).
Expected<std::int64_t> element_count(const Shape& shape);

// Row-major strides in elements.
Shape contiguous_strides(const Shape& shape);

class TensorView {
 public:
  TensorView() = default;

  // shape, strides and offset are in elements (nibbles for the 4-bit types); strides may be 0 or negative.
  // Error: names what is wrong, or the reach of the view when it leaves the bytes.
  static Expected<TensorView> make(std::span<std::byte> bytes, DType type, Shape shape, Shape strides,
                                   std::int64_t offset = 0);

  DType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  const Shape& strides() const { return strides_; }
  std::int64_t offset() const { return offset_; }
  std::span<std::byte> bytes() const { return bytes_; }

  // Element index of a coordinate inside the bytes; the number of coordinates must be the rank.
  std::int64_t index(std::initializer_list<std::int64_t> at) const;

  double load(std::int64_t element) const;
  std::uint64_t load_bits(std::int64_t element) const;
  void store_bits(std::int64_t element, std::uint64_t bits) const;

  double at(std::initializer_list<std::int64_t> coordinate) const { return load(index(coordinate)); }
  // Rounds to nearest even into the view's type; overflow saturates.
  void set(std::initializer_list<std::int64_t> coordinate, double value) const;

  // count elements from a coordinate on along the last dimension, as doubles.
  void load_row(std::initializer_list<std::int64_t> start, std::int64_t count, double* to) const;

 private:
  std::span<std::byte> bytes_;
  DType type_ = DType::kF32;
  Shape shape_, strides_;
  std::int64_t offset_ = 0;
};

}  // namespace assay::num
