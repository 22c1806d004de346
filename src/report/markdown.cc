// The body of a pull request: a summary, findings by file to be unfolded, and what was not analysed.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/closing.h"
#include "report/finding_text.h"
#include "report/inventory_text.h"
#include "report/markdown_text.h"
#include "report/parts.h"
#include "report/source_line.h"
#include "report/writer.h"

namespace assay {

namespace {

// GitHub takes 65,536 characters; the rest of the text needs some of them.
constexpr size_t kMostFindingText = 50'000;
constexpr size_t kShownPlaces = 20;

std::string item(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("- {}: {}\n", name, markdown(printable(text)));
}

std::string source_block(const Location& where) {
  if (where.text.empty()) return "";
  SourceLine line = source_line(where);
  std::string number = fmt::format("{}", where.line);
  std::string block = fmt::format("{} | {}\n", number, line.text);
  std::string marks = underline(line, '^');
  if (!marks.empty()) block += fmt::format("{} | {}\n", std::string(number.size(), ' '), marks);
  return fenced(block);
}

std::string side(const Report& report, const Related& other) {
  std::string said = printable(other.message.empty() ? other.symbol : other.message);
  std::string line =
      fmt::format("{} ({})", code(place(other.location)), tree_label(report, other.location.tree));
  return fmt::format("- {}{}\n", line, said.empty() ? "" : ": " + markdown(said)) +
         source_block(other.location);
}

std::string finding_block(const Report& report, const Finding& f) {
  std::string where = f.location.line == 0 ? "whole file" : fmt::format("line {}", f.location.line);
  std::string out = fmt::format("<details>\n<summary><b>{}</b> <code>{}</code> {}: {}</summary>\n\n",
                                to_string(f.level), html(f.rule), where, html_code(printable(f.message)));
  out += source_block(f.location);
  for (const Related& other : f.related) out += side(report, other);
  out += item("expected", f.expected) + item("observed", f.observed) + item("runs when", f.trigger);
  if (!f.sites.empty()) out += item("also at", further_places(f, kShownPlaces));
  out += item("fix", f.fix) + item("known by", to_string(f.evidence));
  for (const std::string& limit : f.limits) out += item("limit", limit);
  if (!f.repro.command.empty()) out += fmt::format("- reproduce: {}\n", code(f.repro.command));
  out += item("result", f.repro.result);
  if (!f.attribution.cls.empty())
    out += item("attribution", f.attribution.basis.empty() ? f.attribution.cls
                                                           : f.attribution.cls + ": " + f.attribution.basis);
  return out + "\n</details>\n\n";
}

std::string findings_section(const Report& report) {
  std::vector<const Finding*> findings = listed_findings(report);
  if (findings.empty()) return "No findings.\n\n";
  std::string out;
  std::string file;
  size_t written = 0;
  for (const Finding* f : findings) {
    std::string block = finding_block(report, *f);
    if (out.size() + block.size() > kMostFindingText) break;
    if (f->location.file != file || written == 0) out += fmt::format("### {}\n\n", code(f->location.file));
    file = f->location.file;
    out += block;
    ++written;
  }
  if (written < findings.size())
    out += fmt::format(
        "{} of {} findings are shown, as many as fit into a pull request; the JSON report has all.\n\n",
        written, findings.size());
  return out;
}

std::string counts_table(const Report& report) {
  std::map<Level, std::pair<size_t, size_t>> levels;  // findings, places
  for (const Finding* f : listed_findings(report)) {
    levels[f->level].first += 1;
    levels[f->level].second += 1 + f->sites.size();
  }
  std::string out = "| level | findings | places |\n| --- | ---: | ---: |\n";
  for (Level level : {Level::kError, Level::kWarning, Level::kNote})
    out += fmt::format("| {} | {} | {} |\n", to_string(level), levels[level].first, levels[level].second);
  return out + "\n";
}

// Causes behind several findings, the widest first.
std::string causes_section(const Report& report) {
  std::vector<Cause> causes = listed_causes(report);
  std::erase_if(causes, [](const Cause& cause) { return cause.findings.size() < 2; });
  if (causes.empty()) return "";
  std::ranges::stable_sort(causes, std::greater{}, [](const Cause& cause) { return cause.findings.size(); });
  std::string out = "| one cause | findings |\n| --- | ---: |\n";
  for (const Cause& cause : causes)
    out += fmt::format("| {} | {} |\n", cell(code(cause.group)), cause.findings.size());
  return out + "\n";
}

std::string fixed_section(const Report& report) {
  std::string out;
  for (const Finding& f : report.findings)
    if (f.state == FindingState::kFixed)
      out +=
          fmt::format("- {} {}: {}\n", code(place(f.location)), code(f.rule), markdown(printable(f.message)));
  return out.empty() ? "" : "### Fixed\n\n" + out + "\n";
}

std::string inventory_section(const Report& report) {
  std::string out;
  for (const auto& [kind, rows] : rows_by_kind(report)) {
    out += fmt::format("### {}: {}\n\n| state | key | place | registered | upstream | condition |\n",
                       markdown(kind), counts_text(state_counts(rows)));
    out += "| --- | --- | --- | --- | --- | --- |\n";
    for (const InventoryRow* row : rows)
      out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", row->state, cell(code(row->key)),
                         cell(code(place(row->location))), cell(code(row->effective)),
                         cell(markdown(upstream_text(*row))), cell(code(row->condition)));
    out += "\n";
  }
  if (report.files.empty()) return out;
  out += fmt::format("<details>\n<summary>Files: {}</summary>\n\n", counts_text(state_counts(report.files)));
  out += "| state | file | why |\n| --- | --- | --- |\n";
  for (const FileRow& file : report.files)
    out += fmt::format("| {} | {} | {} |\n", file.state, cell(code(file.file)),
                       cell(markdown(printable(file.reason))));
  return out + "\n</details>\n\n";
}

std::string gaps_section(const Report& report) {
  std::vector<Gap> all = gaps(report);
  if (all.empty()) return "### Not analysed\n\nNothing was left out.\n\n";
  std::string out = "### Not analysed\n\n| count | why | for example |\n| ---: | --- | --- |\n";
  for (const Gap& gap : all) {
    std::string examples;
    for (const std::string& example : gap.examples)
      examples += (examples.empty() ? "" : ", ") + code(example);
    if (gap.count > gap.examples.size()) examples += ", …";
    out +=
        fmt::format("| {} | {} | {} |\n", gap.count, cell(markdown(printable(gap.reason))), cell(examples));
  }
  return out + "\n";
}

}  // namespace

std::string write_markdown(const Report& report, const WriteOptions& options) {
  std::string out = fmt::format("## assay {}: {}\n\n", report.command, markdown(printable(subject(report))));
  if (shows_findings(report)) out += counts_table(report) + causes_section(report) + findings_section(report);
  if (compares(report)) out += fixed_section(report);
  if (shows_inventory(report)) out += inventory_section(report);
  out += gaps_section(report);
  if (options.stats) out += fenced(stats_text(report)) + "\n";
  out += markdown(printable(summary_line(report)));
  out += report.tool_version.empty() ? "\n" : fmt::format(" (assay {})\n", report.tool_version);
  return out;
}

}  // namespace assay
