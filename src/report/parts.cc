#include "report/parts.h"

#include <fmt/format.h>

#include <map>

namespace assay {

namespace {

const InputInfo* input_of(const Report& report, std::string_view role_or_name) {
  for (const InputInfo& input : report.inputs)
    if (input.role == role_or_name || (input.role == "component" && input.name == role_or_name))
      return &input;
  return nullptr;
}

}  // namespace

std::string place(const Location& location) {
  std::string out = location.file;
  if (location.line == 0) return out;
  out += fmt::format(":{}", location.line);
  if (location.column != 0) out += fmt::format(":{}", location.column);
  return out;
}

std::string plural(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string tree_label(const Report& report, std::string_view tree) {
  const InputInfo* input = input_of(report, tree);
  if (input == nullptr || input->name.empty()) return std::string(tree);
  if (!input->version.empty()) return fmt::format("{} {}", input->name, input->version);
  if (!input->revision.empty()) return fmt::format("{} at {}", input->name, input->revision.substr(0, 12));
  return input->name;
}

std::string subject(const Report& report) {
  auto label = [&](std::string_view role) {
    const InputInfo* input = input_of(report, role);
    return input != nullptr && input->name.empty() && !input->spec.empty() ? input->spec
                                                                           : tree_label(report, role);
  };
  std::string out = label("plugin");
  if (input_of(report, "target") != nullptr) out += " against " + label("target");
  if (input_of(report, "base") != nullptr) out += ", base " + label("base");
  return out;
}

bool is_listed(const Report& report, const Finding& finding) {
  switch (finding.state) {
    case FindingState::kFixed:
    case FindingState::kSuppressed:
      return false;
    case FindingState::kUnchanged:
      return !compares(report);
    case FindingState::kIntroduced:
    case FindingState::kPartly:
    case FindingState::kMasked:
      return true;
  }
  return true;
}

std::vector<const Finding*> listed_findings(const Report& report) {
  std::vector<const Finding*> out;
  for (const Finding& finding : report.findings)
    if (is_listed(report, finding)) out.push_back(&finding);
  return out;
}

std::vector<Cause> listed_causes(const Report& report) {
  std::vector<Cause> causes;
  std::map<std::string, size_t> index;
  for (const Finding* finding : listed_findings(report)) {
    auto [at, is_new] = index.try_emplace(finding->group, causes.size());
    if (is_new || finding->group.empty()) {
      causes.push_back({finding->group, {finding}});
    } else {
      causes[at->second].findings.push_back(finding);
    }
  }
  return causes;
}

bool compares(const Report& report) {
  return report.command == "compare" || (report.command == "review" && input_of(report, "base") != nullptr);
}

bool shows_findings(const Report& report) { return report.command != "inventory"; }

bool shows_inventory(const Report& report) { return report.command == "inventory" || report.command == "review"; }

Counts count(const Report& report) {
  Counts counts;
  for (const Finding& f : report.findings) {
    counts.introduced += f.state == FindingState::kIntroduced;
    counts.fixed += f.state == FindingState::kFixed;
    counts.unchanged += f.state == FindingState::kUnchanged;
    counts.partly += f.state == FindingState::kPartly;
    counts.masked += f.state == FindingState::kMasked;
    counts.suppressed += f.state == FindingState::kSuppressed;
  }
  for (const Finding* f : listed_findings(report)) {
    counts.errors += f->level == Level::kError;
    counts.warnings += f->level == Level::kWarning;
    counts.notes += f->level == Level::kNote;
    counts.places += 1 + f->sites.size();
  }
  counts.causes = listed_causes(report).size();
  return counts;
}

}  // namespace assay
