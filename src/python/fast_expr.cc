// Expressions of FastParser: everything above atoms.
#include "python/fast_parser.h"

namespace assay {

void FastParser::leaf(Kind kind, Field field) {
  const Token& token = lex_.token();
  nodes_.push_back({token.start, token.end, 1, kind, field});
  lex_.next();
}

void FastParser::finish(Mark from, Kind kind, uint32_t end) {
  uint32_t size = static_cast<uint32_t>(nodes_.size()) - from.index + 1;
  nodes_.push_back({from.start, end, size, kind, Field::kNone});
}

void FastParser::children_to_patterns(size_t index) {
  size_t first = index + 1 - nodes_[index].size;
  for (size_t i = index; i > first; i -= nodes_[i - 1].size) to_pattern(i - 1);
}

void FastParser::to_pattern(size_t index) {
  Level level(depth_);
  PostNode& node = nodes_[index];
  switch (node.kind) {
    case Kind::k_identifier:
    case Kind::k_attribute:
    case Kind::k_subscript:
      return;
    case Kind::k_list_splat:
      if (nodes_[index - 1].kind != Kind::k_identifier) throw Unsure();
      node.kind = Kind::k_list_splat_pattern;
      return;
    case Kind::k_tuple:
    case Kind::k_parenthesized_expression:
      node.kind = Kind::k_tuple_pattern;
      break;
    case Kind::k_list:
      node.kind = Kind::k_list_pattern;
      break;
    case Kind::k_expression_list:
      node.kind = Kind::k_pattern_list;
      break;
    default:
      throw Unsure();
  }
  children_to_patterns(index);
}

// `a := b if c else d` is `(a := b) if c else d` to tree-sitter.
void FastParser::named_expression() {
  Level level(depth_);
  if (at(Tok::kLambda)) return lambda();
  Mark from = mark();
  disjunction();
  if (at(Tok::kWalrus)) {
    if (!is_lone_name(from)) throw Unsure();
    set_field(Field::k_name);
    next();
    disjunction();
    set_field(Field::k_value);
    finish(from, Kind::k_named_expression);
  }
  if (at(Tok::kIf)) conditional(from);
}

void FastParser::expression() {
  Level level(depth_);
  if (at(Tok::kLambda)) return lambda();
  Mark from = mark();
  disjunction();
  if (at(Tok::kIf)) conditional(from);
}

void FastParser::conditional(Mark from) {
  expect(Tok::kIf);
  disjunction();
  expect(Tok::kElse);
  expression();
  finish(from, Kind::k_conditional_expression);
}

void FastParser::lambda() {
  Mark from = mark();
  next();
  if (!at(Tok::kColon)) {
    Mark inner = mark();
    parameters(Tok::kColon, false);
    finish(inner, Kind::k_lambda_parameters);
    set_field(Field::k_parameters);
  }
  expect(Tok::kColon);
  expression();
  set_field(Field::k_body);
  finish(from, Kind::k_lambda);
}

void FastParser::disjunction() {
  Mark from = mark();
  conjunction();
  while (at(Tok::kOr)) {
    set_field(Field::k_left);
    leaf(Kind::kOperator, Field::k_operator);
    conjunction();
    set_field(Field::k_right);
    finish(from, Kind::k_boolean_operator);
  }
}

void FastParser::conjunction() {
  Mark from = mark();
  inversion();
  while (at(Tok::kAnd)) {
    set_field(Field::k_left);
    leaf(Kind::kOperator, Field::k_operator);
    inversion();
    set_field(Field::k_right);
    finish(from, Kind::k_boolean_operator);
  }
}

void FastParser::inversion() {
  if (!at(Tok::kNot)) return comparison();
  Level level(depth_);
  Mark from = mark();
  next();
  inversion();
  set_field(Field::k_argument);
  finish(from, Kind::k_not_operator);
}

void FastParser::comparison() {
  Mark from = mark();
  arithmetic(0);
  if (!comparison_operator()) return;
  do {
    arithmetic(0);
  } while (comparison_operator());
  finish(from, Kind::k_comparison_operator);
}

// `not in` and `is not` are one node.
bool FastParser::comparison_operator() {
  Mark from = mark();
  switch (tok()) {
    case Tok::kLess:
    case Tok::kLessEqual:
    case Tok::kGreater:
    case Tok::kGreaterEqual:
    case Tok::kEqual:
    case Tok::kNotEqual:
    case Tok::kIn:
      next();
      break;
    case Tok::kIs:
      next();
      take(Tok::kNot);
      break;
    case Tok::kNot:
      next();
      expect(Tok::kIn);
      break;
    default:
      return false;
  }
  finish(from, Kind::kOperator);
  set_field(Field::k_operators);
  return true;
}

namespace {

constexpr int kPower = 8;

// tree-sitter's order, in which `^` stands above `&`; -1 for other tokens.
int precedence(Tok token) {
  switch (token) {
    case Tok::kPipe:
      return 0;
    case Tok::kAmpersand:
      return 1;
    case Tok::kCaret:
      return 2;
    case Tok::kShiftLeft:
    case Tok::kShiftRight:
      return 3;
    case Tok::kPlus:
    case Tok::kMinus:
      return 4;
    case Tok::kStar:
    case Tok::kAt:
    case Tok::kSlash:
    case Tok::kDoubleSlash:
    case Tok::kPercent:
      return 5;
    case Tok::kDoubleStar:
      return kPower;
    default:
      return -1;
  }
}

bool starts_atom(Tok token) {
  switch (token) {
    case Tok::kName:
    case Tok::kString:
    case Tok::kFormatString:
    case Tok::kLeftParen:
    case Tok::kLeftBracket:
    case Tok::kLeftBrace:
      return true;
    default:
      return false;
  }
}

}  // namespace

void FastParser::arithmetic(int min_precedence) {
  Mark from = mark();
  unary();
  for (int p = precedence(tok()); p >= min_precedence; p = precedence(tok())) {
    set_field(Field::k_left);
    leaf(Kind::kOperator, Field::k_operator);
    Level level(depth_);
    arithmetic(p == kPower ? kPower : p + 1);
    set_field(Field::k_right);
    finish(from, Kind::k_binary_operator);
  }
}

void FastParser::unary() {
  if (at(Tok::kAwait)) return await();
  if (!at(Tok::kPlus) && !at(Tok::kMinus) && !at(Tok::kTilde)) return primary();
  Level level(depth_);
  Mark from = mark();
  leaf(Kind::kOperator, Field::k_operator);
  arithmetic(kPower);
  set_field(Field::k_argument);
  finish(from, Kind::k_unary_operator);
}

// Binds weaker than `**` here.
void FastParser::await() {
  Mark from = mark();
  next();
  if (!starts_atom(tok())) throw Unsure();
  arithmetic(kPower);
  finish(from, Kind::k_await);
}

void FastParser::primary() {
  Mark from = mark();
  atom();
  postfix(from);
}

void FastParser::postfix(Mark from) {
  for (;;) {
    switch (tok()) {
      case Tok::kDot:
        set_field(Field::k_object);
        next();
        if (!at(Tok::kName)) throw Unsure();
        leaf(Kind::k_identifier, Field::k_attribute);
        finish(from, Kind::k_attribute);
        break;
      case Tok::kLeftParen:
        call(from);
        break;
      case Tok::kLeftBracket:
        subscript(from);
        break;
      default:
        return;
    }
  }
}

void FastParser::call(Mark from) {
  set_field(Field::k_function);
  arguments();
  set_field(Field::k_arguments);
  finish(from, Kind::k_call);
}

void FastParser::subscript(Mark from) {
  set_field(Field::k_value);
  next();
  do {
    if (at(Tok::kRightBracket)) break;
    subscript_element();
    set_field(Field::k_subscript);
  } while (take(Tok::kComma));
  if (nodes_.back().field != Field::k_subscript) throw Unsure();  // `a[]`
  expect(Tok::kRightBracket);
  finish(from, Kind::k_subscript);
}

void FastParser::subscript_element() {
  Mark from = mark();
  if (at(Tok::kStar)) return starred();
  if (!at(Tok::kColon)) {
    named_expression();
    if (!at(Tok::kColon)) return;
  }
  auto ends = [this] { return at(Tok::kColon) || at(Tok::kComma) || at(Tok::kRightBracket); };
  expect(Tok::kColon);
  if (!ends()) expression();
  if (take(Tok::kColon) && !ends()) expression();
  finish(from, Kind::k_slice);
}

// In a call, a list, a set or a tuple.
void FastParser::starred_in_brackets() {
  Mark from = mark();
  next();
  if (!starts_atom(tok()) || ++splats_ > 8) throw Unsure();
  expression();
  --splats_;
  finish(from, Kind::k_list_splat);
}

// In a bare list or a subscript, where tree-sitter wants a name behind the star; brackets are mended by restore_stars().
void FastParser::starred(bool mended) {
  Mark from = mark();
  next();
  bool bracket = mended && (at(Tok::kLeftParen) || at(Tok::kLeftBracket) || at(Tok::kLeftBrace));
  if ((!at(Tok::kName) && !bracket) || ++splats_ > 8) throw Unsure();
  arithmetic(0);
  --splats_;
  finish(from, Kind::k_list_splat);
}

void FastParser::expression_or_starred() { at(Tok::kStar) ? starred() : expression(); }

// Not the first. In `a, lambda: b` tree-sitter may take `lambda` for a target.
void FastParser::list_element(bool may_be_targets) {
  if (may_be_targets && at(Tok::kLambda)) throw Unsure();
  at(Tok::kStar) ? starred(!may_be_targets) : expression();
}

bool FastParser::ends_list() const {
  switch (tok()) {
    case Tok::kNewline:
    case Tok::kSemicolon:
    case Tok::kAssign:
    case Tok::kAugmented:
    case Tok::kColon:
    case Tok::kRightParen:
    case Tok::kRightBrace:
    case Tok::kBang:
      return true;
    default:
      return false;
  }
}

// One expression, or an expression_list if there is a comma.
void FastParser::expression_list(bool may_be_targets) {
  Mark from = mark();
  expression_or_starred();
  if (!at(Tok::kComma)) {
    if (last_kind() == Kind::k_list_splat) throw Unsure();
    return;
  }
  while (take(Tok::kComma) && !ends_list()) list_element(may_be_targets);
  finish(from, Kind::k_expression_list);
}

// What a `for` assigns to, up to its `in`.
void FastParser::target_list(Tok end) {
  Mark from = mark();
  target();
  if (at(Tok::kComma)) {
    while (take(Tok::kComma) && !at(end)) target();
    finish(from, Kind::k_pattern_list);
  } else if (last_kind() == Kind::k_list_splat_pattern) {
    throw Unsure();
  }
  if (!at(end)) throw Unsure();
}

void FastParser::target() {
  if (at(Tok::kStar)) {
    Mark from = mark();
    next();
    if (!at(Tok::kName)) throw Unsure();
    leaf(Kind::k_identifier);
    finish(from, Kind::k_list_splat_pattern);
    return;
  }
  primary();
  last_to_pattern();
}

void FastParser::yield() {
  Mark from = mark();
  next();
  if (take(Tok::kFrom)) {
    expression();
  } else if (!ends_list()) {
    expression_list();
  }
  finish(from, Kind::k_yield);
}

}  // namespace assay
