// For tests of rules about a whole plugin: package `p` against a target `vllm`, both written down as text.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/rules.h"
#include "tree/memory_tree.h"

namespace assay {

using Files = std::map<std::string, std::string>;

// A pyproject.toml that makes `p:register` a general plugin.
inline Files with_entry_point(Files files, const std::string& value = "p:register") {
  files["pyproject.toml"] = "[project]\nname = \"p\"\n[project.entry-points.\"vllm.general_plugins\"]\np = \"" + value + "\"\n";
  return files;
}

// What the rule finds, after the module rules of `before`.
inline std::vector<Finding> project_findings(ProjectRule rule, const Files& plugin_files, const Files& target_files,
                                             const std::vector<ModuleRule>& before = {}) {
  static const Catalog catalog = std::move(*load_catalog({}));
  Project project;
  const SourceTree& plugin = project.add_tree({"plugin", make_memory_tree(plugin_files), "1.0", {"p"}});
  const SourceTree& target = project.add_tree({"target", make_memory_tree(target_files), "0.20.0", {"vllm"}});
  Environment environment;
  PatchTable none;
  Semantics bare(project, catalog.externals, environment, none);
  std::vector<const Module*> modules;
  for (const Module* m : project.modules_of(plugin)) {
    if (m->name.substr(0, m->name.find('.')) == "p") modules.push_back(&project.load(*m));
  }
  std::vector<EntryPoint> entries = entry_points(*plugin.tree);
  std::vector<ReachRoot> roots;
  for (const EntryPoint& e : entries) {
    size_t colon = e.value.find(':');
    const Module* m = project.find_loaded(e.value.substr(0, colon));
    if (m) roots.push_back({m, colon == std::string::npos ? "" : e.value.substr(colon + 1), "entry point"});
  }
  Reachability reach = roots.empty() ? Reachability::everything(project, plugin) : Reachability::from_roots(bare, plugin, roots);
  Patches patches = find_patches(bare, plugin, modules);
  PatchTable table = collect_patches(bare, patches, [&](const PatchSite& s) { return reach.reached(*s.module); });
  Semantics semantics(project, catalog.externals, environment, table);
  DefinitionIndex definitions(project, target, 1);
  Liveness liveness(project, plugin, reach, liveness_questions(catalog, project, target));
  RuleContext ctx{semantics, plugin, target, reach, definitions, {}, {}, {}, {}, &liveness};
  ctx.facts = {&catalog, &entries, &modules, &patches, nullptr};
  for (ModuleRule module_rule : before) {
    for (const Module* m : modules) {
      if (m->kind == ModuleKind::kSource) module_rule(ctx, *m);
    }
  }
  std::vector<Finding> found = std::move(ctx.findings);
  ctx.findings.clear();
  ctx.facts.findings = &found;
  rule(ctx);
  return ctx.findings;
}

// "warning patch-not-applied p/a.py:3 vllm.x.f", in the order in which they were found.
inline std::vector<std::string> shown(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings) {
    out.push_back(std::string(to_string(f.level)) + " " + f.rule + " " + f.location.file + ":" + std::to_string(f.location.line) + " " + f.symbol);
  }
  return out;
}

}  // namespace assay
