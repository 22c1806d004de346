// One Python module of one of the trees, parsed on first use.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/once.h"
#include "python/scope.h"
#include "python/syntax.h"
#include "tree/tree.h"

namespace assay {

enum class ModuleKind : uint8_t {
  kSource,
  kNamespace,  // a folder without __init__.py that holds modules
  kExtension,  // a compiled module (.so): it exists, what it holds is unknown
  kGenerated,  // made by the build, absent from what was read (catalog): it exists, what it holds is unknown
  kSkipped,    // too large or unreadable: it exists, what it holds is unknown
};

// A tree with the role it plays in this run.
struct SourceTree {
  std::string role;  // "plugin", "target", "base", "plugin-base", or a component's name
  std::shared_ptr<const Tree> tree;
  std::string version;  // of the distribution, "" if not known
  std::vector<std::string> packages;  // the importable top-level names that belong to this tree
};

struct Module {
  std::string name;  // dotted
  std::atomic<ModuleKind> kind = ModuleKind::kSource;  // a source that cannot be read becomes kSkipped while others look
  bool is_package = false;
  const SourceTree* tree = nullptr;
  const TreeEntry* entry = nullptr;  // null for namespaces and generated modules
  std::string skip_reason;           // kSkipped

  // Empty trees for everything but kSource.
  const SyntaxTree& syntax() const { return *syntax_; }
  const ModuleScopes& scopes() const { return *scopes_; }
  Node root() const { return syntax_->root(); }
  Node at(NodeId id) const { return syntax_->at(id); }
  // The identifier that starts at the byte; null if none does.
  Node identifier_at(uint32_t offset) const;
  const std::string& file() const;
  bool mentions_type_checking = false;  // the text has TYPE_CHECKING somewhere

  // The package that relative imports start from.
  std::string package() const;

 private:
  friend class Project;
  Once read_, loaded_;
  Blob text_;
  std::unique_ptr<SyntaxTree> syntax_;
  std::unique_ptr<ModuleScopes> scopes_;
};

// The absolute dotted name that `from <module_name> import …` names, given the importing module; empty if a relative
// import climbs past the top.
std::string imported_module_name(const Module& importer, Node module_name);

}  // namespace assay
