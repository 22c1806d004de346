// Where a tree defines a name at the top level of a module: for "moved to …". Read from the bytes, line by line, without
// parsing; made on first use.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "project/call_index.h"
#include "project/member_index.h"
#include "project/project.h"

namespace assay {

struct DefinitionPlace {
  const Module* module;
  uint32_t line;
};

class DefinitionIndex {
 public:
  DefinitionIndex(const Project& project, const SourceTree& tree, int threads) : project_(project), tree_(tree), threads_(threads), calls_(project, threads, [this] { return methods_of_forked_classes(); }), members_(project, threads) {}

  // Top-level `class NAME`, `def NAME` and `NAME = …` of the tree, in order of files.
  std::vector<DefinitionPlace> find(std::string_view name) const;
  // Attributes and subclasses over all trees, by their text.
  const MemberIndex& members() const { return members_; }
  const SourceTree& tree() const { return tree_; }
  // Who calls what the plugin defines, and what classes of the tree define that the plugin forks or replaces.
  const CallIndex& calls() const { return calls_; }

 private:
  void build() const;
  std::vector<std::string> methods_of_forked_classes() const;
  const Project& project_;
  const SourceTree& tree_;
  int threads_;
  CallIndex calls_;
  MemberIndex members_;
  mutable std::once_flag built_;
  mutable std::unordered_map<std::string, std::vector<DefinitionPlace>> places_;
};

}  // namespace assay
