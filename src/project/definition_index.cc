#include "project/definition_index.h"

#include <set>

namespace assay {

// The methods of the classes of the tree that the plugin forks or replaces: names that classes of the plugin share with classes of the tree, or that it assigns to modules.
std::vector<std::string> DefinitionIndex::methods_of_forked_classes() const {
  const SourceTree* plugin = project_.tree("plugin");
  if (!plugin || plugin == &tree_) return {};
  std::set<std::string_view> names;
  for (const Module* m : project_.modules_of(*plugin)) {
    if (m->kind != ModuleKind::kSource) continue;
    const Module& module = project_.load(*m);
    for (const Binding& b : module.scopes().in_scope(kModuleScope)) {
      if (b.kind == BindingKind::kClass) names.insert(b.name);
    }
    for (Node n : module.root().descendants()) {
      if (!n.is(Kind::k_assignment) || !n.child(Field::k_left).is(Kind::k_attribute)) continue;
      if (n.child(Field::k_right).is_any(Kind::k_identifier, Kind::k_attribute)) names.insert(n.child(Field::k_left).child(Field::k_attribute).text());
    }
  }
  std::vector<std::string> out;
  for (std::string_view name : names) {
    for (const DefinitionPlace& place : find(name)) {
      const Module& module = project_.load(*place.module);
      for (const Binding& b : module.scopes().in_scope(kModuleScope, name)) {
        ScopeId scope = b.kind == BindingKind::kClass ? module.scopes().scope_opened_by(b.node) : kNoScope;
        if (scope == kNoScope) continue;
        for (const Binding& method : module.scopes().in_scope(scope)) {
          if (method.kind == BindingKind::kFunction) out.emplace_back(method.name);
        }
      }
    }
  }
  return out;
}

}  // namespace assay
