#include <fmt/format.h>

#include "base/text.h"
#include "report/closing.h"
#include "report/finding_text.h"
#include "report/inventory_text.h"
#include "report/parts.h"
#include "report/writer.h"

namespace assay {

namespace {

constexpr size_t kShownPlaces = 5;

std::string finding_line(const Finding& f, const Paint& paint) {
  std::string level = paint.level(f.level, fmt::format("{}[{}]", to_string(f.level), f.rule));
  std::string out = fmt::format("{}: {} {}", printable(place(f.location)), level, printable(f.message));
  if (!f.sites.empty()) out += fmt::format(" (also at {})", printable(further_places(f, kShownPlaces)));
  return out + "\n";
}

std::string inventory_line(const InventoryRow& row) {
  std::string out = fmt::format("{}: {} {}: {}", place(row.location), row.kind, row.key, row.state);
  if (!row.condition.empty()) out += fmt::format(", if {}", row.condition);
  if (!row.upstream.empty()) out += fmt::format("; upstream {}", upstream_text(row));
  return printable(out) + "\n";
}

}  // namespace

std::string write_concise(const Report& report, const WriteOptions& options) {
  Paint paint(options.colour);
  std::string out;
  if (shows_findings(report))
    for (const Finding* finding : listed_findings(report)) out += finding_line(*finding, paint);
  if (shows_inventory(report))
    for (const InventoryRow& row : report.inventory) out += inventory_line(row);
  out += gaps_text(report);
  if (options.stats) out += stats_text(report);
  return out + summary_line(report) + "\n";
}

}  // namespace assay
