#include "base/line_printer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"

namespace assay {

namespace {

constexpr size_t kDefaultWidth = 80;
constexpr std::chrono::milliseconds kQuiet{50};

size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kDefaultWidth;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

size_t character_count(std::string_view text) {
  size_t count = 0;
  for (char c : text) count += starts_character(c);
  return count;
}

// Where the character number `index` begins.
size_t character_offset(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_character(text[at]) && index-- == 0) break;
  return at;
}

}  // namespace

bool is_smart_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return ::isatty(fd) != 0 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

std::string elide_middle(std::string_view text, size_t width) {
  size_t count = character_count(text);
  if (count <= width) return std::string(text);
  if (width == 0) return "";
  size_t head = (width - 1) / 2;
  size_t tail = width - 1 - head;
  std::string out(text.substr(0, character_offset(text, head)));
  out += "…";
  out += text.substr(character_offset(text, count - tail));
  return out;
}

LinePrinter::LinePrinter(int fd) : LinePrinter(fd, is_smart_terminal(fd)) {}

void LinePrinter::show(std::string_view line) {
  if (!smart_) return;
  std::lock_guard lock(mutex_);
  auto now = std::chrono::steady_clock::now();
  if (shown_ && now - last_ < kQuiet) return;
  last_ = now;
  shown_ = true;
  // The last column stays free: a terminal may wrap after it.
  write("\r" + elide_middle(printable(line), terminal_width(fd_) - 1) + "\x1b[K");
}

void LinePrinter::clear() {
  std::lock_guard lock(mutex_);
  if (shown_) write("\r\x1b[K");
  shown_ = false;
}

void LinePrinter::write(std::string_view bytes) {
  // Progress that can't be shown is no loss.
  [[maybe_unused]] ssize_t written = ::write(fd_, bytes.data(), bytes.size());
}

}  // namespace assay
