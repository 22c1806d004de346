// Bytes that cost memory only where they are touched, so that caches with addresses beyond 2^32 fit anywhere.
#pragma once

#include <cstddef>
#include <span>

#include "base/error.h"

namespace assay::num {

class SparseBuffer {
 public:
  SparseBuffer() = default;
  // Zeroed. Error: the system's, with the size.
  static Expected<SparseBuffer> make(std::size_t size);
  SparseBuffer(SparseBuffer&& other) noexcept;
  SparseBuffer& operator=(SparseBuffer&& other) noexcept;
  ~SparseBuffer();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace assay::num
