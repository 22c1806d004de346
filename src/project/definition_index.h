// Where a tree defines a name at the top level of a module: for "moved to …". Read from the bytes, line by line, without
// parsing; made on first use.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "project/project.h"

namespace assay {

struct DefinitionPlace {
  const Module* module;
  uint32_t line;
};

class DefinitionIndex {
 public:
  DefinitionIndex(const Project& project, const SourceTree& tree, int threads) : project_(project), tree_(tree), threads_(threads) {}

  // Top-level `class NAME`, `def NAME` and `NAME = …` of the tree, in order of files.
  std::vector<DefinitionPlace> find(std::string_view name) const;
  // Whether any class of the tree defines an attribute or method of this name anywhere (by its text).
  const SourceTree& tree() const { return tree_; }

 private:
  void build() const;
  const Project& project_;
  const SourceTree& tree_;
  int threads_;
  mutable std::once_flag built_;
  mutable std::unordered_map<std::string, std::vector<DefinitionPlace>> places_;
};

}  // namespace assay
