// Two kinds of adaptation that no registry sees: changes of tables that belong to others, and strings that
// name the plugin's classes and modules.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "vllm/place.h"

namespace assay {

struct TableSite {
  std::string table;  // canonical dotted path
  const Module* module = nullptr;
  Node place;        // the assignment's target, the call, or the deleted item
  std::string what;  // "[…] =", ".append", "del"
};

struct ClassPathSite {
  std::string path;  // as written
  const Module* module = nullptr;
  Node place;  // the string
};

// TABLE[k] = v, del TABLE[k], TABLE += […], and calls of mutating methods, on a module's or class's table
// that isn't the plugin's. `settings`: modules whose classes hold settings, so that their fields count
// although each object has its own.
std::vector<TableSite> find_tables(Semantics& semantics, const SourceTree& plugin,
                                   const std::vector<const Module*>& modules,
                                   const std::vector<std::string>& settings,
                                   const std::set<std::string, std::less<>>& ignored);

// `used`: strings that are the value of a registration, by module and node.
std::vector<ClassPathSite> find_class_paths(Semantics& semantics, const SourceTree& plugin,
                                            const std::vector<const Module*>& modules,
                                            const std::set<std::pair<const Module*, NodeId>>& used);

}  // namespace assay
