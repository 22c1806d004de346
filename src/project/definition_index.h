// Whole-tree questions, answered from the bytes of all texts: where a tree defines a name, for "moved to …"; attributes
// and subclasses; calls; imports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "project/call_index.h"
#include "project/import_graph.h"
#include "project/member_index.h"
#include "project/project.h"

namespace assay {

class DefinitionIndex {
 public:
  DefinitionIndex(const Project& project, const SourceTree& tree, int threads)
      : project_(project), tree_(tree), calls_(project, threads, [this] { return methods_of_forked_classes(); }), members_(project, threads), imports_(project) {}

  // Top-level `class NAME`, `def NAME` and `NAME = …` of the tree, in order of files.
  std::vector<DefinitionPlace> find(std::string_view name) const { return members_.definitions(tree_, name); }
  // Attributes and subclasses over all trees, by their text.
  const MemberIndex& members() const { return members_; }
  const ImportGraph& imports() const { return imports_; }
  const SourceTree& tree() const { return tree_; }
  // Who calls what the plugin defines, and what classes of the tree define that the plugin forks or replaces.
  const CallIndex& calls() const { return calls_; }

 private:
  std::vector<std::string> methods_of_forked_classes() const;
  const Project& project_;
  const SourceTree& tree_;
  CallIndex calls_;
  MemberIndex members_;
  ImportGraph imports_;
};

}  // namespace assay
