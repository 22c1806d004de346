#include "model/order.h"

#include <algorithm>
#include <tuple>

namespace assay {

bool in_report_order(const Finding& a, const Finding& b) {
  return std::tie(a.location, a.rule, a.symbol, a.message) <
         std::tie(b.location, b.rule, b.symbol, b.message);
}

bool in_report_order(const InventoryRow& a, const InventoryRow& b) {
  return std::tie(a.kind, a.key, a.location, a.effective) < std::tie(b.kind, b.key, b.location, b.effective);
}

bool in_report_order(const Unknown& a, const Unknown& b) {
  return std::tie(a.location, a.reason, a.what) < std::tie(b.location, b.reason, b.what);
}

void sort_report(Report& report) {
  auto before = [](const auto& a, const auto& b) { return in_report_order(a, b); };
  for (Finding& finding : report.findings) std::ranges::stable_sort(finding.sites, {}, &Site::location);
  std::ranges::stable_sort(report.findings, before);
  std::ranges::stable_sort(report.inventory, before);
  std::ranges::stable_sort(report.files, {}, &FileRow::file);
  std::ranges::stable_sort(report.unknown, before);
}

}  // namespace assay
