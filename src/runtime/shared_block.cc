#include "runtime/shared_block.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace assay {
namespace {

constexpr std::byte kPattern{0xA5};

size_t page_size() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

tl::unexpected<Error> no_memory(size_t size) {
  return fail(ErrorKind::kIncomplete, fmt::format("cannot share {} bytes of memory: {}", size, std::strerror(errno)));
}

}  // namespace

Expected<std::shared_ptr<SharedBlock>> SharedBlock::make(size_t size) {
  const size_t page = page_size();
  std::shared_ptr<SharedBlock> block(new SharedBlock());
  block->size_ = size;
  block->file_size_ = std::max<size_t>(1, (size + page - 1) / page) * page;
  block->offset_ = (block->file_size_ - size) / kAlignment * kAlignment;
  block->fd_ = ::memfd_create("assay", MFD_CLOEXEC);
  if (block->fd_ < 0 || ::ftruncate(block->fd_, static_cast<off_t>(block->file_size_)) != 0) return no_memory(size);
  void* reserved = ::mmap(nullptr, block->file_size_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return no_memory(size);
  block->reserved_ = static_cast<std::byte*>(reserved);
  void* mapped = ::mmap(block->reserved_ + page, block->file_size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, block->fd_, 0);
  if (mapped == MAP_FAILED) return no_memory(size);
  block->mapped_ = static_cast<std::byte*>(mapped);
  std::fill_n(block->mapped_, block->offset_, kPattern);
  std::fill_n(block->data() + size, block->file_size_ - block->offset_ - size, kPattern);
  return block;
}

SharedBlock::~SharedBlock() {
  if (reserved_ != nullptr) ::munmap(reserved_, file_size_ + 2 * page_size());
  if (fd_ >= 0) ::close(fd_);
}

bool SharedBlock::intact() const {
  auto untouched = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == kPattern; });
  };
  return untouched(mapped_, data()) && untouched(data() + size_, mapped_ + file_size_);
}

}  // namespace assay
