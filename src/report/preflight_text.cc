#include "report/preflight_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/text_table.h"

namespace assay {

namespace {

constexpr size_t kShownFiles = 10;

std::string block(const std::string& title, const TextTable& table) {
  return table.empty() ? "" : title + "\n" + table.text("  ") + "\n";
}

std::string properties(const std::string& title, const Properties& rows) {
  TextTable table;
  for (const auto& [key, value] : rows)
    if (!value.empty()) table.add({printable(key), printable(value)});
  return block(title, table);
}

std::string distribution_text(const DistributionRow& row) {
  std::string out = row.name + ' ' + row.version;
  if (!row.fault.empty()) return out + " (" + row.fault + ')';
  if (row.editable) out += " editable";
  if (!row.provenance.empty()) out += " from " + row.provenance;
  return out;
}

std::string origin_state(const OriginRow& row) {
  if (row.kind == "absent") return "absent";
  if (!row.fault.empty()) return "broken";
  return row.effective.empty() ? "not imported" : fmt::format("imported in {:.2f} s", row.seconds);
}

std::string origins(const PreflightRecord& record) {
  std::string out;
  TextTable absent;
  std::string names;
  for (const OriginRow& row : record.origins) {
    if (row.kind == "absent") {
      names += (names.empty() ? "" : ", ") + row.module;
      continue;
    }
    out += fmt::format("  {} ({}): {}\n", printable(row.module), row.role, origin_state(row));
    if (!row.effective.empty()) out += fmt::format("    from {}\n", printable(row.effective));
    if (row.effective.empty() && !row.found.empty()) out += fmt::format("    would come from {}\n", printable(row.found));
    if (!row.shadow.empty()) out += fmt::format("    `python -m` would take {} of the current folder instead\n", printable(row.shadow));
    if (!row.fault.empty()) out += fmt::format("    {}\n", printable(row.fault));
    for (const std::string& cause : row.causes) out += fmt::format("      {}\n", printable(cause));
    if (!row.why.empty()) out += fmt::format("    {}\n", printable(row.why));
    for (size_t i = 0; i < row.distributions.size(); ++i) {
      const DistributionRow& d = row.distributions[i];
      out += fmt::format("    {}: {}; metadata at {}\n", i == 0 ? "distribution" : "further candidate", printable(distribution_text(d)),
                         printable(d.metadata));
    }
  }
  if (!names.empty()) out += "  absent: " + printable(names) + "\n";
  return out.empty() ? "" : "Imports\n" + out + "\n";
}

std::string files_line(const char* what, const std::vector<std::string>& files) {
  if (files.empty()) return "";
  const size_t shown = std::min(files.size(), kShownFiles);
  std::string out = fmt::format("    {} {}: {}", files.size(), what, printable(fmt::format("{}", fmt::join(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(shown), ", "))));
  return out + (files.size() > shown ? ", …\n" : "\n");
}

std::string correspondence(const PreflightRecord& record) {
  std::string out;
  for (const LocalTree& local : record.local) {
    out += fmt::format("  {}: {} ({}){}{}\n", local.role, printable(local.spec), local.kind,
                       local.commit.empty() ? "" : fmt::format(", commit {}", local.commit.substr(0, 12)),
                       local.state.empty() ? "" : ", " + local.state);
    for (const Correspondence& row : record.correspondence) {
      if (row.role != local.role) continue;
      out += fmt::format("    beside what is installed{}: {}\n", row.installed.empty() ? "" : " at " + printable(row.installed),
                         printable(row.verdict));
      if (row.identical != 0) out += fmt::format("    {} identical\n", row.identical);
      out += files_line("changed", row.changed);
      out += files_line("here only", row.local_only);
      out += files_line("installed only", row.installed_only);
      out += files_line("made by a build", row.generated);
    }
  }
  return out.empty() ? "" : "Local trees\n" + out + "\n";
}

}  // namespace

std::string preflight_text(const PreflightRecord& r) {
  std::string out = properties("Interpreter", r.interpreter);
  TextTable path, variables, plugins, gaps;
  for (const auto& [entry, kind] : r.path) path.add({printable(entry), kind});
  out += block("Import path (as a console script gets it)", path);
  if (!r.finders.empty()) out += fmt::format("Import finders\n  {}\n\n", printable(fmt::format("{}", fmt::join(r.finders, "\n  "))));
  std::string set;
  for (const auto& [name, is_set] : r.variables)
    if (is_set) set += (set.empty() ? "" : ", ") + printable(name);
  out += fmt::format("Environment variables that are set (values are not read)\n  {}\n\n", set.empty() ? "none of those that matter" : set);
  out += properties("Builds and devices", r.builds) + properties("Platform that vLLM chose", r.platform);
  for (const std::vector<std::string>& row : r.plugins) {
    std::vector<std::string> cells;
    for (const std::string& cell : row) cells.push_back(printable(cell));
    plugins.add(std::move(cells));
  }
  out += block("Entry points", plugins) + origins(r) + correspondence(r);
  for (const auto& [what, reason] : r.gaps) gaps.add({printable(what), printable(reason)});
  out += block("Not collected", gaps);
  out += fmt::format("Mapping {}: {}\n", r.mapping.substr(0, 16), r.confirmed);
  if (r.confirmed != "confirmed by the user" && r.confirmed != "assumed") out += "  `assay preflight --confirm` confirms it; until then verdicts say so\n";
  out += fmt::format("Fingerprint {}\n", r.fingerprint);
  return out;
}

}  // namespace assay
