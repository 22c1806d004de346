// Annotations, type parameters and parameter lists of FastParser.
#include "python/fast_parser.h"

namespace assay {

// Of the words that are names to the grammar's expressions, but not to its types.
bool FastParser::is_soft_keyword() const {
  return at_word("match") || at_word("print") || at_word("exec") || at_word("type");
}

// `a[b] | c` is a union_type, `a | b[c]` is an expression: tree-sitter decides at the first bracket.
void FastParser::type() {
  Level level(depth_);
  Mark from = mark();
  bool generic = type_operand(false);
  while (generic && at(Tok::kPipe)) {
    finish(from, Kind::k_type);
    next();
    Mark right = mark();
    generic = type_operand(true);
    finish(right, Kind::k_type);
    finish(from, Kind::k_union_type);
  }
  finish(from, Kind::k_type);
}

// Whether it is a generic_type.
bool FastParser::type_operand(bool behind_pipe) {
  Mark from = mark();
  if (at(Tok::kName) && lex_.ahead().byte == '[') {
    if (is_soft_keyword() && !at_word("type")) throw Unsure();
    leaf(Kind::k_identifier);
    type_parameters();
    finish(from, Kind::k_generic_type);
    return true;
  }
  behind_pipe ? arithmetic(0) : expression();
  const PostNode& first = nodes_[from.index];
  bool bracket_on_next_line = first.kind == Kind::k_identifier && first.field == Field::k_value;
  if (bracket_on_next_line && first.start == from.start) throw Unsure();
  return false;
}

void FastParser::type_parameters() {
  Mark from = mark();
  expect(Tok::kLeftBracket);
  do {
    type_parameter_element();
  } while (take(Tok::kComma) && !at(Tok::kRightBracket));
  expect(Tok::kRightBracket);
  finish(from, Kind::k_type_parameter);
}

void FastParser::type_parameter_element() {
  Level level(depth_);
  Mark from = mark();
  if (take(Tok::kStar) || take(Tok::kDoubleStar)) {
    if (!at(Tok::kName) || is_soft_keyword()) throw Unsure();
    leaf(Kind::k_identifier);
    if (!at(Tok::kComma) && !at(Tok::kRightBracket)) throw Unsure();
    finish(from, Kind::k_splat_type);
    return finish(from, Kind::k_type);
  }
  type();
  if (!take(Tok::kColon)) return;
  type_parameter_element();
  finish(from, Kind::k_constrained_type);
  finish(from, Kind::k_type);
}

// Up to `close`, which stays.
void FastParser::parameters(Tok close, bool typed) {
  while (!at(close)) {
    parameter(typed);
    if (!at(close)) expect(Tok::kComma);
  }
}

void FastParser::parameter(bool typed) {
  Mark from = mark();
  if (at(Tok::kStar)) return splat_parameter(Kind::k_list_splat_pattern, typed);
  if (at(Tok::kDoubleStar)) return splat_parameter(Kind::k_dictionary_splat_pattern, typed);
  if (at(Tok::kSlash)) return leaf(Kind::k_positional_separator);
  if (!at(Tok::kName)) throw Unsure();
  leaf(Kind::k_identifier);
  bool has_type = typed && take(Tok::kColon);
  if (has_type) {
    type();
    set_field(Field::k_type);
  }
  if (take(Tok::kAssign)) {
    nodes_[from.index].field = Field::k_name;
    expression();
    set_field(Field::k_value);
    finish(from, has_type ? Kind::k_typed_default_parameter : Kind::k_default_parameter);
  } else if (has_type) {
    finish(from, Kind::k_typed_parameter);
  }
}

void FastParser::splat_parameter(Kind kind, bool typed) {
  Mark from = mark();
  next();
  if (!at(Tok::kName)) {
    if (kind != Kind::k_list_splat_pattern) throw Unsure();
    return finish(from, Kind::k_keyword_separator);
  }
  leaf(Kind::k_identifier);
  finish(from, kind);
  if (!typed || !take(Tok::kColon)) return;
  type();
  set_field(Field::k_type);
  finish(from, Kind::k_typed_parameter);
}

}  // namespace assay
