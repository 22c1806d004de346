// Tokens of Python source for FastParser: as tree-sitter's scanner and lexer make them together, where both
// agree with CPython. Everything else throws Unsure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "python/syntax.h"

namespace assay {

// The way out of the fast parser, from any depth: this file is for the other one.
struct Unsure {};

// clang-format off
enum class Tok : uint8_t {
  kEnd, kNewline, kName, kInteger, kFloat, kString, kFormatString,
  kLeftParen, kRightParen, kLeftBracket, kRightBracket, kLeftBrace, kRightBrace,
  kComma, kColon, kSemicolon, kDot, kEllipsis, kArrow, kWalrus, kBang, kAssign, kAugmented,
  kPlus, kMinus, kStar, kSlash, kDoubleSlash, kPercent, kAt, kDoubleStar, kPipe, kAmpersand, kCaret, kShiftLeft,
  kShiftRight, kTilde, kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual,
  kAnd, kAs, kAssert, kAsync, kAwait, kBreak, kClass, kContinue, kDef, kDel, kElif, kElse, kExcept, kFalse, kFinally,
  kFor, kFrom, kGlobal, kIf, kImport, kIn, kIs, kLambda, kNone, kNonlocal, kNot, kOr, kPass, kRaise, kReturn, kTrue,
  kTry, kWhile, kWith, kYield,
};
// clang-format on

struct Token {
  Tok kind = Tok::kEnd;
  uint32_t start = 0, end = 0;  // bytes; a newline is empty and lies behind the line's last token or comment
};

class FastLexer {
 public:
  // `text` has passed is_plain_text(). Comments and line continuations are added to `comments`.
  FastLexer(std::string_view text, std::vector<Comment>& comments);

  const Token& token() const { return token_; }
  uint32_t last_end() const { return last_end_; }  // of the token before
  void next();
  std::string_view text(const Token& token) const {
    return {begin_ + token.start, static_cast<size_t>(token.end - token.start)};
  }
  std::string_view word_at(uint32_t start) const;
  uint32_t module_start() const;  // of the first token or comment
  // What follows the token on its line, without reading it.
  struct Ahead {
    char byte;
    Tok word;  // kName or a keyword if a word starts there, else kEnd
  };
  Ahead ahead() const;

  // Of the line that starts with the token, when a newline came before.
  uint32_t indent() const { return indent_; }
  // What lines inside of brackets must not fall short of: tree-sitter may take them for the block's end.
  void set_block_indent(uint32_t indent) { block_indent_ = indent; }
  // Where tree-sitter closes a block of this indentation: behind the last comment indented like it. To be
  // called for the inner blocks first.
  uint32_t close_block(uint32_t indent);
  // Whether each comment since the last newline is indented by that much.
  bool comments_indented(uint32_t indent) const;

  // f-strings. The token kFormatString ends behind the opening quotes; then its parts are to be read.
  struct FormatString {
    char quote = 0;
    bool triple = false, raw = false;
  };
  FormatString format_string() const { return format_; }
  // Reads literal text: true at the brace that opens a placeholder (its first token is next), else at the end
  // of the string, which becomes the token's.
  bool format_text(const FormatString& string, uint32_t& brace);
  // The same for a format specification behind the token `:`: false when `}` is the token.
  bool format_spec(const FormatString& string, uint32_t& brace);
  void close_placeholder() { --placeholders_; }  // `}` is the token
  void take_conversion();                        // the `!r` that starts with the token

 private:
  uint32_t size() const { return static_cast<uint32_t>(end_ - begin_); }
  uint32_t here() const { return static_cast<uint32_t>(p_ - begin_); }
  char peek(size_t ahead = 0) const { return ahead < static_cast<size_t>(end_ - p_) ? p_[ahead] : '\0'; }
  void set(Tok kind, size_t length);
  uint32_t read_indent();
  void read_comment();
  void start_line();
  void end_line();
  void continue_line();
  void new_line_in_brackets();
  void read_token();
  void read_word();
  void read_number();
  void read_operator();
  bool read_one_char();
  void read_digits();
  void read_string(uint32_t start, std::string_view prefix);
  void skip_string_body(char quote, bool triple, bool raw, bool bytes);
  void skip_escape(bool raw, bool bytes);
  bool at_quotes(char quote, bool triple) const;
  void open_placeholder(uint32_t& brace);

  const char* begin_;
  const char* p_;
  const char* end_;
  std::vector<Comment>& comments_;
  Token token_;
  FormatString format_;
  uint32_t last_end_ = 0;
  uint32_t indent_ = 0;
  uint32_t block_indent_ = 0;
  uint32_t gap_ = 0;          // the end of what came before the line's comments that belong to no block yet
  size_t gap_comment_ = 0;    // the first of these
  size_t continuations_ = 0;  // comments_ from here on are continuations right before the token
  int brackets_ = 0;
  int placeholders_ = 0;
};

// UTF-8 whose only control characters are newlines and tabs: what the fast parser reads.
bool is_plain_text(std::string_view text);

}  // namespace assay
