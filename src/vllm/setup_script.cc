#include "vllm/setup_script.h"

#include "base/text.h"
#include "python/scope.h"
#include "vllm/ini_text.h"

namespace assay {

namespace {

constexpr int kDeepest = 12;  // how many names in a row are followed

// Follows names of module variables, and the literals they are bound to.
class SetupReader {
 public:
  SetupReader(const SyntaxTree& tree, const std::string& file, SetupScript& out)
      : tree_(tree), scopes_(tree), file_(file), out_(out) {}

  void read() {
    for (Node n : tree_.root().descendants()) {
      if (!n.is(Kind::k_call)) continue;
      std::string callee = dotted_text(n.child(Field::k_function));
      if (callee != "setup" && !std::string_view(callee).ends_with(".setup")) continue;
      for (Node a : n.child(Field::k_arguments).children()) read_argument(a);
    }
  }

 private:
  void read_argument(Node argument) {
    if (argument.is(Kind::k_dictionary_splat)) {
      each_value(argument.first_child(), 0, [&](Node d) {
        for (Node pair : d.children()) {
          std::string key;
          if (string_value(pair.child(Field::k_key), key)) read_keyword(key, pair.child(Field::k_value));
        }
      });
    }
    if (!argument.is(Kind::k_keyword_argument)) return;
    read_keyword(argument.child(Field::k_name).text(), argument.child(Field::k_value));
  }

  void read_keyword(std::string_view name, Node value) {
    if (name == "entry_points") read_groups(value);
    if (name == "name") each_value(value, 0, [&](Node v) { string_value(v, out_.name); });
    if (name == "version") each_value(value, 0, [&](Node v) { string_value(v, out_.version); });
  }

  // The literal an expression stands for: itself, what a module variable is bound to, both branches of a
  // condition, both sides of a sum.
  template <class Use>
  void each_value(Node expression, int depth, const Use& use) {
    Node e = strip_parens(expression);
    if (!e || depth > kDeepest) return;
    if (e.is(Kind::k_identifier)) {
      for (const Binding& b : scopes_.in_scope(kModuleScope, e.text())) {
        if (b.kind == BindingKind::kAssign)
          each_value(tree_.at(b.statement).child(Field::k_right), depth + 1, use);
      }
    } else if (e.is(Kind::k_conditional_expression)) {
      each_value(e.child_at(0), depth + 1, use);
      each_value(e.child_at(2), depth + 1, use);
    } else if (e.is(Kind::k_binary_operator)) {
      each_value(e.child(Field::k_left), depth + 1, use);
      each_value(e.child(Field::k_right), depth + 1, use);
    } else {
      use(e);
    }
  }

  void read_groups(Node expression) {
    each_value(expression, 0, [&](Node value) {
      std::string text;
      if (value.is(Kind::k_dictionary)) {
        for (Node pair : value.children()) {
          if (pair.is(Kind::k_pair)) read_group(pair.child(Field::k_key), pair.child(Field::k_value));
        }
      } else if (string_value(value, text)) {
        for (const IniLine& l : parse_ini(text)) add(l.section, l.key, l.value, value);
      }
    });
    // groups["x"] = [...]
    Node name = strip_parens(expression);
    if (!name.is(Kind::k_identifier)) return;
    for (Node n : tree_.root().descendants()) {
      if (!n.is(Kind::k_assignment)) continue;
      Node left = n.child(Field::k_left);
      if (!left.is(Kind::k_subscript) || left.child(Field::k_value).text() != name.text()) continue;
      read_group(left.child(Field::k_subscript), n.child(Field::k_right));
    }
  }

  void read_group(Node key, Node list) {
    std::vector<std::string> groups;
    each_value(key, 0, [&](Node k) {
      std::string group;
      if (string_value(k, group)) groups.push_back(group);
    });
    each_value(list, 0, [&](Node value) {
      for (const std::string& group : groups) read_items(group, value);
    });
  }

  void read_items(const std::string& group, Node value) {
    if (value.is_any(Kind::k_list, Kind::k_tuple, Kind::k_set)) {
      for (Node item : value.children()) {
        each_value(item, 0, [&](Node v) { read_items(group, v); });
      }
      return;
    }
    std::string text;
    if (!string_value(value, text)) return;
    for (std::string_view line : split(text, '\n')) {
      size_t equals = line.find('=');
      if (equals != std::string_view::npos)
        add(group, trim(line.substr(0, equals)), trim(line.substr(equals + 1)), value);
    }
  }

  void add(std::string_view group, std::string_view name, std::string_view value, Node place) {
    if (group.empty() || name.empty() || value.empty()) return;
    out_.entry_points.push_back(
        {std::string(group), std::string(name), std::string(value), file_, place.line()});
  }

  const SyntaxTree& tree_;
  ModuleScopes scopes_;
  const std::string& file_;
  SetupScript& out_;
};

}  // namespace

SetupScript read_setup_script(const Blob& source, const std::string& file) {
  SetupScript out;
  SyntaxTree tree = SyntaxTree::parse(source);
  SetupReader(tree, file, out).read();
  return out;
}

std::string version_literal(const Blob& source) {
  SyntaxTree tree = SyntaxTree::parse(source);
  std::string out;
  for (Node statement : tree.root().children()) {
    Node n = statement.is(Kind::k_expression_statement) ? statement.first_child() : statement;
    bool named = false;
    while (n.is(Kind::k_assignment)) {
      std::string_view name = n.child(Field::k_left).text();
      named |= name == "__version__" || name == "version" || name == "VERSION";
      n = n.child(Field::k_right);
    }
    std::string text;
    if (named && string_value(n, text)) out = text;
  }
  return out;
}

}  // namespace assay
