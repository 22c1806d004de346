#include "python/scope.h"

#include <algorithm>
#include <numeric>

namespace assay {

class ScopeBuilder {
 public:
  ScopeBuilder(const SyntaxTree& tree, ModuleScopes& out) : tree_(tree), out_(out) {}

  void build() {
    if (tree_.nodes().empty()) return;
    NodeId end = static_cast<NodeId>(tree_.nodes().size());
    out_.scopes_.push_back({ScopeKind::kModule, kNoScope, 0, 0, end, 0, 0});
    out_.opened_[0] = kModuleScope;
    open_.push_back(kModuleScope);
    for (NodeId id = 0; id < end; ++id) {
      while (id >= out_.scopes_[open_.back()].end) open_.pop_back();
      if (!pending_.empty() && out_.scopes_[pending_.back()].begin == id) {
        open_.push_back(pending_.back());
        pending_.pop_back();
      }
      visit(tree_.at(id));
    }
    finish();
  }

 private:
  ScopeId here() const {
    ScopeId s = open_.back();
    return s;
  }

  // The scope for a node inside a comprehension's first iterable is the parent's.
  ScopeId scope_for(NodeId id) const {
    ScopeId s = here();
    while (id >= out_.scopes_[s].skip_begin && id < out_.scopes_[s].skip_end) s = out_.scopes_[s].parent;
    return s;
  }

  void bind(std::string_view name, BindingKind kind, Node node, Node statement) {
    bind_in(scope_for(node.id()), name, kind, node, statement);
  }
  void bind_in(ScopeId scope, std::string_view name, BindingKind kind, Node node, Node statement) {
    if (!name.empty()) out_.bindings_.push_back({name, scope, kind, node.id(), statement.id()});
  }

  ScopeId add_scope(ScopeKind kind, Node owner, Node body) {
    ScopeId id = static_cast<ScopeId>(out_.scopes_.size());
    out_.scopes_.push_back({kind, scope_for(owner.id()), owner.id(), body.id(), body.subtree_end(), 0, 0});
    out_.opened_[owner.id()] = id;
    return id;
  }

  void visit(Node node) {
    switch (node.kind()) {
      case Kind::k_function_definition: return function(node);
      case Kind::k_class_definition: return class_definition(node);
      case Kind::k_lambda: return lambda(node);
      case Kind::k_list_comprehension:
      case Kind::k_set_comprehension:
      case Kind::k_dictionary_comprehension:
      case Kind::k_generator_expression: return comprehension(node);
      case Kind::k_for_in_clause: return targets(node.child(Field::k_left), BindingKind::kFor, node);
      case Kind::k_import_statement: return imports(node, BindingKind::kImport);
      case Kind::k_import_from_statement:
      case Kind::k_future_import_statement: return imports(node, BindingKind::kFromImport);
      case Kind::k_assignment: {
        BindingKind kind = node.child(Field::k_right) ? BindingKind::kAssign : BindingKind::kAnnotation;
        return targets(node.child(Field::k_left), kind, node);
      }
      case Kind::k_augmented_assignment: return targets(node.child(Field::k_left), BindingKind::kAugmented, node);
      case Kind::k_for_statement: return targets(node.child(Field::k_left), BindingKind::kFor, node);
      case Kind::k_named_expression: return walrus(node);
      case Kind::k_as_pattern: return as_pattern(node);
      case Kind::k_delete_statement: return deletion(node);
      case Kind::k_global_statement: return declarations(node, BindingKind::kGlobal);
      case Kind::k_nonlocal_statement: return declarations(node, BindingKind::kNonlocal);
      case Kind::k_case_pattern: return case_pattern(node);
      case Kind::k_type_alias_statement:
        return targets(strip_parens(node.child(Field::k_left)), BindingKind::kTypeAlias, node);
      default: return;
    }
  }

  void function(Node node) {
    Node name = node.child(Field::k_name);
    bind(name.text(), BindingKind::kFunction, node, node);
    Node body = node.child(Field::k_body);
    type_parameters(node);
    if (!body) return;
    ScopeId scope = add_scope(ScopeKind::kFunction, node, body);
    parameters(node.child(Field::k_parameters), scope);
    pending_.push_back(scope);
  }

  void class_definition(Node node) {
    bind(node.child(Field::k_name).text(), BindingKind::kClass, node, node);
    type_parameters(node);
    if (Node body = node.child(Field::k_body)) pending_.push_back(add_scope(ScopeKind::kClass, node, body));
  }

  void lambda(Node node) {
    Node body = node.child(Field::k_body);
    if (!body) return;
    ScopeId scope = add_scope(ScopeKind::kLambda, node, body);
    parameters(node.child(Field::k_parameters), scope);
    pending_.push_back(scope);
  }

  void comprehension(Node node) {
    ScopeId scope = add_scope(ScopeKind::kComprehension, node, node);
    if (Node first = node.child(Kind::k_for_in_clause)) {
      if (Node iterable = first.child(Field::k_right)) {
        out_.scopes_[scope].skip_begin = iterable.id();
        out_.scopes_[scope].skip_end = iterable.subtree_end();
      }
    }
    open_.push_back(scope);
  }

  // PEP 695: visible in annotations as well as in the body, so bound beside the definition.
  void type_parameters(Node node) {
    Node list = node.child(Field::k_type_parameters);
    for (Node n : list.descendants()) {
      if (n.is(Kind::k_identifier)) bind(n.text(), BindingKind::kTypeParameter, n, node);
    }
  }

  void parameters(Node list, ScopeId scope) {
    for (Node p : list.children()) {
      Node name = p;
      while (name && !name.is(Kind::k_identifier)) {
        Node named = name.child(Field::k_name);
        name = named ? named : name.first_child();
      }
      if (name) bind_in(scope, name.text(), BindingKind::kParameter, name, p);
    }
  }

  // Identifiers of an assignment target; attributes and subscripts bind no name.
  void targets(Node target, BindingKind kind, Node statement) {
    if (!target) return;
    NodeId id = target.id();
    while (id < target.subtree_end()) {
      Node n = tree_.at(id);
      switch (n.kind()) {
        case Kind::k_identifier: bind(n.text(), kind, n, statement); ++id; break;
        case Kind::k_attribute:
        case Kind::k_subscript:
        case Kind::k_call: id = n.subtree_end(); break;
        default: ++id;
      }
    }
  }

  void imports(Node node, BindingKind kind) {
    for (Node n : node.children()) {
      if (n.is(Kind::k_wildcard_import)) {
        out_.scopes_[here()].star_import = true;
        out_.stars_.push_back(n.id());
      } else if (n.field() != Field::k_name) {
        continue;
      } else if (n.is(Kind::k_aliased_import)) {
        bind(n.child(Field::k_alias).text(), kind, n, node);
      } else {
        bind(n.first_child().text(), kind, n, node);
      }
    }
  }

  void walrus(Node node) {
    Node name = node.child(Field::k_name);
    ScopeId scope = scope_for(node.id());
    while (out_.scopes_[scope].kind == ScopeKind::kComprehension) scope = out_.scopes_[scope].parent;
    bind_in(scope, name.text(), BindingKind::kWalrus, name, node);
  }

  void as_pattern(Node node) {
    Node alias = node.child(Field::k_alias);
    BindingKind kind = BindingKind::kMatch;
    if (node.parent().is(Kind::k_with_item)) kind = BindingKind::kWith;
    if (node.parent().is_any(Kind::k_except_clause, Kind::k_except_group_clause)) kind = BindingKind::kExcept;
    if (alias) return targets(alias, kind, node);
    Node last;  // in a case pattern the alias has no field
    for (Node c : node.children()) last = c;
    if (last.is(Kind::k_identifier)) bind(last.text(), kind, last, node);
  }

  void deletion(Node node) {
    for (Node n : node.children()) {
      if (n.is(Kind::k_identifier)) bind(n.text(), BindingKind::kDelete, n, node);
      if (n.is(Kind::k_expression_list)) {
        for (Node e : n.children()) {
          if (e.is(Kind::k_identifier)) bind(e.text(), BindingKind::kDelete, e, node);
        }
      }
    }
  }

  void declarations(Node node, BindingKind kind) {
    for (Node n : node.children()) {
      if (n.is(Kind::k_identifier)) bind(n.text(), kind, n, node);
    }
  }

  void case_pattern(Node node) {
    for (Node n : node.children()) {
      if (n.is(Kind::k_dotted_name) && n.child_count() == 1) bind(n.text(), BindingKind::kMatch, n, node);
      if (n.is(Kind::k_splat_pattern)) {
        if (Node name = n.child(Kind::k_identifier)) bind(name.text(), BindingKind::kMatch, name, node);
      }
      if (n.is(Kind::k_keyword_pattern)) {
        Node value = n.child_at(1);
        if (value.is(Kind::k_dotted_name) && value.child_count() == 1) {
          bind(value.text(), BindingKind::kMatch, value, node);
        }
      }
      if (n.is_any(Kind::k_tuple_pattern, Kind::k_list_pattern, Kind::k_dict_pattern)) {
        for (Node d : n.descendants()) {
          if (d.is(Kind::k_splat_pattern)) {
            if (Node name = d.child(Kind::k_identifier)) bind(name.text(), BindingKind::kMatch, name, node);
          } else if (d.field() == Field::k_value && d.is(Kind::k_case_pattern) && d.first_child().is(Kind::k_dotted_name)) {
            continue;  // visited as a case_pattern of its own
          }
        }
      }
    }
  }

  // What functions assign to a name that they declare global belongs to the module scope.
  void lift_globals() {
    std::vector<Binding> lifted;
    std::unordered_map<ScopeId, std::vector<std::string_view>> declared;
    for (const Binding& b : out_.bindings_) {
      if (b.kind == BindingKind::kGlobal && b.scope != kModuleScope) declared[b.scope].push_back(b.name);
    }
    if (declared.empty()) return;
    for (const Binding& b : out_.bindings_) {
      auto it = declared.find(b.scope);
      if (it == declared.end() || b.kind == BindingKind::kGlobal) continue;
      if (std::find(it->second.begin(), it->second.end(), b.name) == it->second.end()) continue;
      Binding copy = b;
      copy.scope = kModuleScope;
      lifted.push_back(copy);
    }
    out_.bindings_.insert(out_.bindings_.end(), lifted.begin(), lifted.end());
  }

  void finish() {
    lift_globals();
    std::sort(out_.bindings_.begin(), out_.bindings_.end(), [](const Binding& a, const Binding& b) {
      if (a.scope != b.scope) return a.scope < b.scope;
      if (int c = a.name.compare(b.name); c != 0) return c < 0;
      return a.node < b.node;
    });
    out_.by_begin_.resize(out_.scopes_.size());
    std::iota(out_.by_begin_.begin(), out_.by_begin_.end(), 0);
    std::sort(out_.by_begin_.begin(), out_.by_begin_.end(), [this](ScopeId a, ScopeId b) {
      return out_.scopes_[a].begin != out_.scopes_[b].begin ? out_.scopes_[a].begin < out_.scopes_[b].begin : a < b;
    });
  }

  const SyntaxTree& tree_;
  ModuleScopes& out_;
  std::vector<ScopeId> open_;     // scopes around the current node
  std::vector<ScopeId> pending_;  // scopes whose body begins later
};

ModuleScopes::ModuleScopes(const SyntaxTree& tree) { ScopeBuilder(tree, *this).build(); }

std::span<const Binding> ModuleScopes::in_scope(ScopeId scope) const {
  auto less = [](const Binding& b, ScopeId s) { return b.scope < s; };
  auto first = std::lower_bound(bindings_.begin(), bindings_.end(), scope, less);
  auto last = std::lower_bound(first, bindings_.end(), scope + 1, less);
  return {first, last};
}

std::span<const Binding> ModuleScopes::in_scope(ScopeId scope, std::string_view name) const {
  auto all = in_scope(scope);
  auto first = std::lower_bound(all.begin(), all.end(), name, [](const Binding& b, std::string_view n) { return b.name < n; });
  auto last = first;
  for (int i = 0; i < 8; ++i, ++last) {  // most names are bound once or twice
    if (last == all.end() || last->name != name) return {first, last};
  }
  return {first, std::upper_bound(last, all.end(), name, [](std::string_view n, const Binding& b) { return n < b.name; })};
}

ScopeId ModuleScopes::scope_of(NodeId node) const {
  if (scopes_.empty()) return kModuleScope;
  auto it = std::upper_bound(by_begin_.begin(), by_begin_.end(), node,
                             [this](NodeId n, ScopeId s) { return n < scopes_[s].begin; });
  ScopeId scope = it == by_begin_.begin() ? kModuleScope : *(it - 1);
  while (scope != kModuleScope && (node < scopes_[scope].begin || node >= scopes_[scope].end)) scope = scopes_[scope].parent;
  while (node >= scopes_[scope].skip_begin && node < scopes_[scope].skip_end) scope = scopes_[scope].parent;
  return scope;
}

ScopeId ModuleScopes::scope_opened_by(NodeId node) const {
  auto it = opened_.find(node);
  return it == opened_.end() ? kNoScope : it->second;
}

ScopeId ModuleScopes::resolve(NodeId use, std::string_view name) const {
  ScopeId start = scope_of(use);
  bool direct = true;  // a class body is seen only by the code that stands directly in it
  for (ScopeId s = start; s != kNoScope; s = scopes_[s].parent) {
    const Scope& scope = scopes_[s];
    if (scope.kind == ScopeKind::kClass && !direct) continue;
    auto found = in_scope(s, name);
    bool global = false, nonlocal = false;
    for (const Binding& b : found) {  // they stand before the other bindings of the name
      if (b.kind != BindingKind::kGlobal && b.kind != BindingKind::kNonlocal) break;
      global |= b.kind == BindingKind::kGlobal && s != kModuleScope;
      nonlocal |= b.kind == BindingKind::kNonlocal;
    }
    if (global) return in_scope(kModuleScope, name).empty() ? kNoScope : kModuleScope;
    if (!found.empty() && !nonlocal) return s;
    if (scope.kind != ScopeKind::kComprehension) direct = false;
  }
  return kNoScope;
}

Node enclosing_function(const ModuleScopes& scopes, Node node) {
  for (ScopeId s = scopes.scope_of(node.id()); s != kNoScope; s = scopes.scopes()[s].parent) {
    ScopeKind kind = scopes.scopes()[s].kind;
    if (kind == ScopeKind::kFunction || kind == ScopeKind::kLambda) return node.tree()->at(scopes.scopes()[s].node);
  }
  return {};
}

Node enclosing_class(const ModuleScopes& scopes, Node node) {
  for (ScopeId s = scopes.scope_of(node.id()); s != kNoScope; s = scopes.scopes()[s].parent) {
    if (scopes.scopes()[s].kind == ScopeKind::kClass) return node.tree()->at(scopes.scopes()[s].node);
  }
  return {};
}

Node enclosing_statement(Node node) {
  while (node) {
    Node parent = node.parent();
    if (!parent || parent.is_any(Kind::k_block, Kind::k_module)) return node;
    node = parent;
  }
  return node;
}

}  // namespace assay
