// Work that is done once, on first use, whichever thread asks first. A throwing call leaves it undone, and the next one tries
// again; std::call_once promises the same, but not under every runtime and sanitizer.
#pragma once

#include <atomic>
#include <mutex>

namespace assay {

class Once {
 public:
  // Must not be called again from within `work`.
  template <class Work>
  void run(Work&& work) {
    if (done_.load(std::memory_order_acquire)) return;
    std::lock_guard lock(mutex_);
    if (done_.load(std::memory_order_relaxed)) return;
    work();
    done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> done_ = false;
  std::mutex mutex_;
};

}  // namespace assay
