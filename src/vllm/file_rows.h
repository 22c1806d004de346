// One row per file of the scope, and for files that import others: what is lost when line N raises.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "vllm/inventory.h"

namespace assay {

// Losses: when an import statement raises, no statement behind it in that file runs either. Lost are thus the
// rows of all modules that are reached first through this statement or a later one, and the file's own rows
// behind it. Given for files that import at least two modules of the plugin at their top level.
std::vector<FileRow> file_rows(const InventoryInput& input, const std::vector<InventoryRow>& rows,
                               const std::function<bool(std::string_view)>& in_scope);

}  // namespace assay
