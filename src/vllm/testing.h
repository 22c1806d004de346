// Mini-projects for the tests of this room: a plugin `plug` and a target `vllm`, made in memory.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "project/semantics.h"
#include "tree/memory_tree.h"
#include "vllm/catalog.h"

namespace assay {

class MiniProject {
 public:
  using Files = std::map<std::string, std::string>;

  // Paths of `plugin` stand below plug/, those of `target` below vllm/; missing __init__.py files are added.
  MiniProject(const Files& plugin, const Files& target) : catalog_(*load_catalog({})) {
    plugin_ = &project_.add_tree({"plugin", make_memory_tree(below("plug", plugin)), "1.0", {"plug"}});
    project_.add_tree({"target", make_memory_tree(below("vllm", target)), "0.26.0", {"vllm"}});
    apply_platform(catalog_, *catalog_.platform("oot-cuda-alike"), environment_);
    semantics_ = std::make_unique<Semantics>(project_, catalog_.externals, environment_, patches_);
    for (const Module* m : project_.modules_of(*plugin_)) modules_.push_back(&project_.load(*m));
  }

  const Project& project() const { return project_; }
  const Catalog& catalog() const { return catalog_; }
  const SourceTree& plugin() const { return *plugin_; }
  Semantics& semantics() { return *semantics_; }
  const std::vector<const Module*>& modules() const { return modules_; }
  const Module& module(std::string_view dotted) const { return *project_.find_loaded(dotted); }

 private:
  static Files below(const std::string& top, const Files& files) {
    Files out;
    for (const auto& [path, text] : files) {
      std::string full = top + "/" + path;
      out[full] = text;
      for (size_t slash = full.find('/'); slash != std::string::npos; slash = full.find('/', slash + 1)) {
        out.try_emplace(full.substr(0, slash) + "/__init__.py");
      }
    }
    out.try_emplace(top + "/__init__.py");
    return out;
  }

  Catalog catalog_;
  Environment environment_;
  PatchTable patches_;
  Project project_;
  const SourceTree* plugin_ = nullptr;
  std::unique_ptr<Semantics> semantics_;
  std::vector<const Module*> modules_;
};

}  // namespace assay
