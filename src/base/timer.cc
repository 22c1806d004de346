#include "base/timer.h"

#include <algorithm>

namespace assay {

void Timers::add(std::string_view name, double seconds) {
  std::lock_guard lock(mutex_);
  auto found = std::ranges::find(seconds_, name, &std::pair<std::string, double>::first);
  if (found == seconds_.end())
    seconds_.emplace_back(name, seconds);
  else
    found->second += seconds;
}

std::vector<std::pair<std::string, double>> Timers::seconds() const {
  std::lock_guard lock(mutex_);
  return seconds_;
}

ScopedTimer::~ScopedTimer() {
  timers_.add(name_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
}

}  // namespace assay
