#include <fmt/format.h>

#include <unordered_set>

#include "python/syntax_check_parts.h"

namespace assay::syntax_check {
namespace {

bool is_wrong_name(Node name) { return name.text() == "__debug__"; }

// Reads a parameter list from left to right.
class ParameterChecker {
 public:
  explicit ParameterChecker(ErrorList& errors) : errors_(errors) {}

  void add(Node node) {
    if (after_var_keyword_) errors_.add(node, "arguments cannot follow var-keyword argument");
    switch (node.kind()) {
      case Kind::k_positional_separator:
        slash(node);
        return;
      case Kind::k_keyword_separator:
        star(node);
        return;
      default:
        break;
    }
    Node name = node;
    if (node.is_any(Kind::k_default_parameter, Kind::k_typed_default_parameter))
      name = node.child(Field::k_name);
    if (node.is(Kind::k_typed_parameter)) name = node.first_child();
    if (name.is(Kind::k_list_splat_pattern)) {
      star(node);
      bare_star_ = Node();
    } else if (name.is(Kind::k_dictionary_splat_pattern)) {
      finish();
      after_var_keyword_ = true;
    } else {
      plain(node);
    }
    if (name.is_any(Kind::k_list_splat_pattern, Kind::k_dictionary_splat_pattern)) name = name.first_child();
    check_name(node, name);
  }

  // A `*` wants a name behind it.
  void finish() {
    if (bare_star_) errors_.add(bare_star_, "named arguments must follow bare *");
    bare_star_ = Node();
  }

 private:
  void slash(Node node) {
    if (slash_) errors_.add(node, "/ may appear only once");
    if (star_) errors_.add(node, "/ must be ahead of *");
    if (count_ == 0) errors_.add(node, "at least one argument must precede /");
    slash_ = true;
  }

  void star(Node node) {
    if (star_) errors_.add(node, "* argument may appear only once");
    star_ = true;
    if (node.is(Kind::k_keyword_separator)) bare_star_ = node;
  }

  void plain(Node node) {
    ++count_;
    bare_star_ = Node();
    bool has_default = node.is_any(Kind::k_default_parameter, Kind::k_typed_default_parameter);
    if (!star_ && defaults_ && !has_default)
      errors_.add(node, "parameter without a default follows parameter with a default");
    defaults_ |= has_default;
  }

  void check_name(Node node, Node name) {
    if (name.is(Kind::k_tuple_pattern)) {
      errors_.add(node, "function parameters cannot be parenthesized");
    } else if (is_wrong_name(name)) {
      errors_.add(node, "cannot assign to __debug__");
    } else if (!names_.insert(name.text()).second) {
      errors_.add(node, fmt::format("duplicate argument '{}' in function definition", name.text()));
    }
  }

  ErrorList& errors_;
  std::unordered_set<std::string_view> names_;
  size_t count_ = 0;
  bool slash_ = false, star_ = false, defaults_ = false, after_var_keyword_ = false;
  Node bare_star_;
};

// `f(x for x in y, 1)`
bool is_bare_generator(Node node) {
  return node.is(Kind::k_generator_expression) && node.first_child().start() == node.start();
}

enum class TargetUse { kAssign, kDelete };

const char* target_name(Node node) {
  switch (node.kind()) {
    case Kind::k_call:
      return "function call";
    case Kind::k_integer:
    case Kind::k_float:
    case Kind::k_string:
    case Kind::k_concatenated_string:
      return "literal";
    case Kind::k_none:
      return "None";
    case Kind::k_true:
      return "True";
    case Kind::k_false:
      return "False";
    case Kind::k_ellipsis:
      return "ellipsis";
    case Kind::k_lambda:
      return "lambda";
    case Kind::k_comparison_operator:
      return "comparison";
    case Kind::k_conditional_expression:
      return "conditional expression";
    case Kind::k_dictionary:
      return "dict literal";
    case Kind::k_set:
      return "set display";
    case Kind::k_await:
      return "await expression";
    case Kind::k_yield:
      return "yield expression";
    case Kind::k_list_splat:
    case Kind::k_list_splat_pattern:
      return "starred";
    default:
      return "expression";
  }
}

bool is_sequence(Node node) {
  return node.is_any(Kind::k_pattern_list, Kind::k_tuple_pattern, Kind::k_list_pattern,
                     Kind::k_expression_list, Kind::k_tuple, Kind::k_list);
}

// `(a)` is no tuple, though the grammar calls it one on the left of an assignment.
bool has_comma(Node tuple) {
  Node last = tuple.first_child();
  if (last.next_sibling()) return true;
  std::string_view rest = tuple.text().substr(last.end() - tuple.start());
  for (size_t i = rest.find_first_not_of(" \t\r\n"); i < rest.size();
       i = rest.find_first_not_of(" \t\r\n", i)) {
    if (rest[i] != '#') return rest[i] == ',';
    i = rest.find('\n', i);
  }
  return false;
}

// Takes parentheses away, those that the grammar takes for a tuple of one included.
Node strip_target_parens(Node target) {
  while (
      target.is(Kind::k_parenthesized_expression) ||
      (target.is_any(Kind::k_tuple_pattern, Kind::k_tuple) && target.first_child() && !has_comma(target))) {
    target = target.first_child();
  }
  return target;
}

bool is_single_target(Node node) {
  return node.is_any(Kind::k_identifier, Kind::k_attribute, Kind::k_subscript);
}

// Walks a target down to the names, without recursion.
class TargetChecker {
 public:
  TargetChecker(TargetUse use, ErrorList& errors) : use_(use), errors_(errors) {}

  void check(Node target) {
    if (is_star(target)) errors_.add(target, "starred assignment target must be in a list or tuple");
    pending_.push_back(target);
    while (!pending_.empty()) {
      Node node = pending_.back();
      pending_.pop_back();
      step(node);
    }
  }

 private:
  static bool is_star(Node node) { return node.is_any(Kind::k_list_splat, Kind::k_list_splat_pattern); }

  void step(Node node) {
    if (is_sequence(node)) {
      bool only_star = node.is_any(Kind::k_tuple, Kind::k_tuple_pattern) && is_star(node.first_child());
      if (only_star && !has_comma(node)) errors_.add(node, "cannot use starred expression here");
      step_sequence(node);
    } else if (node.is(Kind::k_parenthesized_expression)) {
      if (is_star(node.first_child())) errors_.add(node, "cannot use starred expression here");
      pending_.push_back(node.first_child());
    } else if (is_star(node) && use_ == TargetUse::kAssign) {
      pending_.push_back(node.first_child());
    } else if (node.is(Kind::k_attribute)) {
      if (is_wrong_name(node.child(Field::k_attribute))) errors_.add(node, "cannot assign to __debug__");
    } else if (node.is(Kind::k_identifier)) {
      if (is_wrong_name(node)) errors_.add(node, "cannot assign to __debug__");
    } else if (node && !is_single_target(node) && !node.is_any(Kind::kOther, Kind::kError)) {
      errors_.add(node, fmt::format("cannot {} {}", use_ == TargetUse::kDelete ? "delete" : "assign to",
                                    target_name(node)));
    }
  }

  void step_sequence(Node sequence) {
    int stars = 0;
    for (Node element : sequence.children()) {
      if (is_star(element) && ++stars == 2 && use_ == TargetUse::kAssign) {
        errors_.add(element, "multiple starred expressions in assignment");
      }
      pending_.push_back(element);
    }
  }

  TargetUse use_;
  ErrorList& errors_;
  std::vector<Node> pending_;
};

void check_assignment(Node node, ErrorList& errors) {
  Node left = node.child(Field::k_left);
  Node type = node.child(Field::k_type);
  if (!type) {
    TargetChecker(TargetUse::kAssign, errors).check(left);
    return;
  }
  Node target = strip_target_parens(left);
  if (!is_single_target(target)) {
    bool many = is_sequence(target);
    errors.add(left,
               many ? "only single target (not tuple) can be annotated" : "illegal target for annotation");
  } else if (is_wrong_name(target)) {
    errors.add(left, "cannot assign to __debug__");
  }
  if (node.parent().is(Kind::k_assignment) || node.child(Field::k_right).is(Kind::k_assignment)) {
    errors.add(node, "invalid syntax");
  }
}

// `for x in y, z` and `for x in lambda: y` within a comprehension
void check_iterable(Node clause, ErrorList& errors) {
  Node comma = clause.child(Kind::kOperator);
  Node iterable = clause.child(Field::k_right);
  if (comma.text() == ",") {
    errors.add(comma, "invalid syntax");
  } else if (clause.text().ends_with(',')) {
    errors.add(clause.end() - 1, "invalid syntax");
  } else if (iterable.is(Kind::k_lambda)) {
    errors.add(iterable, "invalid syntax");
  }
}

// `a as b` may stand in `with`, `except` and `case`.
void check_as_pattern(Node node, ErrorList& errors) {
  // `with a if b else c as d`: the grammar gives `c as d` to the condition. `with (a as b,)` is a tuple to
  // it.
  Node parent = node.parent();
  for (int step = 0; step < 100; ++step) {
    bool inside =
        parent.is_any(Kind::k_parenthesized_expression, Kind::k_tuple) ||
        (parent.end() == node.end() && !parent.is_any(Kind::k_with_item, Kind::k_except_clause,
                                                      Kind::k_except_group_clause, Kind::k_case_pattern));
    if (!inside || !parent.parent()) break;
    parent = parent.parent();
  }
  if (parent.is(Kind::k_with_item)) {
    TargetChecker(TargetUse::kAssign, errors).check(node.child(Kind::k_as_pattern_target).first_child());
  } else if (!parent.is_any(Kind::k_except_clause, Kind::k_except_group_clause, Kind::k_case_pattern,
                            Kind::kOther)) {
    errors.add(node, "invalid syntax");
  }
}

}  // namespace

void check_parameters(Node parameters, ErrorList& errors) {
  ParameterChecker checker(errors);
  for (Node node : parameters.children()) checker.add(node);
  checker.finish();
}

void check_arguments(Node arguments, ErrorList& errors) {
  std::unordered_set<std::string_view> keywords;
  bool keyword_seen = false, double_star_seen = false;
  for (Node node : arguments.children()) {
    if (node.is(Kind::k_keyword_argument)) {
      Node name = node.child(Field::k_name);
      keyword_seen = true;
      if (is_wrong_name(name)) errors.add(node, "cannot assign to __debug__");
      if (!keywords.insert(name.text()).second)
        errors.add(node, fmt::format("keyword argument repeated: {}", name.text()));
    } else if (node.is(Kind::k_dictionary_splat)) {
      double_star_seen = true;
    } else if (node.text().starts_with('*')) {
      if (double_star_seen)
        errors.add(node, "iterable argument unpacking follows keyword argument unpacking");
    } else if (double_star_seen) {
      errors.add(node, "positional argument follows keyword argument unpacking");
    } else if (keyword_seen) {
      errors.add(node, "positional argument follows keyword argument");
    }
    if (is_bare_generator(node)) errors.add(node, "generator expression must be parenthesized");
  }
}

void check_targets(Node node, ErrorList& errors) {
  switch (node.kind()) {
    case Kind::k_assignment:
      check_assignment(node, errors);
      break;
    case Kind::k_augmented_assignment: {
      Node target = strip_target_parens(node.child(Field::k_left));
      if (!is_single_target(target)) {
        errors.add(target, fmt::format("'{}' is an illegal expression for augmented assignment",
                                       is_sequence(target) ? "tuple" : target_name(target)));
      }
      break;
    }
    case Kind::k_delete_statement: {
      Node target = node.first_child();
      if (target.is(Kind::k_list_splat)) {
        errors.add(target, "cannot delete starred");
      } else {
        TargetChecker(TargetUse::kDelete, errors).check(target);
      }
      break;
    }
    case Kind::k_for_statement:
    case Kind::k_for_in_clause: {
      TargetChecker(TargetUse::kAssign, errors).check(node.child(Field::k_left));
      if (node.is(Kind::k_for_in_clause)) check_iterable(node, errors);
      break;
    }
    case Kind::k_as_pattern:
      check_as_pattern(node, errors);
      break;
    default:
      break;
  }
}

void check_star(Node splat, ErrorList& errors) {
  Node parent = splat.parent();
  if (parent.is_any(Kind::k_delete_statement, Kind::kOther, Kind::kError)) return;
  if (splat.is(Kind::k_dictionary_splat)) {
    if (!parent.is_any(Kind::k_argument_list, Kind::k_dictionary, Kind::k_type_parameter, Kind::k_type)) {
      errors.add(splat, "invalid syntax");
    }
    return;
  }
  if (parent.is(Kind::k_set)) return;
  if (is_except_group(parent) || is_except_group(parent.parent())) return;  // `except *E as e`
  if (parent.is(Kind::k_expression_statement) && parent.first_child().next_sibling()) return;  // `*a, b`
  if (parent.is(Kind::k_tuple) && !has_comma(parent)) {
    errors.add(splat, "cannot use starred expression here");
    return;
  }
  if (!parent.is_any(Kind::k_argument_list, Kind::k_list, Kind::k_tuple, Kind::k_expression_list,
                     Kind::k_pattern_list, Kind::k_subscript, Kind::k_match_statement, Kind::k_type,
                     Kind::k_type_parameter, Kind::k_generic_type, Kind::k_case_pattern)) {
    errors.add(splat, "can't use starred expression here");
  }
}

void check_walrus(Node node, ErrorList& errors) {
  Node parent = node.parent();
  if (parent.is_any(Kind::k_expression_statement, Kind::k_assignment, Kind::k_augmented_assignment,
                    Kind::k_pair, Kind::k_keyword_argument, Kind::k_assert_statement, Kind::k_with_item,
                    Kind::k_default_parameter, Kind::k_typed_default_parameter, Kind::k_delete_statement,
                    Kind::k_return_statement)) {
    errors.add(node, "invalid syntax");
  } else if (parent.is(Kind::k_lambda)) {
    errors.add(node, "cannot use assignment expressions with lambda");
  }
}

}  // namespace assay::syntax_check
