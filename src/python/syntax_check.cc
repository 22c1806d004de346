#include "python/syntax_check.h"

#include <algorithm>
#include <array>

#include "python/syntax_check_parts.h"

namespace assay {
namespace syntax_check {

bool is_except_group(Node clause) {
  if (clause.is(Kind::k_except_group_clause)) return true;
  return clause.is(Kind::k_except_clause) && clause.first_child().text().starts_with('*');
}

void ErrorList::add(uint32_t byte, std::string message) {
  constexpr size_t kMost = 200;  // as in SyntaxTree: finding a column takes time in the length of its line
  if (errors_.size() == kMost) return;
  errors_.push_back({tree_.line_of(byte), tree_.column_of(byte), std::move(message)});
}

std::vector<SyntaxError> ErrorList::take() {
  auto key = [](const SyntaxError& e) { return std::pair(e.line, e.column); };
  std::stable_sort(errors_.begin(), errors_.end(),
                   [key](const SyntaxError& a, const SyntaxError& b) { return key(a) < key(b); });
  errors_.erase(std::unique(errors_.begin(), errors_.end(),
                            [key](const SyntaxError& a, const SyntaxError& b) { return key(a) == key(b); }),
                errors_.end());
  return std::move(errors_);
}

}  // namespace syntax_check

namespace {

using namespace syntax_check;

bool is_keyword(std::string_view name) {
  static constexpr std::array<std::string_view, 35> kKeywords = {
      "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
      "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  if (name.size() < 2 || name.size() > 8) return false;
  return std::binary_search(kKeywords.begin(), kKeywords.end(), name);
}

// `f(,)`, `{,}`: the grammar lets a lone comma stand.
void check_lone_comma(Node node, ErrorList& errors) {
  std::string_view text = node.text();
  if (node.first_child() || text.size() < 3) return;
  size_t i = text.find_first_not_of(" \t\r\n", 1);
  if (i != std::string_view::npos && text[i] == ',')
    errors.add(node.start() + static_cast<uint32_t>(i), "invalid syntax");
}

// `a: b: c`
void check_constrained_type(Node node, ErrorList& errors) {
  if (!node.parent().parent().is_any(Kind::k_type_parameter, Kind::kOther))
    errors.add(node, "invalid syntax");
}

void check_with(Node node, ErrorList& errors) {
  Node clause = node.child(Kind::k_with_clause);
  if (clause.text().ends_with(',')) errors.add(clause.end() - 1, "invalid syntax");
}

void check_operator(Node node, ErrorList& errors) {
  if (node.text() == "<>") errors.add(node, "invalid syntax: `<>` of Python 2");
}

void check_node(Node node, ErrorList& errors) {
  switch (node.kind()) {
    case Kind::k_identifier:
      if (is_keyword(node.text()))
        errors.add(node, "invalid syntax: `" + std::string(node.text()) + "` is a keyword");
      break;
    case Kind::k_parameters:
    case Kind::k_lambda_parameters:
      check_parameters(node, errors);
      break;
    case Kind::k_argument_list:
      check_arguments(node, errors);
      check_lone_comma(node, errors);
      break;
    case Kind::k_dictionary:
    case Kind::k_set:
      check_lone_comma(node, errors);
      break;
    case Kind::k_assignment:
    case Kind::k_augmented_assignment:
    case Kind::k_delete_statement:
    case Kind::k_for_statement:
    case Kind::k_for_in_clause:
    case Kind::k_as_pattern:
      check_targets(node, errors);
      break;
    case Kind::k_list_splat:
    case Kind::k_dictionary_splat:
      check_star(node, errors);
      break;
    case Kind::k_parenthesized_list_splat:
      errors.add(node, "cannot use starred expression here");
      break;
    case Kind::k_named_expression:
      check_walrus(node, errors);
      break;
    case Kind::k_string:
    case Kind::k_concatenated_string:
    case Kind::k_interpolation:
    case Kind::k_integer:
      check_literal(node, errors);
      break;
    case Kind::k_try_statement:
      check_try(node, errors);
      break;
    case Kind::k_match_statement:
      check_match(node, errors);
      break;
    case Kind::k_import_statement:
    case Kind::k_import_from_statement:
      check_import(node, errors);
      break;
    case Kind::k_with_statement:
      check_with(node, errors);
      break;
    case Kind::k_constrained_type:
      check_constrained_type(node, errors);
      break;
    case Kind::kOperator:
      check_operator(node, errors);
      break;
    case Kind::k_raise_statement:
      if (node.first_child().is(Kind::k_expression_list))
        errors.add(node, "invalid syntax: a statement of Python 2");
      break;
    default:
      break;
  }
}

}  // namespace

std::vector<SyntaxError> check_syntax(const SyntaxTree& tree, const ModuleScopes& scopes) {
  if (!tree.errors().empty()) return {};
  ErrorList errors(tree);
  for (Node node : tree.root().descendants()) check_node(node, errors);
  check_flow(tree, errors);
  check_declarations(tree, scopes, errors);
  check_layout(tree, errors);
  check_future(tree, errors);
  return errors.take();
}

}  // namespace assay
