// What importing a module of any tree loads, from its import statements alone, without parsing.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "project/project.h"
#include "python/import_scan.h"

namespace assay {

class ImportGraph {
 public:
  explicit ImportGraph(const Project& project) : project_(project) {}

  struct Edge {
    ScannedImport import;
    const Module* source = nullptr;     // what names are imported from, or the module that is imported
    std::vector<const Module*> loads;   // parents first; submodules that a from-import names included
  };
  const std::vector<Edge>& edges(const Module& module);

  // Adds the module and what its import loads to `into`. With `certain`, only what runs in any case; without, also what
  // stands under a condition or in a try.
  void load(const Module& module, bool certain, std::set<const Module*>& into);

  // The parents and the module of a dotted name, as far as the trees have them.
  std::vector<const Module*> chain(const std::string& dotted) const;

 private:
  const Project& project_;
  std::map<const Module*, std::vector<Edge>> edges_;
};

}  // namespace assay
