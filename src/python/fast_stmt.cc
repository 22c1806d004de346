// Simple statements of FastParser.
#include "python/fast_parser.h"

namespace assay {
namespace {

// The word before it is no keyword.
bool is_plain_name_before(char next) { return next == '=' || next == ':' || next == ',' || next == '.'; }

// Without a newline in between the next line could go on with these and still become a target.
bool may_go_on_as_target(Kind kind) {
  switch (kind) {
    case Kind::k_call:
    case Kind::k_string:
    case Kind::k_concatenated_string:
    case Kind::k_integer:
    case Kind::k_float:
    case Kind::k_true:
    case Kind::k_false:
    case Kind::k_none:
    case Kind::k_ellipsis:
    case Kind::k_tuple:
    case Kind::k_parenthesized_expression:
    case Kind::k_generator_expression:
    case Kind::k_list:
    case Kind::k_list_comprehension:
    case Kind::k_dictionary:
    case Kind::k_dictionary_comprehension:
    case Kind::k_set:
    case Kind::k_set_comprehension:
    case Kind::k_list_splat:
      return true;
    default:
      return false;
  }
}

bool may_be_target(Kind kind) {
  switch (kind) {
    case Kind::k_identifier:
    case Kind::k_attribute:
    case Kind::k_subscript:
    case Kind::k_tuple:
    case Kind::k_parenthesized_expression:
    case Kind::k_list:
    case Kind::k_list_splat:
      return true;
    default:
      return false;
  }
}

// Starts a statement, but may be within an expression too.
bool goes_on(Tok token) {
  switch (token) {
    case Tok::kString:
    case Tok::kFormatString:
    case Tok::kLeftParen:
    case Tok::kLeftBracket:
    case Tok::kPlus:
    case Tok::kMinus:
    case Tok::kStar:
    case Tok::kAt:
      return true;
    default:
      return false;
  }
}

}  // namespace

FastParser::FastParser(std::string_view text, std::vector<Comment>& comments) : lex_(text, comments) {
  nodes_.reserve(text.size() / 6 + 16);
}

void FastParser::statement() {
  Level level(depth_);
  if (!compound_statement()) simple_statements();
}

// One line, with its newline. Of some lines tree-sitter follows two readings for a while: as `match (x)` may
// become a statement, so may `a, f(b)` become the targets of an assignment. In the second reading the newline
// is but a blank, and the next line might go on with the expression.
void FastParser::simple_statements() {
  two_readings_ = false;
  do {
    if ((at_word("match") || at_word("type")) && !is_plain_name_before(lex_.ahead().byte))
      two_readings_ = true;
    simple_statement();
  } while (take(Tok::kSemicolon) && !at(Tok::kNewline));
  expect(Tok::kNewline);
  if (two_readings_ && goes_on(tok())) throw Unsure();
}

void FastParser::simple_statement() {
  switch (tok()) {
    case Tok::kImport:
      return import();
    case Tok::kFrom:
      return import_from();
    case Tok::kReturn:
      return return_statement();
    case Tok::kRaise:
      return raise();
    case Tok::kPass:
      return leaf(Kind::k_pass_statement);
    case Tok::kBreak:
      return leaf(Kind::k_break_statement);
    case Tok::kContinue:
      return leaf(Kind::k_continue_statement);
    case Tok::kGlobal:
      return names(Kind::k_global_statement);
    case Tok::kNonlocal:
      return names(Kind::k_nonlocal_statement);
    case Tok::kAssert:
      return assert_statement();
    case Tok::kDel:
      return del();
    case Tok::kName:
      refuse_python2();
      if (at_word("type") && begins_soft_keyword_statement()) return type_alias();
      break;
    default:
      break;
  }
  expression_statement();
}

// An expression_statement takes its expressions without an expression_list.
void FastParser::expression_statement() {
  Mark from = mark();
  if (at(Tok::kYield)) {
    yield();
    return finish(from, Kind::k_expression_statement);
  }
  expression_or_starred();
  bool is_list = at(Tok::kComma);
  if (at(Tok::kColon)) {
    annotation(from);
  } else {
    bool trailing_comma = false;
    while (take(Tok::kComma) && !(trailing_comma = ends_list())) list_element(true);
    if (at(Tok::kAssign) || at(Tok::kAugmented)) {
      if (is_list) finish(from, Kind::k_expression_list);
      assignment(from);
    } else if (trailing_comma || (!is_list && last_kind() == Kind::k_list_splat)) {
      throw Unsure();  // `a,` may go on in the next line as the targets of an assignment
    } else if (is_list) {
      two_readings_ = true;
    }
  }
  finish(from, Kind::k_expression_statement);
}

// `type(a).b = c` is a type_alias_statement to tree-sitter.
bool FastParser::is_type_alias(Mark from) const {
  return nodes_.size() > from.index + 1 && lex_.word_at(from.start) == "type";
}

// Behind the left side.
void FastParser::assignment(Mark from) {
  if (last_kind() == Kind::k_list_splat || is_type_alias(from)) throw Unsure();
  last_to_pattern();
  set_field(Field::k_left);
  bool augmented = at(Tok::kAugmented);
  augmented ? leaf(Kind::kOperator, Field::k_operator) : next();
  right_side(!augmented);
  set_field(Field::k_right);
  finish(from, augmented ? Kind::k_augmented_assignment : Kind::k_assignment);
}

void FastParser::annotation(Mark from) {
  switch (last_kind()) {
    case Kind::k_identifier:
    case Kind::k_attribute:
    case Kind::k_subscript:
      break;
    default:
      throw Unsure();
  }
  set_field(Field::k_left);
  next();
  type();
  set_field(Field::k_type);
  if (take(Tok::kAssign)) {
    right_side(false);
    set_field(Field::k_right);
  }
  finish(from, Kind::k_assignment);
}

// Whether the expression_list just read could be the beginning of targets. A last name, attribute or
// subscript is a target already: there the newline counts.
bool FastParser::is_unfinished_target_list() const {
  size_t list = nodes_.size() - 1;
  size_t first = list + 1 - nodes_[list].size;
  if (!may_go_on_as_target(nodes_[list - 1].kind)) return false;
  for (size_t i = list - nodes_[list - 1].size; i > first; i -= nodes_[i - 1].size) {
    if (!may_be_target(nodes_[i - 1].kind)) return false;
  }
  return true;
}

void FastParser::right_side(bool chain) {
  Level level(depth_);
  if (at(Tok::kYield)) return yield();
  Mark from = mark();
  expression_list(true);
  if (last_kind() == Kind::k_expression_list && is_unfinished_target_list()) two_readings_ = true;
  if (chain && at(Tok::kAssign)) assignment(from);
}

void FastParser::dotted_name() {
  Mark from = mark();
  do {
    if (!at(Tok::kName)) throw Unsure();
    leaf(Kind::k_identifier);
  } while (take(Tok::kDot));
  finish(from, Kind::k_dotted_name);
}

void FastParser::import_names() {
  Mark from = mark();
  dotted_name();
  if (take(Tok::kAs)) {
    set_field(Field::k_name);
    if (!at(Tok::kName)) throw Unsure();
    leaf(Kind::k_identifier, Field::k_alias);
    finish(from, Kind::k_aliased_import);
  }
  set_field(Field::k_name);
}

void FastParser::import() {
  Mark from = mark();
  next();
  do {
    import_names();
  } while (take(Tok::kComma));
  finish(from, Kind::k_import_statement);
}

void FastParser::import_from() {
  Mark from = mark();
  next();
  bool future = at_word("__future__");
  if (future) {
    next();
  } else {
    module_name();
  }
  expect(Tok::kImport);
  if (at(Tok::kStar) && !future) {
    leaf(Kind::k_wildcard_import);
  } else {
    bool brackets = take(Tok::kLeftParen);
    do {
      import_names();
    } while (take(Tok::kComma) && !(brackets && at(Tok::kRightParen)));
    if (brackets) expect(Tok::kRightParen);
  }
  finish(from, future ? Kind::k_future_import_statement : Kind::k_import_from_statement);
}

void FastParser::module_name() {
  Mark from = mark();
  if (at(Tok::kDot) || at(Tok::kEllipsis)) {
    while (take(Tok::kDot) || take(Tok::kEllipsis)) continue;
    finish(from, Kind::k_import_prefix);
    if (!at(Tok::kImport)) dotted_name();
    finish(from, Kind::k_relative_import);
  } else {
    dotted_name();
  }
  set_field(Field::k_module_name);
}

void FastParser::return_statement() {
  Mark from = mark();
  next();
  if (!ends_list()) expression_list();
  finish(from, Kind::k_return_statement);
}

void FastParser::raise() {
  Mark from = mark();
  next();
  if (!ends_list()) {
    expression();
    if (take(Tok::kFrom)) {
      expression();
      set_field(Field::k_cause);
    }
  }
  finish(from, Kind::k_raise_statement);
}

void FastParser::names(Kind kind) {
  Mark from = mark();
  next();
  do {
    if (!at(Tok::kName)) throw Unsure();
    leaf(Kind::k_identifier);
  } while (take(Tok::kComma));
  finish(from, kind);
}

void FastParser::assert_statement() {
  Mark from = mark();
  next();
  expression();
  if (take(Tok::kComma)) expression();
  finish(from, Kind::k_assert_statement);
}

void FastParser::del() {
  Mark from = mark();
  next();
  expression_list();
  finish(from, Kind::k_delete_statement);
}

// `print x` and `exec x`.
void FastParser::refuse_python2() const {
  if (!at_word("print") && !at_word("exec")) return;
  char byte = lex_.ahead().byte;
  if (byte != '(' && byte != '.' && byte != '=') throw Unsure();
}

// Whether a statement follows the word `match` or `type`, which is the token, and not an operator. Where both
// are possible, as in `match (x)`, it is an expression; if not, that fails at the colon.
bool FastParser::begins_soft_keyword_statement() const {
  FastLexer::Ahead ahead = lex_.ahead();
  switch (ahead.word) {
    case Tok::kNot:
      throw Unsure();  // `match not in x`, `match not x:`
    case Tok::kAnd:
    case Tok::kAs:
    case Tok::kElse:
    case Tok::kFor:
    case Tok::kIf:
    case Tok::kIn:
    case Tok::kIs:
    case Tok::kOr:
      return false;
    case Tok::kEnd:
      break;
    default:
      return true;
  }
  char byte = ahead.byte;
  return byte == '"' || byte == '\'' || byte == '{' || (byte >= '0' && byte <= '9');
}

void FastParser::type_alias() {
  Mark from = mark();
  next();
  type();
  set_field(Field::k_left);
  expect(Tok::kAssign);
  type();
  set_field(Field::k_right);
  finish(from, Kind::k_type_alias_statement);
}

}  // namespace assay
