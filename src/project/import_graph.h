// What importing a module of any tree loads, from its import statements alone, without parsing. Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

#include "project/project.h"
#include "python/import_scan.h"

namespace assay {

class ImportGraph {
 public:
  explicit ImportGraph(const Project& project) : project_(project) {}

  struct Edge {
    const ScannedImport* import = nullptr;
    const Module* source = nullptr;     // what names are imported from, or the module that is imported
    std::vector<const Module*> loads;   // parents first; submodules that a from-import names included
  };
  // The imports from our trees.
  const std::vector<Edge>& edges(const Module& module) const;
  // All imports, as written.
  const std::vector<ScannedImport>& imports(const Module& module) const;

  // Adds the module and what its import loads to `into`. With `certain`, only what runs in any case; without, also what
  // stands under a condition or in a try.
  void load(const Module& module, bool certain, std::set<const Module*>& into) const;

  // The parents and the module of a dotted name, as far as the trees have them.
  std::vector<const Module*> chain(std::string_view dotted) const;

 private:
  struct File {
    bool resolved = false;
    std::vector<ScannedImport> imports;
    std::vector<Edge> edges;
  };
  File& scanned(const Module& module) const;  // under mutex_

  const Project& project_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<const Module*, File> files_;
};

}  // namespace assay
