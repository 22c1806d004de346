// Messages to and from a worker over a socket pair: four bytes of length (little endian), then JSON. Descriptors of shared
// memory travel beside the length.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// Owns its end of the socket pair.
class Channel {
 public:
  static constexpr size_t kMostBytes = size_t{1} << 30;  // a longer message is a damaged one

  explicit Channel(int fd) : fd_(fd) {}
  ~Channel() { close(); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int descriptor() const { return fd_; }
  void close();

  // False when the other side is gone or has not taken all within the limit.
  bool send(std::string_view message, const std::vector<int>& descriptors, std::chrono::milliseconds limit);

  enum class Got { kNothing, kMessage, kEnd, kGarbage };
  // Takes what has come, without waiting; kMessage when a message is complete.
  Got receive(std::string& message);

 private:
  Got take(std::string& message);  // of what has come already

  int fd_;
  std::string pending_;
};

}  // namespace assay
