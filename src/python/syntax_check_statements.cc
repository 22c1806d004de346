#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "python/syntax_check_parts.h"

namespace assay::syntax_check {
namespace {

// A pattern without guard that matches anything: a bare name, `_`, or one of these in parentheses.
bool is_irrefutable(Node pattern) {
  for (int depth = 0; depth < 100; ++depth) {
    if (pattern.text() == "_") return true;
    Node inner = pattern.first_child();
    if (pattern.is(Kind::k_dotted_name)) return !inner.next_sibling();
    bool wraps = pattern.is(Kind::k_case_pattern) ||
                 (pattern.is(Kind::k_tuple_pattern) && pattern.text().find(',') == std::string_view::npos);
    if (!wraps || !inner || inner.next_sibling()) return false;
    if (inner.is(Kind::k_splat_pattern) || pattern.text().starts_with('-')) return false;
    pattern = inner;
  }
  return false;
}

// Within one pattern of a `case`.
void check_pattern(Node node, ErrorList& errors) {
  size_t stars = 0;
  bool keyword = false;
  for (Node child : node.children()) {
    Node inner = child.is(Kind::k_case_pattern) ? child.first_child() : child;
    bool star = inner.is(Kind::k_splat_pattern);
    switch (node.kind()) {
      case Kind::k_union_pattern:
        if (child.next_sibling() && is_irrefutable(child))
          errors.add(child, "pattern makes remaining patterns unreachable");
        break;
      case Kind::k_list_pattern:
      case Kind::k_tuple_pattern:
        if (star && ++stars == 2) errors.add(inner, "multiple starred names in sequence pattern");
        break;
      case Kind::k_dict_pattern:
        if (star && (child.next_sibling() || inner.text() == "**_")) errors.add(inner, "invalid syntax");
        break;
      case Kind::k_class_pattern:
        if (keyword && child.is(Kind::k_case_pattern) && !inner.is(Kind::k_keyword_pattern)) {
          errors.add(child, "positional patterns follow keyword patterns");
        }
        keyword |= inner.is(Kind::k_keyword_pattern);
        break;
      default:
        break;
    }
  }
  if (node.is(Kind::k_as_pattern) && node.text().ends_with("as _"))
    errors.add(node, "cannot use '_' as a target");
}

bool is_future_feature(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kFeatures = {
      "nested_scopes",  "generators",       "division",       "absolute_import", "with_statement",
      "print_function", "unicode_literals", "barry_as_FLUFL", "generator_stop",  "annotations"};
  return std::find(kFeatures.begin(), kFeatures.end(), name) != kFeatures.end();
}

bool is_docstring(Node statement) {
  Node value = statement.is(Kind::k_expression_statement) ? statement.first_child() : Node();
  if (value.next_sibling()) return false;
  value = strip_parens(value);
  std::string text;
  return value.is_any(Kind::k_string, Kind::k_concatenated_string) && string_value(value, text) &&
         value.text().find_first_of("fF") > value.text().find_first_of("\"'");
}

void check_feature_names(Node statement, ErrorList& errors) {
  for (Node name : statement.children()) {
    if (name.field() != Field::k_name) continue;
    std::string_view feature =
        name.is(Kind::k_aliased_import) ? name.child(Field::k_name).text() : name.text();
    if (feature == "braces") {
      errors.add(name, "not a chance");
    } else if (!is_future_feature(feature)) {
      errors.add(name, fmt::format("future feature {} is not defined", feature));
    }
  }
}

// The names in `global` and `nonlocal` statements, and what else the same scope does with them.
class DeclarationChecker {
 public:
  DeclarationChecker(const SyntaxTree& tree, const ModuleScopes& scopes, ErrorList& errors)
      : tree_(tree), scopes_(scopes), errors_(errors) {}

  void run() {
    collect();
    if (declarations_.empty()) return;
    for (Node node : tree_.root().descendants()) {
      if (node.is(Kind::k_identifier) && names_.contains(node.text())) note_use(node);
    }
    for (const Declaration& d : declarations_) check(d);
  }

 private:
  struct Declaration {
    Node statement, identifier;
    ScopeId scope;
    bool is_global;
  };
  struct Use {
    NodeId first = kNoNode;
    bool declared_global = false, declared_nonlocal = false;
    Node annotated;
  };
  using Key = std::pair<ScopeId, std::string_view>;
  struct KeyHash {
    size_t operator()(const Key& k) const { return std::hash<std::string_view>()(k.second) * 31 + k.first; }
  };

  void collect() {
    for (Node node : tree_.root().descendants()) {
      if (!node.is_any(Kind::k_global_statement, Kind::k_nonlocal_statement)) continue;
      ScopeId scope = scopes_.scope_of(node.id());
      for (Node name : node.children()) {
        bool is_global = node.is(Kind::k_global_statement);
        declarations_.push_back({node, name, scope, is_global});
        names_.insert(name.text());
        Use& use = uses_[{scope, name.text()}];
        (is_global ? use.declared_global : use.declared_nonlocal) = true;
      }
    }
  }

  void note_use(Node node) {
    Node parent = node.parent();
    if (node.field() == Field::k_attribute ||
        parent.is_any(Kind::k_global_statement, Kind::k_nonlocal_statement))
      return;
    if (parent.is(Kind::k_keyword_pattern) && parent.first_child() == node) return;
    if (parent.is(Kind::k_dotted_name) && !is_pattern_name(parent)) return;  // CPython lets imports pass
    if (parent.is(Kind::k_aliased_import)) return;
    if (node.field() == Field::k_name) {
      if (parent.is(Kind::k_keyword_argument)) return;
      if (parent.is_any(Kind::k_default_parameter, Kind::k_typed_default_parameter)) return;
    }
    if (parent.is_any(Kind::k_parameters, Kind::k_lambda_parameters, Kind::k_typed_parameter)) return;
    auto it = uses_.find({scopes_.scope_of(node.id()), node.text()});
    if (it == uses_.end()) return;
    it->second.first = std::min(it->second.first, node.id());
    if (parent.is(Kind::k_assignment) && node.field() == Field::k_left && parent.child(Field::k_type)) {
      it->second.annotated = node;
    }
  }

  static bool is_pattern_name(Node dotted) {
    return dotted.parent().is_any(Kind::k_case_pattern, Kind::k_union_pattern, Kind::k_class_pattern);
  }

  void check(const Declaration& d) {
    std::string_view name = d.identifier.text();
    const char* word = d.is_global ? "global" : "nonlocal";
    const Use& use = uses_.at({d.scope, name});
    bool at_module = scopes_.scopes()[d.scope].kind == ScopeKind::kModule;
    if (!d.is_global && at_module) {
      errors_.add(d.statement, "nonlocal declaration not allowed at module level");
    } else if (use.declared_global && use.declared_nonlocal) {
      errors_.add(d.statement, fmt::format("name '{}' is nonlocal and global", name));
    } else if (has_binding(d.scope, name, BindingKind::kParameter)) {
      errors_.add(d.statement, fmt::format("name '{}' is parameter and {}", name, word));
    } else if (use.first < d.statement.id()) {
      errors_.add(d.statement, fmt::format("name '{}' is used prior to {} declaration", name, word));
    } else if (use.annotated && !at_module) {
      errors_.add(use.annotated, fmt::format("annotated name '{}' can't be {}", name, word));
    } else if (!d.is_global && !is_bound_around(d.scope, name)) {
      errors_.add(d.statement, fmt::format("no binding for nonlocal '{}' found", name));
    }
  }

  bool has_binding(ScopeId scope, std::string_view name, BindingKind kind) const {
    for (const Binding& b : scopes_.in_scope(scope, name)) {
      if (b.kind == kind) return true;
    }
    return false;
  }

  // In a function around the scope.
  bool is_bound_around(ScopeId scope, std::string_view name) const {
    for (ScopeId s = scopes_.scopes()[scope].parent; s != kNoScope; s = scopes_.scopes()[s].parent) {
      const Scope& around = scopes_.scopes()[s];
      if (around.kind == ScopeKind::kClass && (name == "__class__" || name == "__classdict__")) return true;
      if (around.kind == ScopeKind::kClass || around.kind == ScopeKind::kModule) continue;
      if (has_binding(s, name, BindingKind::kGlobal)) return false;
      if (has_binding(s, name, BindingKind::kNonlocal)) continue;
      if (!scopes_.in_scope(s, name).empty()) return true;
    }
    return false;
  }

  const SyntaxTree& tree_;
  const ModuleScopes& scopes_;
  ErrorList& errors_;
  std::vector<Declaration> declarations_;
  std::unordered_set<std::string_view> names_;
  std::unordered_map<Key, Use, KeyHash> uses_;
};

}  // namespace

void check_try(Node statement, ErrorList& errors) {
  Node bare, finally, plain, group;
  for (Node clause : statement.children()) {
    bool is_except = clause.is_any(Kind::k_except_clause, Kind::k_except_group_clause);
    if (is_except && bare) errors.add(bare, "default 'except:' must be last");
    if (is_except && finally) errors.add(clause, "invalid syntax: 'except' behind 'finally'");
    if (clause.is(Kind::k_finally_clause)) finally = clause;
    if (is_except_group(clause)) group = clause;
    if (!clause.is(Kind::k_except_clause) || is_except_group(clause)) continue;
    plain = clause;
    Node caught = clause.child(Field::k_value);
    if (clause.first_child().is(Kind::k_block)) bare = clause;
    if (caught.is(Kind::k_as_pattern) && clause.child(Field::k_alias)) errors.add(clause, "invalid syntax");
    Node alias = caught.child(Kind::k_as_pattern_target);
    if (alias && !alias.first_child().is(Kind::k_identifier)) errors.add(alias, "invalid syntax");
  }
  if (plain && group) errors.add(group, "cannot have both 'except' and 'except*' on the same 'try'");
}

void check_match(Node statement, ErrorList& errors) {
  Node irrefutable;
  for (Node clause : statement.child(Field::k_body).children()) {
    if (!clause.is(Kind::k_case_clause)) continue;
    if (irrefutable) {
      errors.add(irrefutable, "pattern makes remaining patterns unreachable");
      return;
    }
    Node pattern = clause.child(Kind::k_case_pattern);
    for (Node part : clause.descendants()) {
      if (part.is(Kind::k_block)) break;
      check_pattern(part, errors);
    }
    if (pattern.first_child().is(Kind::k_splat_pattern) && pattern.next_sibling().is(Kind::k_block)) {
      std::string_view rest = clause.tree()->source().substr(pattern.end());
      if (rest.substr(rest.find_first_not_of(" \t"), 1) == ":") errors.add(pattern, "invalid syntax");
    }
    if (pattern.next_sibling().is(Kind::k_case_pattern) || clause.child(Field::k_guard)) continue;
    std::string_view behind = clause.tree()->source().substr(pattern.end(), 8);
    if (behind.find_first_not_of(" \t") != std::string_view::npos &&
        behind[behind.find_first_not_of(" \t")] == ',')
      continue;
    if (is_irrefutable(pattern)) irrefutable = pattern;
  }
}

void check_import(Node statement, ErrorList& errors) {
  if (statement.text().ends_with(',')) {
    errors.add(statement.end() - 1, "trailing comma not allowed without surrounding parentheses");
  }
  if (!statement.is(Kind::k_import_from_statement)) return;
  for (Node name : statement.children()) {
    if (name.field() != Field::k_name) continue;
    Node dotted = name.is(Kind::k_aliased_import) ? name.child(Field::k_name) : name;
    if (dotted.first_child().next_sibling()) errors.add(name, "invalid syntax");
  }
}

void check_future(const SyntaxTree& tree, ErrorList& errors) {
  bool at_beginning = true, first = true;
  NodeId beginning_end = 0;
  for (Node statement : tree.root().children()) {
    if (at_beginning && !statement.is(Kind::k_future_import_statement) &&
        !(first && is_docstring(statement))) {
      at_beginning = false;
      beginning_end = statement.id();
    }
    first = false;
  }
  if (at_beginning) beginning_end = tree.root().subtree_end();
  for (Node node : tree.root().descendants()) {
    if (!node.is(Kind::k_future_import_statement)) continue;
    check_feature_names(node, errors);
    if (node.id() > beginning_end || !(node.parent() == tree.root())) {
      errors.add(node, "from __future__ imports must occur at the beginning of the file");
    }
  }
}

void check_declarations(const SyntaxTree& tree, const ModuleScopes& scopes, ErrorList& errors) {
  DeclarationChecker(tree, scopes, errors).run();
}

}  // namespace assay::syntax_check
