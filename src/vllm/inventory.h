// Every registration and adaptation of the plugin, and every file of the scope.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/report.h"
#include "project/definition_index.h"
#include "project/reach.h"
#include "project/semantics.h"
#include "vllm/catalog.h"
#include "vllm/entry_points.h"
#include "vllm/patches.h"

namespace assay {

struct InventoryInput {
  Semantics& semantics;
  const Catalog& catalog;
  const SourceTree& plugin;
  const std::vector<const Module*>& modules;  // of the scope
  const Reachability& reach;
  const std::vector<EntryPoint>& entry_points;
  const Patches& patches;              // of these modules
  const DefinitionIndex* definitions;  // of the target, for counterparts of the same name; may be null
};

struct Inventory {
  std::vector<InventoryRow> rows;  // sorted by place
  std::vector<FileRow> files;      // sorted by name
};

// `in_scope` says which of the plugin's files get a row (those that are no Python included).
Inventory take_inventory(const InventoryInput& input, const std::function<bool(std::string_view)>& in_scope);

}  // namespace assay
