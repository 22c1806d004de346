#include <fmt/format.h>

#include "base/text.h"
#include "report/closing.h"
#include "report/finding_text.h"
#include "report/inventory_text.h"
#include "report/parts.h"
#include "report/writer.h"

namespace assay {

namespace {

std::string findings_in_order(const Report& report, const Paint& paint) {
  std::string out;
  for (const Finding* finding : listed_findings(report)) out += finding_text(report, *finding, paint) + "\n";
  return out;
}

// Of a comparison: by upstream cause, then what the new target mends.
std::string findings_by_cause(const Report& report, const Paint& paint) {
  std::string out;
  for (const Cause& cause : listed_causes(report)) {
    if (cause.findings.size() > 1)
      out += paint.bold(fmt::format("One cause, {}: {}", plural(cause.findings.size(), "finding"),
                                    printable(cause.group))) +
             "\n\n";
    for (const Finding* finding : cause.findings) out += finding_text(report, *finding, paint) + "\n";
  }
  std::string fixed;
  for (const Finding& f : report.findings)
    if (f.state == FindingState::kFixed)
      fixed += fmt::format("  {}: {}[{}] {}\n", printable(place(f.location)), to_string(f.level), f.rule,
                           printable(f.message));
  if (!fixed.empty()) out += paint.bold("Fixed") + "\n" + fixed + "\n";
  return out;
}

}  // namespace

std::string write_full(const Report& report, const WriteOptions& options) {
  Paint paint(options.colour);
  std::string out;
  if (shows_findings(report))
    out += compares(report) ? findings_by_cause(report, paint) : findings_in_order(report, paint);
  if (shows_inventory(report)) out += inventory_text(report, paint) + "\n";
  out += gaps_text(report) + "\n";
  if (options.stats) out += stats_text(report) + "\n";
  out += printable(subject(report)) + "\n";
  out += paint.bold(summary_line(report)) + "\n";
  return out;
}

}  // namespace assay
