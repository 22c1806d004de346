#include "cases/shrink.h"

#include <algorithm>
#include <string>
#include <vector>

namespace assay::num {
namespace {

using Ints = std::vector<std::int64_t>;

// Simpler lists: one half, the other half, without one entry, entries halved or made 1 less.
std::vector<Ints> simpler(const Ints& list, bool fixed_size) {
  std::vector<Ints> all;
  if (!fixed_size && list.size() > 1) {
    const auto half = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    all.emplace_back(list.begin(), half);
    all.emplace_back(half, list.end());
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 8); ++i) {
      Ints without = list;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back(without);
    }
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 8); ++i)
    for (std::int64_t smaller : {std::int64_t{1}, list[i] / 2, list[i] - 1}) {
      if (smaller >= list[i] || smaller < 0) continue;
      Ints changed = list;
      changed[i] = smaller;
      all.push_back(changed);
    }
  return all;
}

std::vector<Case> simpler(const Case& c, const KeySpec& key) {
  std::vector<Case> all;
  Case changed = c;
  if (changed.set(key.name, key.fallback) && !(changed == c)) all.push_back(changed);
  if (key.kind == KeyKind::kWord || key.kind == KeyKind::kReal || key.name == "seed") return all;
  for (const Ints& list : simpler(c.list(key.name), key.kind != KeyKind::kList)) {
    if (std::any_of(list.begin(), list.end(),
                    [&](std::int64_t x) { return static_cast<double>(x) < key.low; }))
      continue;
    changed = c;
    changed.set_list(key.name, list);
    all.push_back(changed);
  }
  return all;
}

}  // namespace

Case shrink(Case failing, const std::function<bool(const Case&)>& fails, int tries) {
  for (bool improved = true; improved && tries > 0;) {
    improved = false;
    for (const KeySpec& key : failing.schema().keys)
      for (const Case& candidate : simpler(failing, key)) {
        if (tries-- <= 0) return failing;
        if (!fails(candidate)) continue;
        failing = candidate;
        improved = true;
        break;
      }
  }
  return failing;
}

}  // namespace assay::num
