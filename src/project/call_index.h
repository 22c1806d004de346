// Where the plugin and the target call, and define, methods and functions of the names that the plugin defines. Read from
// the bytes of every file in one pass, without parsing; made on first use.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/once.h"
#include "project/project.h"
#include "python/call_scan.h"

namespace assay {

struct IndexedCall {
  const Module* module;
  ScannedCall call;
};

// `def NAME`, at any depth.
struct IndexedDefinition {
  const Module* module;
  uint32_t offset;  // of the name, after any BOM
};

class CallIndex {
 public:
  // `more` gives further names to look for; it is asked when the index is made.
  CallIndex(const Project& project, int threads, std::function<std::vector<std::string>()> more = {})
      : project_(project), threads_(threads), more_(std::move(more)) {}

  // In order of trees, files and places. Names that the plugin neither defines nor assigns as an attribute
  // have none, nor has anything that `more` does not name.
  std::span<const IndexedCall> calls(std::string_view name) const;
  std::span<const IndexedDefinition> definitions(std::string_view name) const;

 private:
  struct FileHits;
  void build() const;
  std::vector<std::string> names_of_plugin() const;

  const Project& project_;
  int threads_;
  std::function<std::vector<std::string>()> more_;
  mutable Once built_;
  mutable std::vector<std::string> names_;
  mutable std::unordered_map<std::string_view, uint32_t> index_;  // of names_
  mutable std::vector<std::vector<IndexedCall>> calls_;
  mutable std::vector<std::vector<IndexedDefinition>> definitions_;
  mutable std::vector<Blob> texts_;  // what the views of calls_ show
};

// The call node at a place that the scanner found; null if the parser sees none there. Loads the module.
Node call_node(const Project& project, const IndexedCall& call);
// The function_definition whose name stands at the place; null if there is none. Loads the module.
Node definition_node(const Project& project, const IndexedDefinition& definition);

}  // namespace assay
