#include "vllm/tables.h"

#include <algorithm>
#include <cctype>

namespace assay {

namespace {

// Methods of lists, dictionaries and sets that change them, with how many arguments they take.
struct Mutator {
  std::string_view name;
  uint32_t least, most;
};
constexpr Mutator kMutators[] = {
    {"append", 1, 1},  {"extend", 1, 1},     {"insert", 2, 2},  {"update", 0, 99}, {"remove", 1, 1},
    {"pop", 0, 2},     {"clear", 0, 0},      {"add", 1, 1},     {"discard", 1, 1}, {"setdefault", 1, 2},
    {"popitem", 0, 1}, {"appendleft", 1, 1}, {"popleft", 0, 0},
};

bool mutates(std::string_view method, uint32_t arguments) {
  return std::ranges::any_of(kMutators, [&](const Mutator& m) {
    return m.name == method && arguments >= m.least && arguments <= m.most;
  });
}

// The expression in the code, a docstring left out.
bool is_docstring(Node string) { return string.parent().is(Kind::k_expression_statement); }

Node root_of(Node e) {
  while (e.is_any(Kind::k_attribute, Kind::k_subscript)) {
    e = e.is(Kind::k_attribute) ? e.child(Field::k_object) : e.child(Field::k_value);
  }
  return e;
}

class TableFinder {
 public:
  TableFinder(Semantics& semantics, const SourceTree& plugin, const std::vector<std::string>& settings,
              const std::set<std::string, std::less<>>& ignored, std::vector<TableSite>& out)
      : semantics_(semantics), plugin_(plugin), settings_(settings), ignored_(ignored), out_(out) {}

  void run(const Module& module) {
    for (Node n : module.root().descendants()) {
      if (n.is(Kind::k_call))
        method_call(module, n);
      else if (n.is(Kind::k_subscript))
        item(module, n);
      else if (n.is(Kind::k_augmented_assignment))
        augmented(module, n);
    }
  }

 private:
  void method_call(const Module& module, Node call) {
    Node function = call.child(Field::k_function);
    if (!function.is(Kind::k_attribute)) return;
    std::string_view method = function.child(Field::k_attribute).text();
    if (mutates(method, call.child(Field::k_arguments).child_count()))
      add(module, call, function.child(Field::k_object), "." + std::string(method));
  }

  void item(const Module& module, Node subscript) {
    Node parent = subscript.parent();
    bool stored =
        subscript.field() == Field::k_left && parent.is_any(Kind::k_assignment, Kind::k_augmented_assignment);
    while (parent.is(Kind::k_expression_list)) parent = parent.parent();
    if (stored || parent.is(Kind::k_delete_statement)) {
      add(module, subscript, subscript.child(Field::k_value), stored ? "[…] =" : "del");
    }
  }

  void augmented(const Module& module, Node statement) {
    Node right = strip_parens(statement.child(Field::k_right));
    if (!right.is_any(Kind::k_list, Kind::k_tuple, Kind::k_set, Kind::k_dictionary,
                      Kind::k_list_comprehension))
      return;
    if (statement.child(Field::k_left).is(Kind::k_attribute))
      add(module, statement, statement.child(Field::k_left), "+=");
  }

  // Cheap first: what can't be a table of somebody else's is most of the code.
  bool may_be_foreign(const Module& module, Node table) const {
    Node root = root_of(table);
    if (!root.is_any(Kind::k_identifier, Kind::k_call)) return false;
    bool own = root.text() == "self" || root.text() == "cls";
    if (own) return table.child(Field::k_object).is(Kind::k_attribute);
    if (root.is(Kind::k_call) || table.is(Kind::k_attribute)) return true;
    ScopeId holder = module.scopes().resolve(root.id(), root.text());
    if (holder == kNoScope) return module.scopes().scopes()[kModuleScope].star_import;
    for (const Binding& b : module.scopes().in_scope(holder, root.text())) {
      if (b.kind == BindingKind::kImport || b.kind == BindingKind::kFromImport) return true;
      if (b.kind != BindingKind::kAssign) continue;
      Node value = strip_parens(module.at(b.statement).child(Field::k_right));
      if (value.is_any(Kind::k_attribute, Kind::k_identifier)) return true;
    }
    return false;
  }

  void add(const Module& module, Node place, Node table, std::string what) {
    table = strip_parens(table);
    while (table.is(Kind::k_subscript)) table = table.child(Field::k_value);  // TABLE[a][b] = …
    if (!may_be_foreign(module, table)) return;
    Place found = place_of(semantics_, module, table);
    if (found.kind != PlaceKind::kObject || !is_foreign(found, plugin_)) return;
    if (found.cls && !found.shared && !(found.setting && holds_settings(*found.cls.module))) return;
    std::string_view top = std::string_view(found.dotted).substr(0, found.dotted.find('.'));
    if (ignored_.count(top) || found.dotted.find('.') == std::string::npos) return;
    out_.push_back({found.dotted, &module, place, std::move(what)});
  }

  bool holds_settings(const Module& module) const {
    return std::ranges::any_of(settings_, [&](const std::string& prefix) {
      return module.name == prefix || module.name.starts_with(prefix + ".");
    });
  }

  Semantics& semantics_;
  const SourceTree& plugin_;
  const std::vector<std::string>& settings_;
  const std::set<std::string, std::less<>>& ignored_;
  std::vector<TableSite>& out_;
};

// pkg.mod.Name or pkg.mod:Name, all identifiers.
bool looks_dotted(std::string_view text) {
  bool start = true, seen_dot = false, seen_colon = false;
  for (char c : text) {
    if (c == '.' || c == ':') {
      if (start || (c == ':' && seen_colon)) return false;
      seen_colon |= c == ':';
      seen_dot = start = true;
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_' ||
               (!start && std::isdigit(static_cast<unsigned char>(c)))) {
      start = false;
    } else {
      return false;
    }
  }
  return seen_dot && !start;
}

// The string names a logger, a distribution … and no code that is looked up.
bool names_a_logger(Node string) {
  Node call = string.parent().parent();
  if (!string.parent().is(Kind::k_argument_list) || !call.is(Kind::k_call)) return false;
  std::string_view callee = call.child(Field::k_function).text();
  return callee.ends_with("getLogger") || callee.ends_with("init_logger");
}

bool names_code(const Project& project, const SourceTree& plugin, std::string_view text) {
  if (!looks_dotted(text)) return false;
  std::string_view top = text.substr(0, text.find_first_of(".:"));
  if (std::ranges::find(plugin.packages, top) == plugin.packages.end()) return false;
  size_t second = text.find_first_of(".:", top.size() + 1);
  std::string_view parent = text.substr(0, second);
  std::string_view last = text.substr(text.find_last_of(".:") + 1);
  bool module = project.find(parent) && parent.find(':') == std::string_view::npos;
  return module || std::isupper(static_cast<unsigned char>(last[0]));
}

}  // namespace

std::vector<TableSite> find_tables(Semantics& semantics, const SourceTree& plugin,
                                   const std::vector<const Module*>& modules,
                                   const std::vector<std::string>& settings,
                                   const std::set<std::string, std::less<>>& ignored) {
  std::vector<TableSite> out;
  TableFinder finder(semantics, plugin, settings, ignored, out);
  for (const Module* m : modules) finder.run(*m);
  return out;
}

std::vector<ClassPathSite> find_class_paths(Semantics& semantics, const SourceTree& plugin,
                                            const std::vector<const Module*>& modules,
                                            const std::set<std::pair<const Module*, NodeId>>& used) {
  std::vector<ClassPathSite> out;
  const Project& project = semantics.project();
  for (const Module* m : modules) {
    for (Node n : m->root().descendants()) {
      if (!n.is_any(Kind::k_string, Kind::k_concatenated_string)) continue;
      if (n.is(Kind::k_string) && n.parent().is(Kind::k_concatenated_string)) continue;
      std::string text;
      if (used.count({m, n.id()}) || is_docstring(n) || !string_value(n, text)) continue;
      if (names_code(project, plugin, text) && !names_a_logger(n)) out.push_back({text, m, n});
    }
  }
  return out;
}

}  // namespace assay
