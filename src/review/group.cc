#include "review/group.h"

#include <map>
#include <tuple>

#include "model/order.h"
#include "review/fingerprint.h"
#include "review/masking.h"

namespace assay {

namespace {

void absorb(Finding& first, Finding&& further) {
  first.sites.push_back({further.location, further.state, further.fingerprint});
  for (Site& site : further.sites) first.sites.push_back(std::move(site));
}

}  // namespace

void set_groups(Report& report) {
  for (Finding& finding : report.findings)
    if (finding.group.empty()) finding.group = finding.rule + ":" + finding.symbol;
}

void collapse_sites(Report& report) {
  auto key = [](const Finding& f) {
    return std::tuple(f.location.tree, f.location.file, f.rule, f.symbol, f.level, f.state, f.message);
  };
  std::vector<Finding> kept;
  std::map<decltype(key(Finding{})), size_t> index;
  for (Finding& finding : report.findings) {
    auto [at, is_new] = index.try_emplace(key(finding), kept.size());
    if (is_new)
      kept.push_back(std::move(finding));
    else
      absorb(kept[at->second], std::move(finding));
  }
  report.findings = std::move(kept);
}

void finish_report(Report& report) {
  sort_report(report);
  set_fingerprints(report);
  set_blocked(report);
  collapse_sites(report);
  set_groups(report);
  sort_report(report);
  report.stats.findings_per_rule.clear();
  for (const Finding& finding : report.findings) ++report.stats.findings_per_rule[finding.rule];
}

}  // namespace assay
