#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace assay {

namespace {

// 0, or the errno of what failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

Expected<void> write_stdout(std::string_view text) {
  int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return {};
  return fail(ErrorKind::kIncomplete,
              fmt::format("cannot write to standard output: {}", std::strerror(error)));
}

// An interrupt that comes while the temporary file exists waits until it is renamed or removed.
class HoldInterrupts {
 public:
  HoldInterrupts() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~HoldInterrupts() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HoldInterrupts(const HoldInterrupts&) = delete;
  HoldInterrupts& operator=(const HoldInterrupts&) = delete;

 private:
  sigset_t before_;
};

// Writes and closes `fd`; the file is on the disk when this returns 0.
int write_and_close(int fd, std::string_view text) {
  int error = write_all(fd, text);
  if (error == 0 && ::fsync(fd) != 0 && errno != EINVAL) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  return error;
}

tl::unexpected<Error> cannot_write(ErrorKind kind, const std::string& path, int error) {
  return fail(kind, fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

// The permissions of the file that is replaced, else what a new file gets.
mode_t mode_for(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0) return info.st_mode & 07777;
  mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

Expected<void> replace_file(const std::string& path, std::string_view text) {
  HoldInterrupts hold;
  std::string temporary = path + ".XXXXXX";
  int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return cannot_write(ErrorKind::kIncomplete, path, errno);
  ::fchmod(fd, mode_for(path));
  int error = write_and_close(fd, text);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return cannot_write(ErrorKind::kIncomplete, path, error);
}

// /dev/stdout, a named pipe or a terminal is written to, never replaced.
bool is_special(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

Expected<void> write_special(const std::string& path, std::string_view text) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  int error = fd < 0 ? errno : write_all(fd, text);
  if (fd >= 0) ::close(fd);
  if (error == 0 || error == EPIPE) return {};
  return cannot_write(ErrorKind::kIncomplete, path, error);
}

// What a symbolic link leads to is replaced, not the link.
std::string real_path(const std::string& path) {
  std::error_code error;
  // Absolute first: of a bare name that is not there yet, weakly_canonical makes no folder.
  auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : real.string();
}

bool is_stdout(const std::string& path) { return path.empty() || path == "-"; }

}  // namespace

Expected<void> check_output(const std::string& path) {
  if (is_stdout(path)) return {};
  struct stat info;
  std::string file = real_path(path);
  if (::stat(file.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return cannot_write(ErrorKind::kUsage, path, EISDIR);
    if (::access(file.c_str(), W_OK) != 0) return cannot_write(ErrorKind::kUsage, path, errno);
    if (!S_ISREG(info.st_mode)) return {};
  }
  std::string folder = std::filesystem::path(file).parent_path().string();
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return cannot_write(ErrorKind::kUsage, path, errno);
  return {};
}

Expected<void> write_output(const std::string& path, std::string_view text) {
  if (is_stdout(path)) return write_stdout(text);
  if (is_special(path)) return write_special(path, text);
  return replace_file(real_path(path), text);
}

}  // namespace assay
