// The order in which every writer lists things: tree, file, line, column, rule.
#pragma once

#include <vector>

#include "model/report.h"

namespace assay {

bool in_report_order(const Finding& a, const Finding& b);
bool in_report_order(const InventoryRow& a, const InventoryRow& b);
bool in_report_order(const Unknown& a, const Unknown& b);

// Sorts findings, their sites, inventory, files and unknowns.
void sort_report(Report& report);

}  // namespace assay
