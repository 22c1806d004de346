// Compound statements of FastParser. Each leaves the first token of the next line.
#include "python/fast_parser.h"

namespace assay {

// tree-sitter's module ends with the text and starts with its first comment or token.
void FastParser::parse_module() {
  uint32_t start = lex_.module_start();
  while (!at(Tok::kEnd)) {
    if (lex_.indent() != 0) throw Unsure();
    statement();
  }
  finish({0, start}, Kind::k_module, lex_.token().end);
}

bool FastParser::compound_statement() {
  switch (tok()) {
    case Tok::kIf:
      if_statement();
      return true;
    case Tok::kWhile:
      while_statement();
      return true;
    case Tok::kFor:
      for_statement(mark());
      return true;
    case Tok::kTry:
      try_statement();
      return true;
    case Tok::kWith:
      with_statement(mark());
      return true;
    case Tok::kDef:
      function(mark());
      return true;
    case Tok::kClass:
      class_definition();
      return true;
    case Tok::kAt:
      decorated();
      return true;
    case Tok::kAsync:
      async_statement();
      return true;
    case Tok::kName:
      if (!at_word("match") || !begins_soft_keyword_statement()) return false;
      match_statement();
      return true;
    default:
      return false;
  }
}

// From the colon to the end of the block, which is a node of this field.
uint32_t FastParser::suite(Field field) {
  expect(Tok::kColon);
  uint32_t end = 0;
  if (at(Tok::kNewline)) {
    end = indented_statements();
  } else {
    Mark from = mark();
    simple_statements();
    end = lex_.last_end();  // of the newline
    finish(from, Kind::k_block, end);
  }
  set_field(field);
  return end;
}

uint32_t FastParser::indented_statements() {
  uint32_t outer = open_block();
  Mark from = mark();
  while (!at(Tok::kEnd) && lex_.indent() == block_indent_) statement();
  uint32_t end = close_block(outer);
  finish(from, Kind::k_block, end);
  return end;
}

// Takes the newline; what it returns is for close_block().
uint32_t FastParser::open_block() {
  expect(Tok::kNewline);
  uint32_t outer = block_indent_;
  if (at(Tok::kEnd) || lex_.indent() <= outer) throw Unsure();
  block_indent_ = lex_.indent();
  lex_.set_block_indent(block_indent_);
  return outer;
}

uint32_t FastParser::close_block(uint32_t outer) {
  if (lex_.indent() >= block_indent_) throw Unsure();
  uint32_t end = lex_.close_block(block_indent_);
  block_indent_ = outer;
  lex_.set_block_indent(outer);
  return end;
}

// At the start of a line.
bool FastParser::at_clause(Tok keyword) const { return at(keyword) && lex_.indent() == block_indent_; }

uint32_t FastParser::else_clause(Field field) {
  Mark from = mark();
  next();
  uint32_t end = suite(Field::k_body);
  finish(from, Kind::k_else_clause, end);
  set_field(field);
  return end;
}

void FastParser::if_statement() {
  Mark from = mark();
  next();
  named_expression();
  set_field(Field::k_condition);
  uint32_t end = suite(Field::k_consequence);
  while (at_clause(Tok::kElif)) {
    Mark clause = mark();
    next();
    named_expression();
    set_field(Field::k_condition);
    end = suite(Field::k_consequence);
    finish(clause, Kind::k_elif_clause, end);
    set_field(Field::k_alternative);
  }
  if (at_clause(Tok::kElse)) end = else_clause(Field::k_alternative);
  finish(from, Kind::k_if_statement, end);
}

void FastParser::while_statement() {
  Mark from = mark();
  next();
  named_expression();
  set_field(Field::k_condition);
  uint32_t end = suite(Field::k_body);
  if (at_clause(Tok::kElse)) end = else_clause(Field::k_alternative);
  finish(from, Kind::k_while_statement, end);
}

void FastParser::for_statement(Mark from) {
  next();
  target_list(Tok::kIn);
  set_field(Field::k_left);
  next();
  expression_list();
  set_field(Field::k_right);
  uint32_t end = suite(Field::k_body);
  if (at_clause(Tok::kElse)) end = else_clause(Field::k_alternative);
  finish(from, Kind::k_for_statement, end);
}

void FastParser::try_statement() {
  Mark from = mark();
  next();
  uint32_t end = suite(Field::k_body);
  bool caught = at_clause(Tok::kExcept);
  while (at_clause(Tok::kExcept)) end = except_clause();
  if (caught && at_clause(Tok::kElse)) end = else_clause(Field::kNone);
  bool finished = at_clause(Tok::kFinally);
  if (finished) {
    Mark clause = mark();
    next();
    end = suite(Field::kNone);
    finish(clause, Kind::k_finally_clause, end);
  }
  if (!caught && !finished) throw Unsure();
  finish(from, Kind::k_try_statement, end);
}

uint32_t FastParser::except_clause() {
  Mark from = mark();
  next();
  if (!at(Tok::kColon)) {
    Mark value = mark();
    expression();
    if (at(Tok::kAs)) as_target(value);
    set_field(Field::k_value);
  }
  uint32_t end = suite(Field::kNone);
  finish(from, Kind::k_except_clause, end);
  return end;
}

// `as` binds tighter than the expressions refused here.
void FastParser::as_target(Mark from) {
  switch (last_kind()) {
    case Kind::k_conditional_expression:
    case Kind::k_lambda:
    case Kind::k_named_expression:
      throw Unsure();
    default:
      break;
  }
  next();
  Mark target = mark();
  primary();
  finish(target, Kind::k_as_pattern_target);
  set_field(Field::k_alias);
  finish(from, Kind::k_as_pattern);
  used_as_ = true;
}

void FastParser::with_statement(Mark from) {
  next();
  with_items();
  uint32_t end = suite(Field::k_body);
  finish(from, Kind::k_with_statement, end);
}

void FastParser::with_items() {
  Mark from = mark();
  used_as_ = false;
  allow_as_ = at(Tok::kLeftParen);
  expression();
  allow_as_ = false;
  if (!parenthesized_items(from)) {
    with_item(from);
    while (take(Tok::kComma)) {
      Mark item = mark();
      expression();
      with_item(item);
    }
  }
  finish(from, Kind::k_with_clause);
}

// Behind the expression.
void FastParser::with_item(Mark from) {
  if (at(Tok::kAs)) as_target(from);
  set_field(Field::k_value);
  finish(from, Kind::k_with_item);
}

// `with (a, b):` has two items, not a tuple. What was read as a tuple is taken apart.
bool FastParser::parenthesized_items(Mark from) {
  const PostNode whole = nodes_.back();
  bool covers = whole.size == nodes_.size() - from.index && at(Tok::kColon);
  bool bracket = whole.kind == Kind::k_tuple || whole.kind == Kind::k_parenthesized_expression;
  if (used_as_ && !(covers && bracket)) throw Unsure();
  if (!covers || whole.kind != Kind::k_tuple || whole.size == 1) return false;
  std::vector<PostNode> inner(nodes_.begin() + from.index, nodes_.end() - 1);
  std::vector<size_t> ends;  // of the elements, from the last one
  for (size_t end = inner.size(); end > 0; end -= inner[end - 1].size) ends.push_back(end);
  if (ends.size() == 1) return false;
  nodes_.resize(from.index);
  size_t begin = 0;
  for (auto end = ends.rbegin(); end != ends.rend(); begin = *end++) {
    nodes_.insert(nodes_.end(), inner.begin() + static_cast<ptrdiff_t>(begin),
                  inner.begin() + static_cast<ptrdiff_t>(*end));
    PostNode& value = nodes_.back();
    if (value.kind == Kind::k_list_splat) throw Unsure();
    value.field = Field::k_value;
    nodes_.push_back({value.start, value.end, value.size + 1, Kind::k_with_item, Field::kNone});
  }
  return true;
}

void FastParser::function(Mark from) {
  expect(Tok::kDef);
  if (!at(Tok::kName)) throw Unsure();
  leaf(Kind::k_identifier, Field::k_name);
  if (at(Tok::kLeftBracket)) {
    type_parameters();
    set_field(Field::k_type_parameters);
  }
  Mark list = mark();
  expect(Tok::kLeftParen);
  parameters(Tok::kRightParen, true);
  next();
  finish(list, Kind::k_parameters);
  set_field(Field::k_parameters);
  if (take(Tok::kArrow)) {
    type();
    set_field(Field::k_return_type);
  }
  uint32_t end = suite(Field::k_body);
  finish(from, Kind::k_function_definition, end);
}

void FastParser::class_definition() {
  Mark from = mark();
  next();
  if (!at(Tok::kName)) throw Unsure();
  leaf(Kind::k_identifier, Field::k_name);
  if (at(Tok::kLeftBracket)) {
    type_parameters();
    set_field(Field::k_type_parameters);
  }
  if (at(Tok::kLeftParen)) {
    arguments();
    if (last_kind() != Kind::k_argument_list) throw Unsure();
    set_field(Field::k_superclasses);
  }
  uint32_t end = suite(Field::k_body);
  finish(from, Kind::k_class_definition, end);
}

void FastParser::decorated() {
  Mark from = mark();
  while (at(Tok::kAt)) {
    Mark decorator = mark();
    next();
    named_expression();
    expect(Tok::kNewline);
    finish(decorator, Kind::k_decorator);  // it contains the newline
    if (lex_.indent() != block_indent_ || !lex_.comments_indented(block_indent_)) throw Unsure();
  }
  if (at(Tok::kClass)) {
    class_definition();
  } else {
    Mark definition = mark();
    if (at(Tok::kAsync)) leaf(Kind::kAsync);
    function(definition);
  }
  uint32_t end = nodes_.back().end;
  set_field(Field::k_definition);
  finish(from, Kind::k_decorated_definition, end);
}

void FastParser::async_statement() {
  Mark from = mark();
  leaf(Kind::kAsync);
  switch (tok()) {
    case Tok::kDef:
      return function(from);
    case Tok::kFor:
      return for_statement(from);
    case Tok::kWith:
      return with_statement(from);
    default:
      throw Unsure();
  }
}

}  // namespace assay
