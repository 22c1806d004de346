// The recursive descent behind fast_parse().
//
// Nodes are collected in postorder: what stands left of an operator is there before the operator is known,
// and needs no moving when a node comes to enclose it. A function that parses a construct remembers where its
// nodes begin (a Mark) and closes them with finish(). One pass at the end turns the list into preorder.
#pragma once

#include <string_view>
#include <vector>

#include "python/fast_lex.h"
#include "python/syntax.h"

namespace assay {

struct PostNode {
  uint32_t start, end;
  uint32_t size;  // of the subtree, itself included
  Kind kind;
  Field field;
};

class FastParser {
 public:
  FastParser(std::string_view text, std::vector<Comment>& comments);
  void parse_module();  // throws Unsure
  const std::vector<PostNode>& postorder() const { return nodes_; }

 private:
  struct Mark {
    uint32_t index;  // of the construct's first node
    uint32_t start;  // its first byte
  };
  static constexpr int kMaxDepth = 100;
  // Bounds the recursion: one lives in each function that can contain itself.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) throw Unsure();
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  // Tokens.
  Tok tok() const { return lex_.token().kind; }
  bool at(Tok kind) const { return tok() == kind; }
  bool at_word(std::string_view word) const { return at(Tok::kName) && lex_.text(lex_.token()) == word; }
  void next() { lex_.next(); }
  bool take(Tok kind) {
    if (!at(kind)) return false;
    lex_.next();
    return true;
  }
  void expect(Tok kind) {
    if (!take(kind)) throw Unsure();
  }

  // Nodes.
  Mark mark() const { return {static_cast<uint32_t>(nodes_.size()), lex_.token().start}; }
  void leaf(Kind kind, Field field = Field::kNone);  // of the token, which is taken
  void finish(Mark from, Kind kind) { finish(from, kind, lex_.last_end()); }
  void finish(Mark from, Kind kind, uint32_t end);
  void set_field(Field field) { nodes_.back().field = field; }  // of the construct finished last
  Kind last_kind() const { return nodes_.back().kind; }
  // The one node since the mark is an identifier.
  bool is_lone_name(Mark from) const {
    return nodes_.size() == from.index + 1 && nodes_.back().kind == Kind::k_identifier;
  }
  void to_pattern(size_t index);  // an expression that turns out to be assigned to
  void last_to_pattern() { to_pattern(nodes_.size() - 1); }
  void children_to_patterns(size_t index);

  // Expressions, in fast_expr.cc.
  void named_expression();  // with `:=` and all below
  void expression();
  void conditional(Mark from);
  void lambda();
  void disjunction();
  void conjunction();
  void inversion();
  void comparison();
  bool comparison_operator();
  void arithmetic(int min_precedence);
  void unary();
  void await();
  void primary();
  void postfix(Mark from);
  void call(Mark from);
  void subscript(Mark from);
  void subscript_element();
  void starred_in_brackets();
  void starred(bool mended = false);
  void expression_or_starred();
  void list_element(bool may_be_targets);
  bool ends_list() const;
  void expression_list(bool may_be_targets = false);
  void target_list(Tok end);
  void target();
  void yield();

  // Atoms, in fast_atoms.cc.
  void atom();
  void parenthesized();
  void list();
  void braces();
  void set_elements(Mark from);
  void pair();
  void dictionary_element();
  bool collection_element(bool allow_as);
  void comprehension(Mark from, Kind kind, Tok close);
  void for_in_clause();
  void arguments();
  bool argument();
  void strings();
  void format_string(Mark from);
  void placeholder(uint32_t brace, const FastLexer::FormatString& string, Kind kind);
  void format_spec(const FastLexer::FormatString& string);

  // Types and parameters, in fast_types.cc.
  void type();
  bool is_soft_keyword() const;
  bool type_operand(bool behind_pipe);
  void type_parameters();
  void type_parameter_element();
  void parameters(Tok close, bool typed);
  void parameter(bool typed);
  void splat_parameter(Kind kind, bool typed);

  // Statements, in fast_stmt.cc.
  void statement();
  void simple_statements();
  void simple_statement();
  void small_keyword(Kind kind);
  void expression_statement();
  void assignment(Mark from);
  bool is_type_alias(Mark from) const;
  bool is_unfinished_target_list() const;
  void annotation(Mark from);
  void right_side(bool chain);
  void import();
  void import_from();
  void module_name();
  void import_names();
  void dotted_name();
  void return_statement();
  void raise();
  void names(Kind kind);
  void assert_statement();
  void del();
  void refuse_python2() const;
  bool begins_soft_keyword_statement() const;
  void type_alias();

  // Compound statements, in fast_compound.cc.
  bool compound_statement();
  uint32_t suite(Field field);  // the end of it
  uint32_t indented_statements();
  uint32_t open_block();  // the indentation around it
  uint32_t close_block(uint32_t outer);
  bool at_clause(Tok keyword) const;
  uint32_t else_clause(Field field);
  void if_statement();
  void while_statement();
  void for_statement(Mark from);
  void try_statement();
  uint32_t except_clause();
  uint32_t finally_clause();
  void with_statement(Mark from);
  void with_items();
  void with_item(Mark from);
  bool parenthesized_items(Mark from);
  void as_target(Mark from);
  void function(Mark from);
  void class_definition();
  void decorated();
  void async_statement();

  // match, in fast_match.cc.
  void match_statement();
  void case_clause();
  void case_pattern();
  void closed_pattern();
  void simple_pattern();
  void pattern_sequence(Tok close);
  void class_or_name();
  void class_argument();
  void dict_pattern();
  void splat_pattern();

  FastLexer lex_;
  std::vector<PostNode> nodes_;
  uint32_t block_indent_ = 0;
  int depth_ = 0;
  int splats_ = 0;         // open ones
  bool allow_as_ = false;  // the next bracket is the one of `with (a as b, …)`
  bool used_as_ = false;
  bool two_readings_ = false;  // of the line: see simple_statements()
};

}  // namespace assay
