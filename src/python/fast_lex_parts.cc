// Operators, strings and f-strings of FastLexer.
#include <cstring>

#include "python/fast_lex.h"

namespace assay {
namespace {

struct Prefix {
  bool raw = false, bytes = false, formatted = false, valid = true;
};

Prefix read_prefix(std::string_view text) {
  Prefix out;
  bool unicode = false;
  for (char c : text) {
    char lower = static_cast<char>(c | 32);
    bool& flag = lower == 'r' ? out.raw : lower == 'b' ? out.bytes : lower == 'f' ? out.formatted : unicode;
    if (flag || (&flag == &unicode && lower != 'u')) out.valid = false;
    flag = true;
  }
  if ((unicode && text.size() > 1) || (out.bytes && out.formatted)) out.valid = false;
  return out;
}

}  // namespace

bool FastLexer::read_one_char() {
  switch (*p_) {
    case '(':
      ++brackets_;
      set(Tok::kLeftParen, 1);
      return true;
    case '[':
      ++brackets_;
      set(Tok::kLeftBracket, 1);
      return true;
    case '{':
      ++brackets_;
      set(Tok::kLeftBrace, 1);
      return true;
    case ')':
      --brackets_;
      set(Tok::kRightParen, 1);
      return true;
    case ']':
      --brackets_;
      set(Tok::kRightBracket, 1);
      return true;
    case '}':
      --brackets_;
      set(Tok::kRightBrace, 1);
      return true;
    case ',':
      set(Tok::kComma, 1);
      return true;
    case ';':
      set(Tok::kSemicolon, 1);
      return true;
    case '~':
      set(Tok::kTilde, 1);
      return true;
    default:
      return false;
  }
}

void FastLexer::read_operator() {
  if (read_one_char()) return;
  char c = *p_, second = peek(1), third = peek(2);
  auto simple = [&](Tok plain) { second == '=' ? set(Tok::kAugmented, 2) : set(plain, 1); };
  auto doubling = [&](Tok plain, Tok doubled) {
    if (second != c) return simple(plain);
    third == '=' ? set(Tok::kAugmented, 3) : set(doubled, 2);
  };
  switch (c) {
    case ':':
      return second == '=' ? set(Tok::kWalrus, 2) : set(Tok::kColon, 1);
    case '=':
      return second == '=' ? set(Tok::kEqual, 2) : set(Tok::kAssign, 1);
    case '!':
      return second == '=' ? set(Tok::kNotEqual, 2) : set(Tok::kBang, 1);
    case '-':
      return second == '>' ? set(Tok::kArrow, 2) : simple(Tok::kMinus);
    case '+':
      return simple(Tok::kPlus);
    case '%':
      return simple(Tok::kPercent);
    case '@':
      return simple(Tok::kAt);
    case '|':
      return simple(Tok::kPipe);
    case '&':
      return simple(Tok::kAmpersand);
    case '^':
      return simple(Tok::kCaret);
    case '*':
      return doubling(Tok::kStar, Tok::kDoubleStar);
    case '/':
      return doubling(Tok::kSlash, Tok::kDoubleSlash);
    case '<':
      if (second == '<') return doubling(Tok::kLess, Tok::kShiftLeft);
      return second == '=' ? set(Tok::kLessEqual, 2) : set(Tok::kLess, 1);
    case '>':
      if (second == '>') return doubling(Tok::kGreater, Tok::kShiftRight);
      return second == '=' ? set(Tok::kGreaterEqual, 2) : set(Tok::kGreater, 1);
    case '.':
      if (second >= '0' && second <= '9') return read_number();
      return second == '.' && third == '.' ? set(Tok::kEllipsis, 3) : set(Tok::kDot, 1);
    default:
      throw Unsure();
  }
}

bool FastLexer::at_quotes(char quote, bool triple) const {
  return peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote));
}

void FastLexer::read_string(uint32_t start, std::string_view prefix_text) {
  Prefix prefix = read_prefix(prefix_text);
  if (!prefix.valid) throw Unsure();
  comments_.resize(continuations_);  // the scanner takes a backslash before a string for blank
  char quote = *p_;
  bool triple = peek(1) == quote && peek(2) == quote;
  p_ += triple ? 3 : 1;
  if (prefix.formatted) {
    format_ = {quote, triple, prefix.raw};
    token_ = {Tok::kFormatString, start, here()};
    return;
  }
  skip_string_body(quote, triple, prefix.raw, prefix.bytes);
  token_ = {Tok::kString, start, here()};
}

// To the end of the closing quotes.
void FastLexer::skip_string_body(char quote, bool triple, bool raw, bool bytes) {
  for (; p_ < end_; ++p_) {
    char c = *p_;
    if (c == '\\') {
      skip_escape(raw, bytes);
    } else if (c == quote) {
      if (!at_quotes(quote, triple)) continue;
      p_ += triple ? 3 : 1;
      return;
    } else if (c == '\n' && !triple) {
      break;
    }
  }
  throw Unsure();
}

// To the last byte of it.
void FastLexer::skip_escape(bool raw, bool bytes) {
  char c = peek(1);
  if (c == '\0') throw Unsure();
  if (!raw && bytes && (c == 'N' || c == 'u' || c == 'U')) throw Unsure();  // the scanner skips one more
  ++p_;
  if (raw || bytes || c != 'N' || peek(1) != '{') return;
  // `\N{…}`, whatever is in the braces.
  for (p_ += 2; p_ < end_ && *p_ != '}'; ++p_) {
    if (*p_ == '\n' || *p_ == '"' || *p_ == '\'' || *p_ == '{') throw Unsure();
  }
  if (p_ == end_ || p_[-1] == '{') throw Unsure();
}

void FastLexer::open_placeholder(uint32_t& brace) {
  brace = here();
  ++brackets_;
  ++placeholders_;
  ++p_;
  next();
}

bool FastLexer::format_text(const FormatString& string, uint32_t& brace) {
  for (; p_ < end_; ++p_) {
    char c = *p_;
    if (c == '\\') {
      char escaped = peek(1);
      bool plain = escaped == '{' || escaped == '}' ||
                   (string.raw && escaped != string.quote && escaped != '\\' && escaped != '\n');
      if (!plain) skip_escape(string.raw, false);
    } else if (c == string.quote) {
      if (!at_quotes(string.quote, string.triple)) continue;
      p_ += string.triple ? 3 : 1;
      token_.end = here();
      return false;
    } else if (c == '{' || c == '}') {
      if (peek(1) != c) {
        if (c == '}') throw Unsure();
        open_placeholder(brace);
        return true;
      }
      ++p_;
    } else if (c == '\n' && !string.triple) {
      break;
    }
  }
  throw Unsure();
}

bool FastLexer::format_spec(const FormatString& string, uint32_t& brace) {
  for (; p_ < end_; ++p_) {
    char c = *p_;
    if (c == '}') {
      --brackets_;
      last_end_ = here();
      set(Tok::kRightBrace, 1);
      return false;
    }
    if (c == '{') {
      if (peek(1) == '{') throw Unsure();
      open_placeholder(brace);
      return true;
    }
    if (c == '\n' || c == '\\' || c == string.quote) break;
  }
  throw Unsure();
}

void FastLexer::take_conversion() {
  char c = peek();
  if (c < 'a' || c > 'z') throw Unsure();
  ++p_;
  token_.end = here();
  next();
}

namespace {

// One character beyond ASCII: its length, 0 if it is none of UTF-8.
size_t utf8_length(const unsigned char* p, size_t left) {
  size_t length = *p >= 0xF0 ? 4 : *p >= 0xE0 ? 3 : 2;
  if (*p < 0xC2 || *p > 0xF4 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((p[i] & 0xC0) != 0x80) return 0;
  }
  bool overlong = (*p == 0xE0 && p[1] < 0xA0) || (*p == 0xF0 && p[1] < 0x90);
  bool surrogate = *p == 0xED && p[1] >= 0xA0;
  bool too_large = *p == 0xF4 && p[1] >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  constexpr size_t kStep = 32;  // a loop of known length becomes vectors
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = text.size(), i = 0;
  unsigned char bad = 0, high = 0;
  auto look = [&](unsigned char c) {
    bad = static_cast<unsigned char>(bad | ((c < 32) & (c != '\n') & (c != '\t')));
    high |= c;
  };
  for (; i + kStep <= size; i += kStep) {
    for (size_t k = 0; k < kStep; ++k) look(p[i + k]);
  }
  for (; i < size; ++i) look(p[i]);
  if (bad) return false;
  for (i = 0; high >= 0x80 && i < size;) {
    size_t length = p[i] < 0x80 ? 1 : utf8_length(p + i, size - i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

}  // namespace assay
