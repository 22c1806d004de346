#include "review/compare.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "review/fingerprint.h"

namespace assay {

namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
using Unpaired = std::map<Key, std::vector<const Finding*>>;

Key key(const Finding& f) {
  return {f.rule, f.symbol, f.location.tree, f.location.file, normalised_text(f.location.text)};
}

// Takes out of `unpaired` the finding that `wanted` is the same as; false if there is none.
template <class Same>
bool pair_off(Unpaired& unpaired, const Finding& wanted, Same same) {
  auto at = unpaired.find(key(wanted));
  if (at == unpaired.end()) return false;
  auto found = std::ranges::find_if(at->second, [&](const Finding* old) { return same(*old, wanted); });
  if (found == at->second.end()) return false;
  at->second.erase(found);
  return true;
}

// What the earlier run had as its target is the base of the comparison.
void add_base_input(const Report& before, Report& now) {
  if (std::ranges::find(now.inputs, "base", &InputInfo::role) != now.inputs.end()) return;
  auto old = std::ranges::find(before.inputs, "target", &InputInfo::role);
  if (old == before.inputs.end()) return;
  now.inputs.push_back(*old);
  now.inputs.back().role = "base";
}

}  // namespace

Report compare_reports(const Report& before, Report now) {
  add_base_input(before, now);
  Unpaired unpaired;
  for (const Finding& f : before.findings) unpaired[key(f)].push_back(&f);
  auto same_place = [](const Finding& a, const Finding& b) { return a.location == b.location; };
  auto anywhere = [](const Finding&, const Finding&) { return true; };
  for (Finding& f : now.findings)
    f.state = pair_off(unpaired, f, same_place) ? FindingState::kUnchanged : FindingState::kIntroduced;
  for (Finding& f : now.findings)
    if (f.state == FindingState::kIntroduced && pair_off(unpaired, f, anywhere))
      f.state = FindingState::kUnchanged;
  for (const auto& [unused, findings] : unpaired) {
    for (const Finding* f : findings) {
      now.findings.push_back(*f);
      now.findings.back().state = FindingState::kFixed;
    }
  }
  return now;
}

}  // namespace assay
