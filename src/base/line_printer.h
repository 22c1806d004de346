// One line of progress that replaces itself, on a terminal that can do that; nothing at all anywhere else.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace assay {

// True where `fd` is a terminal that understands control sequences.
bool is_smart_terminal(int fd);

// Shortens to at most `width` characters by "…" in the middle: the start says what, the end says which file.
std::string elide_middle(std::string_view text, size_t width);

// Thread-safe. What is shown is gone when this object is.
class LinePrinter {
 public:
  explicit LinePrinter(int fd);
  LinePrinter(int fd, bool smart) : fd_(fd), smart_(smart) {}
  ~LinePrinter() { clear(); }
  LinePrinter(const LinePrinter&) = delete;
  LinePrinter& operator=(const LinePrinter&) = delete;

  // Updates that come within 50 ms of the one before are dropped.
  void show(std::string_view line);
  void clear();

 private:
  void write(std::string_view bytes);

  int fd_;
  bool smart_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
  std::mutex mutex_;
};

}  // namespace assay
