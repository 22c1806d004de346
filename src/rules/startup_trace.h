// The order in which a process imports modules and runs the plugin's statements while the entry points run: for rules
// that ask what had been loaded when a statement ran.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "rules/context.h"

namespace assay {

class StartupTrace {
 public:
  // Walks every entry point, platforms first as vLLM does. Nothing is traced for a plugin without entry points.
  explicit StartupTrace(RuleContext& ctx);
  // One entry point alone, as in a process in which nothing of the plugin has run before.
  StartupTrace(RuleContext& ctx, const EntryPoint& entry);

  using Moment = uint32_t;
  static constexpr Moment kNever = 0xffffffffu;

  // When the statement around the node ran; kNever for what does not run while the entry points run.
  Moment ran(const Module& module, Node node) const;

  struct Load {
    Moment certain = kNever, perhaps = kNever;
    const Module* from = nullptr;  // the plugin's module that imports it, or what leads to it
    NodeId node = kNoNode;
  };
  // When the module was first imported by the plugin.
  Load load(const Module& module) const;

  // A module of the target that calls the plugins, with what its own import has loaded before.
  struct Process {
    const Module* caller = nullptr;
    std::set<const Module*> certain, perhaps;
  };
  // The processes in which general plugins run.
  const std::vector<Process>& processes();
  // The statement ran in a general plugin, not while the platform was found.
  bool in_general_plugin(Moment moment) const { return moment != kNever && moment >= general_from_; }

  // The general entry point that was running; null while the platform was found.
  const EntryPoint* entry_at(Moment moment) const;

  // `from m import name` of a module of the plugin that was still being imported, and has no such name at that moment.
  struct Circle {
    const Module* importer = nullptr;
    Node statement, name;
    const Module* partial = nullptr;  // the module that was being imported
    Node bound_at;                    // where it would have bound the name
    Node leads_back;                  // the statement of `partial` that was running
  };
  const std::vector<Circle>& circles() const { return circles_; }

  const ImportGraph& graph() const { return graph_; }

 private:
  friend class StartupWalker;
  RuleContext& ctx_;
  const ImportGraph& graph_;
  Moment now_ = 0, general_from_ = kNever;
  std::vector<std::pair<Moment, const EntryPoint*>> entries_;  // the general ones, in the order in which they run
  std::map<const Module*, Load> loads_;
  std::map<const Module*, std::unordered_map<NodeId, Moment>> statements_;
  std::vector<Circle> circles_;
  std::optional<std::vector<Process>> processes_;
};

}  // namespace assay
