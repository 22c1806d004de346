// Where the time goes: named phases, measured by scope.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

// Thread-safe. Times of one name add up, so work that several threads share counts more than the clock on the
// wall.
class Timers {
 public:
  void add(std::string_view name, double seconds);
  // In the order in which the names first came.
  std::vector<std::pair<std::string, double>> seconds() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, double>> seconds_;
};

// Adds the life of this object to `name`.
class ScopedTimer {
 public:
  ScopedTimer(Timers& timers, std::string_view name)
      : timers_(timers), name_(name), start_(std::chrono::steady_clock::now()) {}
  ~ScopedTimer();
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  Timers& timers_;
  std::string name_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace assay
