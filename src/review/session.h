// The inputs of one run, opened: trees, catalog, platform, what the entry points reach.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/timer.h"
#include "project/definition_index.h"
#include "project/liveness.h"
#include "project/reach.h"
#include "project/semantics.h"
#include "review/run.h"
#include "vllm/catalog.h"
#include "vllm/entry_points.h"
#include "vllm/patches.h"

namespace assay {

class Session {
 public:
  // Opens the plugin and `target` (a source spec) and reads the entry points; nothing is parsed yet.
  static Expected<std::unique_ptr<Session>> open(const RunOptions& options, const std::string& target);
  // Parses, and finds the platform, what the entry points reach, and what the plugin patches.
  void prepare(const RunOptions& options);

  const Project& project() const { return *project_; }
  const Catalog& catalog() const { return catalog_; }
  const Environment& environment() const { return environment_; }
  const PatchTable& patches() const { return patches_; }
  const Patches& found_patches() const { return found_patches_; }
  const SourceTree& plugin() const { return *plugin_; }
  const SourceTree& target() const { return *target_; }
  const Reachability& reach() const { return reach_; }
  const Liveness& liveness() const { return *liveness_; }
  const DefinitionIndex& definitions() const { return *definitions_; }
  const std::vector<EntryPoint>& entry_points() const { return entry_points_; }
  const std::string& platform() const { return platform_; }
  int threads() const { return threads_; }
  Timers& timers() { return timers_; }
  Semantics& semantics() { return *semantics_; }
  std::unique_ptr<Semantics> new_semantics() const;
  // The plugin's own modules, in order of their files: those of its packages, within --scope.
  const std::vector<const Module*>& modules() const { return modules_; }

  // Whether --scope and the configuration's `exclude` leave the file in.
  bool in_scope(std::string_view file) const;

  // Inputs, platform and what could not be read, for the report.
  void describe(Report& report) const;

 private:
  Session() = default;
  Expected<void> open_trees(const RunOptions& options, const std::string& target);
  Expected<void> set_platform(const RunOptions& options);
  void find_what_runs(const RunOptions& options);
  void find_platform_class();
  void find_reach(const RunOptions& options);
  void find_patches();
  Expected<void> choose_modules(const RunOptions& options);

  Timers timers_;
  Catalog catalog_;
  Environment environment_;
  Patches found_patches_;
  PatchTable patches_;
  std::unique_ptr<Project> project_;
  const SourceTree* plugin_ = nullptr;
  const SourceTree* target_ = nullptr;
  std::vector<EntryPoint> entry_points_;
  std::vector<InputInfo> inputs_;
  std::vector<Unknown> unknown_;
  std::unique_ptr<Semantics> semantics_;
  Reachability reach_;
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<DefinitionIndex> definitions_;
  std::vector<const Module*> modules_;
  std::vector<std::string> scope_, exclude_;
  std::string platform_;
  int threads_ = 1;
};

}  // namespace assay
