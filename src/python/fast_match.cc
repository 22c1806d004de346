// `match` of FastParser.
#include "python/fast_parser.h"

namespace assay {

// Its block starts behind the colon, or behind the comment there.
void FastParser::match_statement() {
  Mark from = mark();
  next();
  do {
    expression();
    set_field(Field::k_subject);
  } while (take(Tok::kComma) && !at(Tok::kColon));
  expect(Tok::kColon);
  Mark block = mark();
  uint32_t outer = open_block();
  while (!at(Tok::kEnd) && lex_.indent() == block_indent_) case_clause();
  uint32_t end = close_block(outer);
  finish(block, Kind::k_block, end);
  set_field(Field::k_body);
  finish(from, Kind::k_match_statement, end);
}

void FastParser::case_clause() {
  Mark from = mark();
  if (!at_word("case")) throw Unsure();
  next();
  do {
    case_pattern();
  } while (take(Tok::kComma) && !at(Tok::kColon) && !at(Tok::kIf));
  if (at(Tok::kIf)) {
    Mark guard = mark();
    next();
    named_expression();
    finish(guard, Kind::k_if_clause);
    set_field(Field::k_guard);
  }
  uint32_t end = suite(Field::k_consequence);
  finish(from, Kind::k_case_clause, end);
  set_field(Field::k_alternative);
}

void FastParser::case_pattern() {
  Level level(depth_);
  Mark from = mark();
  if (at(Tok::kStar)) {
    splat_pattern();
  } else {
    simple_pattern();
    if (at(Tok::kAs)) {
      finish(from, Kind::k_case_pattern);
      next();
      if (!at(Tok::kName) || at_word("_")) throw Unsure();
      leaf(Kind::k_identifier);
      finish(from, Kind::k_as_pattern);
    }
  }
  finish(from, Kind::k_case_pattern);
}

void FastParser::simple_pattern() {
  Mark from = mark();
  closed_pattern();
  if (!at(Tok::kPipe)) return;
  while (take(Tok::kPipe)) closed_pattern();
  finish(from, Kind::k_union_pattern);
}

void FastParser::closed_pattern() {
  switch (tok()) {
    case Tok::kName:
      return class_or_name();
    case Tok::kString:
      return strings();
    case Tok::kNone:
      return leaf(Kind::k_none);
    case Tok::kTrue:
      return leaf(Kind::k_true);
    case Tok::kFalse:
      return leaf(Kind::k_false);
    case Tok::kLeftParen:
      return pattern_sequence(Tok::kRightParen);
    case Tok::kLeftBracket:
      return pattern_sequence(Tok::kRightBracket);
    case Tok::kLeftBrace:
      return dict_pattern();
    default:
      break;
  }
  take(Tok::kMinus);
  if (!at(Tok::kInteger) && !at(Tok::kFloat)) throw Unsure();
  leaf(at(Tok::kInteger) ? Kind::k_integer : Kind::k_float);
  if (at(Tok::kPlus) || at(Tok::kMinus)) throw Unsure();  // a complex number
}

// `_` is no node.
void FastParser::class_or_name() {
  Mark from = mark();
  if (at_word("_")) return next();
  dotted_name();
  if (!take(Tok::kLeftParen)) return;
  while (!at(Tok::kRightParen)) {
    class_argument();
    if (!at(Tok::kRightParen)) expect(Tok::kComma);
  }
  next();
  finish(from, Kind::k_class_pattern);
}

void FastParser::class_argument() {
  Level level(depth_);
  if (!at(Tok::kName) || lex_.ahead().byte != '=') return case_pattern();
  Mark from = mark();
  leaf(Kind::k_identifier);
  expect(Tok::kAssign);
  simple_pattern();
  if (at(Tok::kAs)) throw Unsure();
  finish(from, Kind::k_keyword_pattern);
  finish(from, Kind::k_case_pattern);
}

void FastParser::pattern_sequence(Tok close) {
  Mark from = mark();
  next();
  while (!at(close)) {
    case_pattern();
    if (!at(close)) expect(Tok::kComma);
  }
  next();
  finish(from, close == Tok::kRightParen ? Kind::k_tuple_pattern : Kind::k_list_pattern);
}

void FastParser::dict_pattern() {
  Mark from = mark();
  next();
  while (!at(Tok::kRightBrace)) {
    if (at(Tok::kDoubleStar)) {
      splat_pattern();
    } else {
      if (at(Tok::kMinus) || at_word("_")) throw Unsure();
      closed_pattern();
      set_field(Field::k_key);
      expect(Tok::kColon);
      case_pattern();
      set_field(Field::k_value);
    }
    if (!at(Tok::kRightBrace)) expect(Tok::kComma);
  }
  next();
  finish(from, Kind::k_dict_pattern);
}

void FastParser::splat_pattern() {
  Mark from = mark();
  next();
  if (!at(Tok::kName)) throw Unsure();
  at_word("_") ? next() : leaf(Kind::k_identifier);
  finish(from, Kind::k_splat_pattern);
}

}  // namespace assay
