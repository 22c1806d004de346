// What a command asks of the engine: the inputs and how to look at them; and the report that comes back.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/report.h"

namespace assay {

struct ComponentSpec {
  std::string name;
  std::string spec;
};

// Which of the plugin's code counts as running.
enum class Reach {
  kEntryPoints,  // what the entry points can reach
  kAll,          // every file: for a tree that has no entry points of its own
};

struct RunOptions {
  // Sources: PATH, PATH@REV, PATH@:index, an archive, installed:PYTHON, pypi:NAME==VERSION. Empty: not given.
  std::string plugin;
  std::string target;
  std::string base;
  std::string plugin_base;
  std::vector<ComponentSpec> components;
  std::string python;                 // interpreter of the user's environment
  std::string platform;               // a name of the catalog, or a TOML file
  std::vector<std::string> scope;     // paths inside the plugin; empty: all of it
  std::vector<std::string> exclude;   // globs of plugin paths that are not looked at
  std::vector<std::string> catalogs;  // the user's own catalog files
  std::string cache_dir;              // empty: the default place
  bool use_cache = true;
  unsigned jobs = 0;  // 0: as many as the machine has
  Reach reach = Reach::kEntryPoints;
  std::function<void(std::string_view)> progress;  // called with what is being done now; may be empty
};

// The findings come back as the rules made them: fingerprints, groups and levels are set by finish_report.
Expected<Report> run_check(const RunOptions& options);
Expected<Report> run_inventory(const RunOptions& options);
// Findings of `base` and `target` side by side, each with its state.
Expected<Report> run_compare(const RunOptions& options);
// Everything that the given inputs allow: findings (against the base, where there is one) and the inventory.
Expected<Report> run_review(const RunOptions& options);

}  // namespace assay
