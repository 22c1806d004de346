// Which modules of the plugin run, starting from its entry points, and by which way.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "project/semantics.h"

namespace assay {

enum class ReachState : uint8_t {
  kStartup,   // imported while the entry points run
  kLazy,      // imported later: from inside a function, or by a class path that the plugin hands out
  kDead,      // imported only where a condition is false on this platform
  kInactive,  // nothing imports it
};

// One step: this module is reached because of that place.
struct ReachHop {
  const Module* from = nullptr;  // null: an entry point
  NodeId node = kNoNode;
  std::string what;  // "import …", "class path '…'", "entry point group:name"
};

struct ReachRoot {
  const Module* module = nullptr;
  std::string function;  // dotted below the module; empty: the module alone is imported
  std::string what;      // for the chain
};

class Reachability {
 public:
  // Everything counts as started: for a tree without entry points.
  static Reachability everything(const Project& project, const SourceTree& plugin);
  static Reachability from_roots(Semantics& semantics, const SourceTree& plugin, const std::vector<ReachRoot>& roots);

  ReachState state(const Module& module) const;
  bool reached(const Module& module) const { return state(module) <= ReachState::kLazy; }
  // From the entry point to the module.
  std::vector<ReachHop> chain(const Module& module) const;
  // The order in which modules were imported at startup; -1 for those that were not.
  int import_order(const Module& module) const;
  bool all() const { return all_; }
  // Whether the function's body runs while the entry points run.
  bool runs_at_startup(const Module& module, NodeId function) const { return functions_.count({&module, function}) > 0; }

 private:
  friend class Walker;
  struct Info {
    ReachState state = ReachState::kInactive;
    ReachHop via;
    int order = -1;
  };
  bool all_ = false;
  std::map<const Module*, Info> modules_;
  std::set<std::pair<const Module*, NodeId>> functions_;
};

}  // namespace assay
