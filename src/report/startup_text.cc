#include "report/startup_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "report/text_table.h"

namespace assay {

namespace {

constexpr size_t kShownFrames = 8;
constexpr size_t kShownChanges = 60;

std::string steps(const StartupRecord& record) {
  TextTable table;
  for (const StartStep& step : record.steps)
    table.add({step.name, fmt::format("{:.2f} s", step.seconds), printable(step.fault.empty() ? step.result : step.fault)});
  return "Start\n" + table.text("  ") + "\n";
}

std::string swallowed(const StartupRecord& record) {
  std::string out;
  size_t others = 0;
  for (const Swallowed& s : record.swallowed) {
    if (s.whose != "plugin") {
      ++others;
      continue;
    }
    out += fmt::format("  {}{}{}\n", printable(s.message.empty() ? s.type : s.type + ": " + s.message), s.count > 1 ? fmt::format(" ({} times)", s.count) : "",
                       s.lost.empty() ? "" : "; lost by it: " + s.lost);
    out += fmt::format("    raised at {}\n    caught at {}\n", printable(s.raised), printable(s.caught));
    const size_t skip = s.frames.size() > kShownFrames ? s.frames.size() - kShownFrames : 0;
    for (size_t i = skip; i < s.frames.size(); ++i) out += fmt::format("      {}\n", printable(s.frames[i]));
    for (const std::string& cause : s.causes) out += fmt::format("    because of {}\n", printable(cause));
  }
  if (out.empty()) out = "  none that passed through the plugin\n";
  if (others != 0) out += fmt::format("  {} more within vLLM itself (see the JSON record)\n", others);
  return "Swallowed exceptions\n" + out + "\n";
}

std::string rows(const StartupRecord& record) {
  TextTable table;
  std::map<std::string, size_t> counts;
  for (const StartRow& row : record.rows) {
    ++counts[row.verdict];
    std::string note = row.verdict == "differs" ? "source: " + row.expected : row.reason;
    if (!row.in_child.empty()) note += (note.empty() ? "" : "; ") + ("in the child: " + row.in_child);
    table.add({row.verdict, row.kind, printable(row.key), printable(row.effective), printable(row.place), printable(note)});
  }
  std::string summary;
  for (const auto& [verdict, n] : counts) summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", n, verdict);
  if (table.empty()) return "Registrations: the source has none\n\n";
  return "Registrations, source beside process: " + summary + "\n" + table.text("  ") + "\n";
}

std::string changes(const StartupRecord& record) {
  TextTable table;
  size_t shown = 0;
  for (const TableChange& change : record.changes) {
    if (++shown > kShownChanges) break;
    std::string note = change.declared.empty() ? "found only by running" : change.declared;
    if (!change.also.empty()) note += fmt::format("; and at {} more places", change.also.size());
    if (!change.stale.empty()) note += fmt::format("; still the old one in {}", fmt::join(change.stale, ", "));
    table.add({change.before.empty() ? "added" : change.after.empty() ? "removed" : "replaced", printable(change.path), printable(change.before),
               printable(change.after), printable(note)});
  }
  if (record.changes.empty()) return "Changed in vLLM: nothing\n\n";
  std::string out = fmt::format("Changed in vLLM: {}\n", record.changes.size()) + table.text("  ");
  if (record.changes.size() > kShownChanges) out += fmt::format("  … and {} more\n", record.changes.size() - kShownChanges);
  return out + "\n";
}

std::string modules(const StartupRecord& record) {
  std::map<std::string, std::vector<std::string>> by_proof;
  for (const LoadedModule& m : record.modules)
    if (!m.file.empty()) by_proof[m.proof].push_back(m.name + " from " + m.file);
  std::string out = fmt::format("Loaded: {} modules of the plugin ({})\n", record.modules.size(), record.plugin_kind);
  for (const auto& [proof, names] : by_proof) {
    out += fmt::format("  {}: {}\n", proof, names.size());
    if (proof == "same") continue;
    for (const std::string& name : names) out += fmt::format("    {}\n", printable(name));
  }
  return out + "\n";
}

}  // namespace

std::string startup_text(const StartupRecord& r) {
  std::string out = steps(r) + swallowed(r) + rows(r) + changes(r) + modules(r);
  if (!r.child_fault.empty()) out += fmt::format("In a spawned child: {}\n\n", printable(r.child_fault));
  if (!r.unstaged.empty()) {
    out += fmt::format("Only in the working tree, not staged: {}\n", r.unstaged.size());
    for (const std::string& file : r.unstaged) out += fmt::format("  {}\n", printable(file));
    out += "\n";
  }
  TextTable gaps;
  for (const auto& [what, reason] : r.gaps) gaps.add({printable(what), printable(reason)});
  if (!gaps.empty()) out += "Not known\n" + gaps.text("  ") + "\n";
  out += fmt::format("Start-up on {}: {}\n", printable(r.platform.empty() ? "no platform" : r.platform), r.sound() ? "clean" : "not clean");
  return out;
}

}  // namespace assay
