// The parts of check_syntax(), by what they look at. Each adds what it finds.
#pragma once

#include <string>
#include <vector>

#include "python/scope.h"
#include "python/syntax.h"

namespace assay::syntax_check {

// `except* E:`; the grammar takes `except *E:` for a plain except clause around a starred expression.
bool is_except_group(Node clause);

class ErrorList {
 public:
  explicit ErrorList(const SyntaxTree& tree) : tree_(tree) {}
  void add(Node node, std::string message) { add(node.start(), std::move(message)); }
  void add(uint32_t byte, std::string message);
  std::vector<SyntaxError> take();  // sorted, one for each place

 private:
  const SyntaxTree& tree_;
  std::vector<SyntaxError> errors_;
};

// What may stand only in functions, loops and async functions; comprehensions; `import *`.
void check_flow(const SyntaxTree& tree, ErrorList& errors);
// `global` and `nonlocal`.
void check_declarations(const SyntaxTree& tree, const ModuleScopes& scopes, ErrorList& errors);
// Blocks, indentation, bytes that no source may hold.
void check_layout(const SyntaxTree& tree, ErrorList& errors);
// `from __future__ import`.
void check_future(const SyntaxTree& tree, ErrorList& errors);

// One node each.
void check_parameters(Node parameters, ErrorList& errors);  // parameters, lambda_parameters
void check_arguments(Node arguments, ErrorList& errors);    // argument_list
void check_targets(Node node, ErrorList& errors);           // whatever assigns or deletes
void check_star(Node splat, ErrorList& errors);             // list_splat, dictionary_splat
void check_walrus(Node named_expression, ErrorList& errors);
void check_literal(Node node, ErrorList& errors);  // string, concatenated_string, integer, interpolation
void check_try(Node try_statement, ErrorList& errors);
void check_match(Node match_statement, ErrorList& errors);
void check_import(Node import, ErrorList& errors);

}  // namespace assay::syntax_check
