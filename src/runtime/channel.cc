#include "runtime/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace assay {
namespace {

constexpr size_t kHeader = 4;

void put_length(char* out, size_t length) {
  for (size_t i = 0; i < kHeader; ++i) out[i] = static_cast<char>(length >> (8 * i));
}

size_t length_of(std::string_view header) {
  size_t length = 0;
  for (size_t i = 0; i < kHeader; ++i) length |= static_cast<size_t>(static_cast<uint8_t>(header[i])) << (8 * i);
  return length;
}

// One sendmsg; the descriptors go with its first byte.
ssize_t send_some(int fd, std::string_view bytes, const std::vector<int>& descriptors) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  std::vector<char> control(descriptors.empty() ? 0 : CMSG_SPACE(descriptors.size() * sizeof(int)));
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
  }
  return ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

void Channel::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool Channel::send(std::string_view message, const std::vector<int>& descriptors, std::chrono::milliseconds limit) {
  if (fd_ < 0) return false;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::string all(kHeader, '\0');
  put_length(all.data(), message.size());
  all += message;
  std::string_view rest = all;
  bool first = true;
  while (!rest.empty()) {
    ssize_t sent = send_some(fd_, rest, first ? descriptors : std::vector<int>{});
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd wait{fd_, POLLOUT, 0};
      ::poll(&wait, 1, 20);
      if (std::chrono::steady_clock::now() >= deadline) return false;
      continue;
    }
    if (sent <= 0) return false;
    first = false;
    rest.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

Channel::Got Channel::take(std::string& message) {
  if (pending_.size() < kHeader) return Got::kNothing;
  const size_t length = length_of(pending_);
  if (length > kMostBytes) return Got::kGarbage;
  if (pending_.size() < kHeader + length) return Got::kNothing;
  message.assign(pending_, kHeader, length);
  pending_.erase(0, kHeader + length);
  return Got::kMessage;
}

Channel::Got Channel::receive(std::string& message) {
  if (Got got = take(message); got != Got::kNothing) return got;
  if (fd_ < 0) return Got::kEnd;
  for (char buffer[1 << 16];;) {
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got > 0) {
      pending_.append(buffer, static_cast<size_t>(got));
      if (static_cast<size_t>(got) < sizeof buffer) return take(message);
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      return take(message);
    } else {
      const Got last = take(message);
      return last == Got::kNothing ? Got::kEnd : last;
    }
  }
}

}  // namespace assay
