#include "review/masking.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace assay {

namespace {

// The cause that a finding about something unimportable names as its first related place.
bool about_imports(const Finding& f) { return (f.rule == "registered-not-importable" || f.rule == "entry-point-broken") && !f.related.empty(); }

}  // namespace

void set_blocked(Report& report) {
  std::map<std::string, uint32_t> stops;  // file of the plugin → the first line at which its import stops
  for (const Finding& f : report.findings) {
    if (!about_imports(f) || f.related[0].location.tree != "plugin") continue;
    const Location& cause = f.related[0].location;
    auto [at, fresh] = stops.try_emplace(cause.file, cause.line);
    if (!fresh) at->second = std::min(at->second, cause.line);
  }
  std::map<std::string, const Finding*> blockers;
  for (const Finding& f : report.findings) {
    auto stop = stops.find(f.location.file);
    if (stop != stops.end() && f.location.line == stop->second && f.level == Level::kError) blockers.try_emplace(f.location.file, &f);
  }
  for (Finding& f : report.findings) {
    auto blocker = blockers.find(f.location.file);
    if (blocker == blockers.end() || f.location.tree != "plugin" || f.location.line <= blocker->second->location.line) continue;
    f.blocked_by.push_back(blocker->second->fingerprint);
    f.limits.push_back(fmt::format("the import of this file stops at line {} ({}): what stands here shows once that is repaired", blocker->second->location.line, blocker->second->rule));
  }
}

}  // namespace assay
