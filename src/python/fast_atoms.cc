// Atoms of FastParser: names, literals, and everything in brackets.
#include "python/fast_parser.h"

namespace assay {

void FastParser::atom() {
  switch (tok()) {
    case Tok::kName:
      return leaf(Kind::k_identifier);
    case Tok::kInteger:
      return leaf(Kind::k_integer);
    case Tok::kFloat:
      return leaf(Kind::k_float);
    case Tok::kTrue:
      return leaf(Kind::k_true);
    case Tok::kFalse:
      return leaf(Kind::k_false);
    case Tok::kNone:
      return leaf(Kind::k_none);
    case Tok::kEllipsis:
      return leaf(Kind::k_ellipsis);
    case Tok::kString:
    case Tok::kFormatString:
      return strings();
    case Tok::kLeftParen:
      return parenthesized();
    case Tok::kLeftBracket:
      return list();
    case Tok::kLeftBrace:
      return braces();
    default:
      throw Unsure();
  }
}

// Whether it is starred.
bool FastParser::collection_element(bool allow_as) {
  if (at(Tok::kStar)) {
    starred_in_brackets();
    return true;
  }
  Mark from = mark();
  named_expression();
  if (allow_as && at(Tok::kAs)) as_target(from);
  return false;
}

void FastParser::parenthesized() {
  Level level(depth_);
  bool allow_as = allow_as_;
  allow_as_ = false;
  Mark from = mark();
  next();
  if (take(Tok::kRightParen)) return finish(from, Kind::k_tuple);
  if (at(Tok::kYield)) {
    yield();
    expect(Tok::kRightParen);
    return finish(from, Kind::k_parenthesized_expression);
  }
  bool starred = collection_element(allow_as);
  if (at(Tok::kFor) || at(Tok::kAsync)) {
    if (starred) throw Unsure();
    return comprehension(from, Kind::k_generator_expression, Tok::kRightParen);
  }
  if (take(Tok::kRightParen)) {
    if (starred) throw Unsure();
    return finish(from, Kind::k_parenthesized_expression);
  }
  while (take(Tok::kComma) && !at(Tok::kRightParen)) collection_element(allow_as);
  expect(Tok::kRightParen);
  finish(from, Kind::k_tuple);
}

void FastParser::list() {
  Level level(depth_);
  allow_as_ = false;
  Mark from = mark();
  next();
  if (take(Tok::kRightBracket)) return finish(from, Kind::k_list);
  bool starred = collection_element(false);
  if (at(Tok::kFor) || at(Tok::kAsync)) {
    if (starred) throw Unsure();
    return comprehension(from, Kind::k_list_comprehension, Tok::kRightBracket);
  }
  while (take(Tok::kComma) && !at(Tok::kRightBracket)) collection_element(false);
  expect(Tok::kRightBracket);
  finish(from, Kind::k_list);
}

void FastParser::braces() {
  Level level(depth_);
  allow_as_ = false;
  Mark from = mark();
  next();
  if (take(Tok::kRightBrace)) return finish(from, Kind::k_dictionary);
  if (at(Tok::kStar)) {
    starred_in_brackets();
    return set_elements(from);
  }
  if (at(Tok::kDoubleStar)) {
    dictionary_element();
  } else {
    Mark first = mark();
    expression();
    if (!at(Tok::kColon)) return set_elements(from);
    set_field(Field::k_key);
    next();
    expression();
    set_field(Field::k_value);
    finish(first, Kind::k_pair);
    if (at(Tok::kFor) || at(Tok::kAsync)) {
      return comprehension(from, Kind::k_dictionary_comprehension, Tok::kRightBrace);
    }
  }
  while (take(Tok::kComma) && !at(Tok::kRightBrace)) dictionary_element();
  expect(Tok::kRightBrace);
  finish(from, Kind::k_dictionary);
}

// Behind the first.
void FastParser::set_elements(Mark from) {
  if (at(Tok::kFor) || at(Tok::kAsync)) {
    if (last_kind() == Kind::k_list_splat) throw Unsure();
    return comprehension(from, Kind::k_set_comprehension, Tok::kRightBrace);
  }
  while (take(Tok::kComma) && !at(Tok::kRightBrace)) {
    at(Tok::kStar) ? starred_in_brackets() : expression();
  }
  expect(Tok::kRightBrace);
  finish(from, Kind::k_set);
}

void FastParser::dictionary_element() {
  Mark from = mark();
  if (take(Tok::kDoubleStar)) {
    expression();
    return finish(from, Kind::k_dictionary_splat);
  }
  expression();
  set_field(Field::k_key);
  expect(Tok::kColon);
  expression();
  set_field(Field::k_value);
  finish(from, Kind::k_pair);
}

// Behind the body; `from` is the bracket. A comma behind the clauses would belong to the last of them.
void FastParser::comprehension(Mark from, Kind kind, Tok close) {
  set_field(Field::k_body);
  for (;;) {
    if (at(Tok::kFor) || at(Tok::kAsync)) {
      for_in_clause();
    } else if (at(Tok::kIf)) {
      Mark clause = mark();
      next();
      disjunction();
      finish(clause, Kind::k_if_clause);
    } else {
      break;
    }
  }
  expect(close);
  finish(from, kind);
}

void FastParser::for_in_clause() {
  Mark from = mark();
  if (at(Tok::kAsync)) leaf(Kind::kAsync);
  expect(Tok::kFor);
  target_list(Tok::kIn);
  set_field(Field::k_left);
  next();
  disjunction();
  set_field(Field::k_right);
  finish(from, Kind::k_for_in_clause);
}

// In a call, or behind `class X`.
void FastParser::arguments() {
  Level level(depth_);
  allow_as_ = false;
  Mark from = mark();
  next();
  bool first = true;
  while (!at(Tok::kRightParen)) {
    bool plain = argument();
    if (at(Tok::kFor) || at(Tok::kAsync)) {
      if (!first || !plain) throw Unsure();
      return comprehension(from, Kind::k_generator_expression, Tok::kRightParen);
    }
    first = false;
    if (!take(Tok::kComma)) break;
  }
  expect(Tok::kRightParen);
  finish(from, Kind::k_argument_list);
}

// Whether it has neither stars nor a keyword.
bool FastParser::argument() {
  Mark from = mark();
  if (at(Tok::kStar)) {
    starred_in_brackets();
    return false;
  }
  if (take(Tok::kDoubleStar)) {
    expression();
    finish(from, Kind::k_dictionary_splat);
    return false;
  }
  named_expression();
  if (!at(Tok::kAssign)) return true;
  if (!is_lone_name(from)) throw Unsure();
  set_field(Field::k_name);
  next();
  expression();
  set_field(Field::k_value);
  finish(from, Kind::k_keyword_argument);
  return false;
}

void FastParser::strings() {
  Mark from = mark();
  int count = 0;
  for (; at(Tok::kString) || at(Tok::kFormatString); ++count) {
    at(Tok::kString) ? leaf(Kind::k_string) : format_string(mark());
  }
  if (count > 1) finish(from, Kind::k_concatenated_string);
}

void FastParser::format_string(Mark from) {
  Level level(depth_);
  allow_as_ = false;
  FastLexer::FormatString string = lex_.format_string();
  uint32_t brace = 0;
  while (lex_.format_text(string, brace)) placeholder(brace, string, Kind::k_interpolation);
  next();
  finish(from, Kind::k_string);
}

// `{` is read; ends with `}` as the token.
void FastParser::placeholder(uint32_t brace, const FastLexer::FormatString& string, Kind kind) {
  Mark from{static_cast<uint32_t>(nodes_.size()), brace};
  if (at(Tok::kStar) || at(Tok::kLambda)) throw Unsure();
  expression_list(true);
  set_field(Field::k_expression);
  take(Tok::kAssign);
  if (at(Tok::kBang)) {
    Mark conversion = mark();
    lex_.take_conversion();
    finish(conversion, Kind::kOther);
  }
  if (at(Tok::kColon)) format_spec(string);
  if (!at(Tok::kRightBrace)) throw Unsure();
  lex_.close_placeholder();
  finish(from, kind, lex_.token().end);
}

void FastParser::format_spec(const FastLexer::FormatString& string) {
  Level level(depth_);
  Mark from = mark();
  uint32_t brace = 0;
  while (lex_.format_spec(string, brace)) placeholder(brace, string, Kind::kOther);
  finish(from, Kind::k_format_specifier, lex_.token().start);
}

}  // namespace assay
