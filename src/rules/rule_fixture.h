// For tests of rules: a plugin and a target written down as text, and what one family of rules says of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "rules/rules.h"
#include "tree/memory_tree.h"
#include "vllm/catalog.h"

namespace assay {

using Files = std::map<std::string, std::string>;

// Every file of the plugin counts as reached.
inline std::vector<Finding> run_rules(const std::function<void(RuleContext&)>& rules, const Files& plugin_files, const Files& target_files) {
  static const Catalog catalog = std::move(*load_catalog({}));
  Project project;
  const SourceTree& plugin = project.add_tree({"plugin", make_memory_tree(plugin_files), "1.0", {}});
  const SourceTree& target = project.add_tree({"target", make_memory_tree(target_files), "0.20.0", {}});
  Environment environment;
  PatchTable patches;
  Semantics semantics(project, catalog.externals, environment, patches);
  DefinitionIndex definitions(project, target, 1);
  Reachability reach = Reachability::everything(project, plugin);
  RuleContext ctx{semantics, plugin, target, reach, definitions, {}, {}, {}};
  rules(ctx);
  return ctx.findings;
}

inline std::vector<Finding> findings_of(ModuleRule rule, const Files& plugin, const Files& target) {
  return run_rules(
      [&](RuleContext& ctx) {
        for (const Module* m : ctx.project().modules_of(ctx.plugin)) {
          if (m->kind == ModuleKind::kSource) rule(ctx, ctx.project().load(*m));
        }
      },
      plugin, target);
}

inline std::vector<Finding> findings_of(ProjectRule rule, const Files& plugin, const Files& target) {
  return run_rules([&](RuleContext& ctx) { rule(ctx); }, plugin, target);
}

// "error override-signature p/a.py:3 vllm.x.Base.hook", in the order in which they were found.
template <class Rule>
std::vector<std::string> shown(Rule rule, const Files& plugin, const Files& target) {
  std::vector<std::string> out;
  for (const Finding& f : findings_of(rule, plugin, target)) {
    out.push_back(std::string(to_string(f.level)) + " " + f.rule + " " + f.location.file + ":" + std::to_string(f.location.line) + " " +
                  f.symbol);
  }
  return out;
}

}  // namespace assay
