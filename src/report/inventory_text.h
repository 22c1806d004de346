// Every registration, grouped by kind, and every file of the scope, for a terminal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/report.h"
#include "report/paint.h"

namespace assay {

std::string inventory_text(const Report& report, const Paint& paint);

// The rows of each kind, in the order of the report.
std::map<std::string, std::vector<const InventoryRow*>> rows_by_kind(const Report& report);

// "2 active, 1 dead": how often each state occurs.
template <class Rows>
std::map<std::string, size_t> state_counts(const Rows& rows) {
  std::map<std::string, size_t> counts;
  for (const auto& row : rows) {
    if constexpr (requires { row->state; })
      ++counts[row->state];
    else
      ++counts[row.state];
  }
  return counts;
}
std::string counts_text(const std::map<std::string, size_t>& counts);

// "vllm.x.Y (changed)"
std::string upstream_text(const InventoryRow& row);

}  // namespace assay
