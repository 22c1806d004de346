// Who binds which name where, in one file: Python's scopes and every statement that binds a name.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "python/syntax.h"

namespace assay {

using ScopeId = uint32_t;
inline constexpr ScopeId kModuleScope = 0;
inline constexpr ScopeId kNoScope = 0xffffffffu;

enum class ScopeKind : uint8_t { kModule, kClass, kFunction, kLambda, kComprehension };

struct Scope {
  ScopeKind kind;
  ScopeId parent;
  NodeId node;        // module, class_definition, function_definition, lambda, or the comprehension
  NodeId begin, end;  // the nodes whose names are looked up here first
  NodeId skip_begin, skip_end;  // within that, the nodes that belong to the parent (a comprehension's first iterable)
  bool star_import = false;
};

enum class BindingKind : uint8_t {
  kImport,      // `import a.b` binds a; `import a.b as c` binds c; node: the dotted_name or aliased_import
  kFromImport,  // node: the dotted_name or aliased_import
  kFunction,    // node: function_definition
  kClass,       // node: class_definition
  kAssign,      // node: the target identifier
  kAnnotation,  // `x: T` without a value: the name is known, but not bound
  kAugmented,
  kFor,
  kWith,
  kExcept,
  kDelete,
  kParameter,
  kGlobal,      // `global x` inside a function; also listed in the module scope, with the assignments
  kNonlocal,
  kWalrus,
  kMatch,
  kTypeAlias,
  kTypeParameter,
};

struct Binding {
  std::string_view name;
  ScopeId scope;
  BindingKind kind;
  NodeId node;
  NodeId statement;  // the statement (or parameter, comprehension clause …) that binds
};

class ModuleScopes {
 public:
  explicit ModuleScopes(const SyntaxTree& tree);

  const std::vector<Scope>& scopes() const { return scopes_; }
  const std::vector<Binding>& bindings() const { return bindings_; }  // sorted by scope, name, position

  // All bindings of the scope, and those of one name, in source order.
  std::span<const Binding> in_scope(ScopeId scope) const;
  std::span<const Binding> in_scope(ScopeId scope, std::string_view name) const;

  // Every `from m import *`, in source order.
  const std::vector<NodeId>& star_imports() const { return stars_; }

  // The scope in which a name standing at this node is looked up first.
  ScopeId scope_of(NodeId node) const;
  // The scope that a class or function definition (or lambda, comprehension) opens; kNoScope if it opens none.
  ScopeId scope_opened_by(NodeId node) const;

  // The scope that holds the name for a use at `node`, by Python's rules (class bodies are not seen from the
  // functions inside them; global and nonlocal are followed); kNoScope if no enclosing scope binds it.
  ScopeId resolve(NodeId use, std::string_view name) const;

 private:
  friend class ScopeBuilder;
  std::vector<Scope> scopes_;
  std::vector<Binding> bindings_;
  std::vector<ScopeId> by_begin_;
  std::vector<NodeId> stars_;
  std::unordered_map<NodeId, ScopeId> opened_;
};

// The function_definition or lambda around the node (its body, not its decorators or defaults); null at module level.
Node enclosing_function(const ModuleScopes& scopes, Node node);
// The class whose body holds the node directly or through methods; null if there is none.
Node enclosing_class(const ModuleScopes& scopes, Node node);
// The statement that the node is part of (a direct child of a block or module).
Node enclosing_statement(Node node);

}  // namespace assay
