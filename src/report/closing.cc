#include "report/closing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/parts.h"
#include "report/text_table.h"

namespace assay {

namespace {

constexpr size_t kExamples = 3;

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string example(const Unknown& unknown) {
  if (unknown.location.file.empty()) return unknown.what;
  std::string where = printable(place(unknown.location));
  return unknown.what.empty() ? where : fmt::format("{} ({})", where, printable(unknown.what));
}

std::string level_counts(const Counts& counts) {
  std::string out = fmt::format("{}, {}, {}", plural(counts.errors, "error"),
                                plural(counts.warnings, "warning"), plural(counts.notes, "note"));
  size_t findings = counts.errors + counts.warnings + counts.notes;
  if (counts.places > findings) out += fmt::format(" at {}", plural(counts.places, "place"));
  if (counts.causes < findings) out += fmt::format(" from {}", plural(counts.causes, "cause"));
  return out;
}

std::string percent(uint64_t part, uint64_t whole) {
  if (whole == 0) return "none seen";
  return fmt::format("{} of {} ({:.1f} %)", part, whole,
                     100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::string summary_line(const Report& report) {
  Counts counts = count(report);
  std::vector<std::string> parts;
  if (shows_findings(report)) {
    std::string levels = level_counts(counts);
    parts.push_back(compares(report) ? "introduced: " + levels : levels);
    if (compares(report)) parts.push_back(fmt::format("{} fixed, {} unchanged", counts.fixed, counts.unchanged));
    if (counts.masked != 0) parts.push_back(fmt::format("{} masked", counts.masked));
    if (counts.suppressed != 0) parts.push_back(fmt::format("{} suppressed", counts.suppressed));
  }
  if (shows_inventory(report))
    parts.push_back(plural(report.inventory.size(), "registration") +
                    fmt::format(" in {}", plural(report.files.size(), "file")));
  parts.push_back(fmt::format("{} parsed", plural(report.stats.files, "file")));
  if (report.stats.wall_seconds > 0) parts.push_back(fmt::format("{:.2f} s", report.stats.wall_seconds));
  std::string out = join(parts, "; ");
  return report.incomplete.empty() ? out : fmt::format("{}; incomplete: {}", out, report.incomplete);
}

std::vector<Gap> gaps(const Report& report) {
  std::map<std::string, Gap> by_reason;
  auto add = [&](const std::string& reason, std::string text) {
    Gap& gap = by_reason[reason];
    gap.reason = reason;
    if (++gap.count <= kExamples) gap.examples.push_back(std::move(text));
  };
  for (const FileRow& file : report.files)
    if (file.state == "skipped")
      add(file.reason.empty() ? "file skipped" : file.reason, printable(file.file));
  for (const Unknown& unknown : report.unknown) add(unknown.reason, example(unknown));
  std::vector<Gap> out;
  for (auto& [reason, gap] : by_reason) out.push_back(std::move(gap));
  std::ranges::stable_sort(out, std::greater{}, &Gap::count);
  return out;
}

std::string gaps_text(const Report& report) {
  std::vector<Gap> all = gaps(report);
  if (all.empty()) return "Not analysed: nothing was left out\n";
  size_t total = 0;
  TextTable table;
  for (const Gap& gap : all) {
    total += gap.count;
    std::string examples = join(gap.examples, ", ");
    if (gap.count > gap.examples.size()) examples += ", …";
    table.add({fmt::format("{}", gap.count), printable(gap.reason), examples});
  }
  table.right_align(0);
  return fmt::format("Not analysed: {}\n{}", total, table.text("  "));
}

std::string stats_text(const Report& report) {
  const Stats& s = report.stats;
  TextTable phases;
  for (const auto& [phase, seconds] : s.seconds) phases.add({phase, fmt::format("{:.3f} s", seconds)});
  phases.right_align(1);
  // Time is measured by the family of rules that looks, findings are counted by rule.
  TextTable families;
  for (const auto& [family, seconds] : s.seconds_per_rule)
    families.add({family, fmt::format("{:.3f} s", seconds)});
  families.right_align(1);
  TextTable rules;
  for (const auto& [rule, found] : s.findings_per_rule) rules.add({rule, fmt::format("{}", found)});
  rules.right_align(1);
  TextTable verified;
  for (const auto& [rule, v] : s.verified) {
    const uint64_t decided = v.confirmed + v.withdrawn;
    verified.add({rule, fmt::format("{} confirmed, {} withdrawn, {} undecided, {} not tried", v.confirmed, v.withdrawn, v.undecided, v.not_tried),
                  // A rule that is withdrawn more than once in twenty should be no error.
                  decided == 0 ? "" : fmt::format("withdrawn: {}{}", percent(v.withdrawn, decided), v.withdrawn * 20 > decided ? ", over 1 in 20" : "")});
  }
  std::string out = "Statistics\n";
  out += phases.text("  phase  ");
  out += families.text("  rules  ");
  out += rules.text("  found  ");
  out += verified.text("  tried in the interpreter  ");
  out += fmt::format("  names imported from the target, decided: {}\n",
                     percent(s.names_decided, s.names_decided + s.names_undecided));
  out += fmt::format("  calls into the target, bound: {}\n",
                     percent(s.calls_bound, s.calls_bound + s.calls_unbound));
  out += fmt::format("  read: {}, {:.1f} MB; cache: {} hits, {} misses\n", plural(s.files, "file"),
                     static_cast<double>(s.bytes) / 1e6, s.cache_hits, s.cache_misses);
  return out;
}

}  // namespace assay
