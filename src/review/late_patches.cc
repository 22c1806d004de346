#include "review/late_patches.h"

#include <algorithm>
#include <set>
#include <utility>

namespace assay {

void lower_unmet_replacements(Report& report) {
  std::set<std::pair<std::string, std::string>> keeps_old;  // what is patched, and the file that took it before
  for (const Finding& f : report.findings) {
    if (f.rule != "patch-bound-too-late") continue;
    for (const Related& r : f.related) keeps_old.emplace(f.symbol, r.location.file);
  }
  if (keeps_old.empty()) return;
  for (Finding& f : report.findings) {
    if (f.rule != "patched-signature" || f.level == Level::kNote) continue;
    bool called = false, met = false;
    for (const Related& r : f.related) {
      if (r.message != "called here") continue;
      called = true;
      met |= !keeps_old.count({f.symbol, r.location.file});
    }
    if (!called || met) continue;
    f.level = Level::kNote;
    f.limits.push_back("the callers took the old function before the patch runs, and keep it (see patch-bound-too-late)");
  }
}

}  // namespace assay
