// Memory that assay and a worker both see: the bytes of a tensor are handed over without a copy.
#pragma once

#include <cstddef>
#include <memory>

#include "base/error.h"

namespace assay {

// `size` bytes of an anonymous file (memfd). A page that nobody may touch lies on each side, in both processes, and the
// data ends right before the upper one (up to the alignment of 64 bytes): who writes past the end dies at that
// instruction. Bytes between the data and the pages' bounds hold a pattern that `intact` looks for. The memory is gone with
// the last process that holds it; nothing has a name in the file system.
class SharedBlock {
 public:
  static constexpr size_t kAlignment = 64;

  static Expected<std::shared_ptr<SharedBlock>> make(size_t size);
  ~SharedBlock();
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;

  std::byte* data() const { return mapped_ + offset_; }
  size_t size() const { return size_; }
  size_t offset() const { return offset_; }        // of the data within the file
  size_t file_size() const { return file_size_; }  // whole pages
  int descriptor() const { return fd_; }

  // False when something was written beside the data.
  bool intact() const;

 private:
  SharedBlock() = default;

  int fd_ = -1;
  std::byte* reserved_ = nullptr;  // the lower guard page
  std::byte* mapped_ = nullptr;
  size_t file_size_ = 0, offset_ = 0, size_ = 0;
};

}  // namespace assay
