#include "cases/sparse_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace assay::num {

Expected<SparseBuffer> SparseBuffer::make(std::size_t size) {
  SparseBuffer buffer;
  if (size == 0) return buffer;
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return fail(ErrorKind::kIncomplete,
                fmt::format("{} bytes of address space: {}", size, std::strerror(errno)));
  buffer.bytes_ = {static_cast<std::byte*>(at), size};
  return buffer;
}

SparseBuffer::SparseBuffer(SparseBuffer&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

SparseBuffer& SparseBuffer::operator=(SparseBuffer&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

SparseBuffer::~SparseBuffer() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace assay::num
