// What a rule works with, and how it reports.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/report.h"
#include "project/definition_index.h"
#include "project/liveness.h"
#include "project/reach.h"
#include "project/semantics.h"
#include "rules/rule_table.h"
#include "vllm/catalog.h"
#include "vllm/entry_points.h"
#include "vllm/patches.h"

namespace assay {

// The plugin as a whole. Null where a rule runs without a catalog (as tests do): then nothing is known of it.
struct PluginFacts {
  const Catalog* catalog = nullptr;
  const std::vector<EntryPoint>* entry_points = nullptr;
  const std::vector<const Module*>* modules = nullptr;  // its own, in order of their files
  const Patches* patches = nullptr;                     // what it assigns in modules and classes of others
  const std::vector<Finding>* findings = nullptr;       // for project rules: what the module rules found
};

// One per thread: rules of different modules run side by side.
struct RuleContext {
  Semantics& sem;
  const SourceTree& plugin;
  const SourceTree& target;
  const Reachability& reach;
  const DefinitionIndex& definitions;  // where the target defines a name
  std::vector<Finding> findings;
  std::vector<Unknown> unknown;
  Stats stats;
  PluginFacts facts = {};
  const Liveness* liveness = nullptr;  // null: all that is reached runs

  const Project& project() const { return sem.project(); }
};

Location locate(const Module& module, Node node);
Location locate_file(const Module& module);

// The most a finding at this place can be: an error needs a reached module and a live place. `reason` says why it is less.
struct Exposure {
  enum class Kind : uint8_t { kLive, kUndecided, kTypeCheckingOnly, kUnreached, kDead } kind = Kind::kLive;
  std::string reason;  // for the finding's `limits`
};
Exposure exposure(RuleContext& ctx, const Module& module, Node node);
// The same, where it is other code (a class around, the module) that has to run for the place to matter.
Exposure exposure(RuleContext& ctx, const Module& module, Node node, Node running);

// Adds a finding of the rule at the place; its level is lowered to a note where nothing can reach the place. Returns
// nullptr for a place that is dead on this platform (nothing is reported there).
Finding* report(RuleContext& ctx, std::string_view rule, const Module& module, Node node, std::string symbol, std::string message);

// A related place: the other side.
void relate(Finding& finding, const Module& module, Node node, std::string symbol, std::string message);

// What makes the place run: "entry point … → import …", for Finding::trigger.
std::string trigger_of(RuleContext& ctx, const Module& module);

// What Liveness asks of the catalog and of the target's text.
LivenessQuestions liveness_questions(const Catalog& catalog, const Project& project, const SourceTree& target);

void note_unknown(RuleContext& ctx, const Module& module, Node node, std::string what, std::string reason);

}  // namespace assay
