#include "python/fast_lex.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace assay {
namespace {

enum Class : uint8_t { kOtherByte, kBlank, kLetter, kDigit, kQuote };

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> out{};
  for (int c = 'a'; c <= 'z'; ++c) out[c] = out[c - 32] = kLetter;
  for (int c = '0'; c <= '9'; ++c) out[c] = kDigit;
  out['_'] = kLetter;
  out[' '] = out['\t'] = kBlank;
  out['"'] = out['\''] = kQuote;
  return out;
}
constexpr std::array<Class, 256> kClasses = make_classes();

Class class_of(char c) { return kClasses[static_cast<unsigned char>(c)]; }
bool is_word_byte(char c) { return class_of(c) == kLetter || class_of(c) == kDigit; }

struct Keyword {
  std::string_view word;
  Tok token;
};
constexpr Keyword kKeywords[] = {
    {"and", Tok::kAnd},
    {"as", Tok::kAs},
    {"assert", Tok::kAssert},
    {"async", Tok::kAsync},
    {"await", Tok::kAwait},
    {"break", Tok::kBreak},
    {"class", Tok::kClass},
    {"continue", Tok::kContinue},
    {"def", Tok::kDef},
    {"del", Tok::kDel},
    {"elif", Tok::kElif},
    {"else", Tok::kElse},
    {"except", Tok::kExcept},
    {"False", Tok::kFalse},
    {"finally", Tok::kFinally},
    {"for", Tok::kFor},
    {"from", Tok::kFrom},
    {"global", Tok::kGlobal},
    {"if", Tok::kIf},
    {"import", Tok::kImport},
    {"in", Tok::kIn},
    {"is", Tok::kIs},
    {"lambda", Tok::kLambda},
    {"None", Tok::kNone},
    {"nonlocal", Tok::kNonlocal},
    {"not", Tok::kNot},
    {"or", Tok::kOr},
    {"pass", Tok::kPass},
    {"raise", Tok::kRaise},
    {"return", Tok::kReturn},
    {"True", Tok::kTrue},
    {"try", Tok::kTry},
    {"while", Tok::kWhile},
    {"with", Tok::kWith},
    {"yield", Tok::kYield},
};
constexpr size_t kBuckets = 256;

constexpr size_t bucket(const char* word, size_t length) {
  auto byte = [](char c) { return static_cast<size_t>(static_cast<unsigned char>(c)); };
  return (byte(word[0]) + byte(word[1]) + byte(word[length - 1]) + length * 25) % kBuckets;
}

// A hash table without collisions: 1 + the keyword's index.
constexpr std::array<uint8_t, kBuckets> make_keyword_table() {
  std::array<uint8_t, kBuckets> out{};
  uint8_t index = 0;
  for (const Keyword& k : kKeywords) {
    uint8_t& slot = out[bucket(k.word.data(), k.word.size())];
    if (slot != 0) throw "two keywords share a bucket: change bucket()";
    slot = ++index;
  }
  return out;
}
constexpr std::array<uint8_t, kBuckets> kKeywordTable = make_keyword_table();

Tok word_token(const char* word, size_t length) {
  if (length < 2 || length > 8) return Tok::kName;
  uint8_t slot = kKeywordTable[bucket(word, length)];
  if (slot == 0) return Tok::kName;
  const Keyword& k = kKeywords[slot - 1];
  return k.word == std::string_view(word, length) ? k.token : Tok::kName;
}

}  // namespace

FastLexer::FastLexer(std::string_view text, std::vector<Comment>& comments)
    : begin_(text.data()), p_(begin_), end_(begin_ + text.size()), comments_(comments) {
  start_line();
}

void FastLexer::set(Tok kind, size_t length) {
  token_.kind = kind;
  token_.start = here();
  p_ += length;
  token_.end = here();
}

uint32_t FastLexer::module_start() const {
  return comments_.empty() ? token_.start : std::min(comments_.front().start, token_.start);
}

std::string_view FastLexer::word_at(uint32_t start) const {
  const char* p = begin_ + start;
  while (p < end_ && is_word_byte(*p)) ++p;
  return {begin_ + start, static_cast<size_t>(p - begin_ - start)};
}

FastLexer::Ahead FastLexer::ahead() const {
  const char* p = p_;
  while (p < end_ && class_of(*p) == kBlank) ++p;
  if (p == end_) return {'\0', Tok::kEnd};
  const char* word = p;
  while (p < end_ && is_word_byte(*p)) ++p;
  if (p == word || class_of(*word) == kDigit) return {*word, Tok::kEnd};
  return {*word, word_token(word, static_cast<size_t>(p - word))};
}

void FastLexer::next() {
  last_end_ = token_.end;
  if (token_.kind == Tok::kNewline) {
    start_line();
  } else {
    read_token();
  }
}

void FastLexer::read_token() {
  continuations_ = comments_.size();
  for (;;) {
    if (p_ == end_) return end_line();
    char c = *p_;
    switch (class_of(c)) {
      case kBlank:
        ++p_;
        continue;
      case kLetter:
        return read_word();
      case kDigit:
        return read_number();
      case kQuote:
        return read_string(here(), {});
      default:
        break;
    }
    if (c == '\n') {
      if (brackets_ == 0) return end_line();
      new_line_in_brackets();
    } else if (c == '#') {
      read_comment();
      continuations_ = comments_.size();
      gap_ = comments_.back().end;
    } else if (c == '\\') {
      continue_line();
    } else {
      return read_operator();
    }
  }
}

// tree-sitter counts a tab as eight and keeps a byte.
uint32_t FastLexer::read_indent() {
  uint32_t indent = 0;
  for (; p_ < end_ && class_of(*p_) == kBlank; ++p_) indent += *p_ == ' ' ? 1 : 8;
  if (indent > 255) throw Unsure();
  return indent;
}

void FastLexer::read_comment() {
  if (placeholders_ > 0) throw Unsure();
  uint32_t start = here();
  const void* newline = std::memchr(p_, '\n', static_cast<size_t>(end_ - p_));
  p_ = newline ? static_cast<const char*>(newline) : end_;
  comments_.push_back({start, here()});
}

// At the end of a line's code: the newline is there, or the end of the text.
void FastLexer::end_line() {
  if (brackets_ > 0 || continuations_ < comments_.size()) throw Unsure();
  if (gap_ < last_end_) gap_ = last_end_;  // no comment came
  token_ = {Tok::kNewline, gap_, gap_};
}

void FastLexer::start_line() {
  gap_comment_ = comments_.size();
  bool first = p_ == begin_;
  for (;;) {
    if (p_ == end_) {
      indent_ = 0;
      token_ = {Tok::kEnd, size(), size()};
      return;
    }
    if (!first) ++p_;
    first = false;
    indent_ = read_indent();
    if (p_ == end_ || *p_ == '\n') continue;
    if (*p_ == '#') {
      read_comment();
      continue;
    }
    if (*p_ == '\\') throw Unsure();
    return read_token();
  }
}

// A backslash. Before a string tree-sitter takes it for blank: see read_string().
void FastLexer::continue_line() {
  if (placeholders_ > 0 || peek(1) != '\n') throw Unsure();
  comments_.push_back({here(), here() + 2});
  p_ += 2;
  while (p_ < end_ && class_of(*p_) == kBlank) ++p_;
  if (p_ == end_ || *p_ == '\n' || *p_ == '#') throw Unsure();
}

void FastLexer::new_line_in_brackets() {
  uint32_t indent = 0;
  while (p_ < end_ && *p_ == '\n') {
    ++p_;
    indent = read_indent();
  }
  if (indent < block_indent_ || p_ == end_ || *p_ == '\\') throw Unsure();
}

uint32_t FastLexer::close_block(uint32_t indent) {
  for (; gap_comment_ < comments_.size(); ++gap_comment_) {
    const char* hash = begin_ + comments_[gap_comment_].start;
    uint32_t column = 0;
    for (; hash > begin_ && class_of(hash[-1]) == kBlank; --hash) column += hash[-1] == ' ' ? 1 : 8;
    if (column < indent || comments_[gap_comment_].start > token_.start) break;
    gap_ = comments_[gap_comment_].end;
  }
  return gap_;
}

bool FastLexer::comments_indented(uint32_t indent) const {
  for (size_t i = gap_comment_; i < comments_.size(); ++i) {
    const char* hash = begin_ + comments_[i].start;
    uint32_t column = 0;
    for (; hash > begin_ && class_of(hash[-1]) == kBlank; --hash) column += hash[-1] == ' ' ? 1 : 8;
    if (column < indent) return false;
  }
  return true;
}

void FastLexer::read_word() {
  const char* p = p_;
  while (p < end_ && is_word_byte(*p)) ++p;
  size_t length = static_cast<size_t>(p - p_);
  if (p < end_ && static_cast<signed char>(*p) < 0) throw Unsure();  // a letter beyond ASCII
  if (p < end_ && class_of(*p) == kQuote && length <= 2) {
    uint32_t start = here();
    std::string_view prefix(p_, length);
    p_ = p;
    return read_string(start, prefix);
  }
  set(word_token(p_, length), length);
}

void FastLexer::read_digits() {
  while (class_of(peek()) == kDigit || (peek() == '_' && class_of(peek(1)) == kDigit)) ++p_;
}

void FastLexer::read_number() {
  uint32_t start = here();
  Tok kind = Tok::kInteger;
  char mark = static_cast<char>(peek(1) | 32);
  if (peek() == '0' && (mark == 'x' || mark == 'o' || mark == 'b')) {
    auto fits = [mark](char c) {
      if (mark == 'x') return class_of(c) == kDigit || ((c | 32) >= 'a' && (c | 32) <= 'f');
      return c >= '0' && c <= (mark == 'o' ? '7' : '1');
    };
    p_ += 2;
    if (!fits(peek()) && !(peek() == '_' && fits(peek(1)))) throw Unsure();
    while (fits(peek()) || (peek() == '_' && fits(peek(1)))) ++p_;
  } else {
    read_digits();
    if (peek() == '.') {
      kind = Tok::kFloat;
      ++p_;
      if (class_of(peek()) == kDigit) read_digits();
    }
    if ((peek() | 32) == 'e') {
      kind = Tok::kFloat;
      ++p_;
      if (peek() == '+' || peek() == '-') ++p_;
      if (class_of(peek()) != kDigit) throw Unsure();
      read_digits();
    }
    if ((peek() | 32) == 'j') ++p_;
  }
  if (is_word_byte(peek()) || peek() == '.' || static_cast<signed char>(peek()) < 0) throw Unsure();
  token_ = {kind, start, here()};
}

}  // namespace assay
