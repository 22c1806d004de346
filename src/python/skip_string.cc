#include "python/skip_string.h"

#include <cstring>

namespace assay {
namespace {

struct Prefix {
  bool raw = false;
  bool formatted = false;
};

// Reads `rb`, `F`, … that ends right before the quote.
Prefix prefix_before(std::string_view text, size_t quote) {
  Prefix prefix;
  size_t i = quote;
  while (i > 0 && is_identifier_byte(text[i - 1])) {
    if (quote - i == 2) return {};  // longer than any prefix: some word
    char c = static_cast<char>(text[--i] | 32);
    if (c == 'r') {
      prefix.raw = true;
    } else if (c == 'f' || c == 't') {
      prefix.formatted = true;
    } else if (c != 'b' && c != 'u') {
      return {};
    }
  }
  return prefix;
}

bool is_triple(std::string_view text, size_t i) { return i + 2 < text.size() && text[i + 1] == text[i] && text[i + 2] == text[i]; }

SkippedString skip_plain(std::string_view text, size_t begin) {
  const char quote = text[begin];
  const bool triple = is_triple(text, begin);
  const size_t length = triple ? 3 : 1;
  for (size_t at = begin + length; at < text.size();) {
    const char c = text[at];
    if (c == '\\') {
      at += at + 2 < text.size() && text[at + 1] == '\r' && text[at + 2] == '\n' ? 3 : 2;
    } else if (c == quote && (!triple || is_triple(text, at))) {
      return {at + length, true};
    } else if (c == '\n' && !triple) {
      return {at, false};
    } else {
      ++at;
    }
  }
  return {text.size(), false};
}

// One level of the nesting: a string, a placeholder `{…}` in it, or the format behind the placeholder's
// colon.
struct Level {
  enum Mode : uint8_t { kText, kCode, kFormat } mode;
  char quote = 0;  // of the innermost string
  bool triple = false;
  Prefix prefix;
  size_t brackets = 0;    // kCode: how many are open
  size_t code_begin = 0;  // kCode
};

class StringSkipper {
 public:
  StringSkipper(std::string_view text, std::vector<CodeRegion>* code) : text_(text), code_(code) {}

  SkippedString skip(size_t quote) {
    open_string(quote);
    while (!levels_.empty()) {
      if (at_ >= text_.size()) return {text_.size(), false};
      bool going = levels_.back().mode == Level::kText     ? step_text()
                   : levels_.back().mode == Level::kFormat ? step_format()
                                                           : step_code();
      if (!going) return {at_, false};
    }
    return {at_, true};
  }

 private:
  void open_string(size_t quote) {
    Level level{Level::kText, text_[quote], false, prefix_before(text_, quote), 0, 0};
    level.triple = is_triple(text_, quote);
    at_ = quote + (level.triple ? 3 : 1);
    levels_.push_back(level);
  }

  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool step_text() {
    Level& level = levels_.back();
    char c = text_[at_];
    if (c == '\\') {
      skip_escape(level);
    } else if (c == level.quote && (!level.triple || is_triple(text_, at_))) {
      at_ += level.triple ? 3 : 1;
      levels_.pop_back();
      if (!levels_.empty()) levels_.back().code_begin = at_;
    } else if (c == '\n' && !level.triple) {
      return false;
    } else if (c == '{' && level.prefix.formatted) {
      if (peek(1) == '{') {
        at_ += 2;
      } else {
        open_placeholder();
      }
    } else {
      ++at_;
    }
    return true;
  }

  void skip_escape(const Level& level) {
    char next = peek(1);
    if (level.prefix.formatted && next == '{') {
      at_ += 1;  // a backslash does not hide a placeholder
    } else if (level.prefix.formatted && !level.prefix.raw && next == 'N' && peek(2) == '{') {
      at_ += 3;  // \N{NAME}
    } else if (next == '\r' && peek(2) == '\n') {
      at_ += 3;
    } else {
      at_ += 2;
    }
  }

  void open_placeholder() {
    ++at_;
    Level level = levels_.back();  // the quotes of the string around it, for the format part
    level.mode = Level::kCode;
    level.brackets = 0;
    level.code_begin = at_;
    levels_.push_back(level);
  }

  void close_code(const Level& level) {
    if (code_ && at_ > level.code_begin) code_->push_back({level.code_begin, at_});
  }

  // The format behind `{value:` ends with the placeholder; it may hold placeholders again.
  bool step_format() {
    char c = text_[at_];
    const Level& level = levels_.back();
    if (c == '}') {
      ++at_;
      levels_.pop_back();
    } else if (c == '{') {
      open_placeholder();
    } else if ((c == '\n' && !level.triple) || (c == level.quote && (!level.triple || is_triple(text_, at_)))) {
      return false;
    } else {
      ++at_;
    }
    return true;
  }

  bool skip_comment(Level& level) {
    const void* newline = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
    if (!newline) return false;
    at_ = static_cast<size_t>(static_cast<const char*>(newline) - text_.data());
    level.code_begin = at_;
    return true;
  }

  bool step_code() {
    Level& level = levels_.back();
    char c = text_[at_];
    switch (c) {
      case '"':
      case '\'':
        close_code(level);
        open_string(at_);
        return true;
      case '#':
        close_code(level);
        return skip_comment(level);
      case '(':
      case '[':
      case '{':
        ++level.brackets;
        break;
      case ')':
      case ']':
        if (level.brackets == 0) return false;
        --level.brackets;
        break;
      case '}':
        if (level.brackets == 0) {
          close_code(level);
          levels_.pop_back();
        } else {
          --level.brackets;
        }
        break;
      case ':':
        if (level.brackets == 0) {
          close_code(level);
          level.mode = Level::kFormat;
        }
        break;
      default:
        break;
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  std::vector<CodeRegion>* code_;
  size_t at_ = 0;
  std::vector<Level> levels_;
};

}  // namespace

SkippedString skip_string(std::string_view text, size_t quote, std::vector<CodeRegion>* code) {
  // Most strings have no placeholders, and so no levels.
  return prefix_before(text, quote).formatted ? StringSkipper(text, code).skip(quote) : skip_plain(text, quote);
}

}  // namespace assay
