// The method resolution order of Python classes (C3 linearisation), as CPython's type() computes it.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>
#include <vector>

namespace assay {

// Merges the linearisations of the bases, in their order, followed by the list of the bases itself. Each
// sequence is without repetition. Nothing when no order satisfies all of them ("Cannot create a consistent
// method resolution order"). Id needs == and std::hash. Time: total length × number of sequences.
template <class Id>
std::optional<std::vector<Id>> c3_merge(const std::vector<std::vector<Id>>& sequences) {
  std::unordered_map<Id, size_t> in_tails;  // in how many sequences it stands behind the head
  size_t left = 0;
  for (const auto& s : sequences) {
    for (size_t i = 1; i < s.size(); ++i) ++in_tails[s[i]];
    left += s.size();
  }
  std::vector<size_t> heads(sequences.size(), 0);
  std::vector<Id> out;
  while (left > 0) {
    bool found = false;
    for (size_t k = 0; k < sequences.size() && !found; ++k) {
      if (heads[k] == sequences[k].size()) continue;
      const Id candidate = sequences[k][heads[k]];
      if (auto it = in_tails.find(candidate); it != in_tails.end() && it->second > 0) continue;
      found = true;
      out.push_back(candidate);
      for (size_t j = 0; j < sequences.size(); ++j) {
        if (heads[j] == sequences[j].size() || !(sequences[j][heads[j]] == candidate)) continue;
        --left;
        if (++heads[j] < sequences[j].size()) --in_tails[sequences[j][heads[j]]];
      }
    }
    if (!found) return std::nullopt;
  }
  return out;
}

// Of the class `self` with direct bases `bases`, whose own linearisations are given beside them. Nothing on
// an inconsistent hierarchy, and on a repeated base ("duplicate base class").
template <class Id>
std::optional<std::vector<Id>> c3_linearize(const Id& self, const std::vector<Id>& bases,
                                            const std::vector<std::vector<Id>>& linearizations_of_bases) {
  for (size_t i = 0; i < bases.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (bases[i] == bases[j]) return std::nullopt;
    }
  }
  std::vector<std::vector<Id>> sequences = linearizations_of_bases;
  sequences.push_back(bases);
  auto merged = c3_merge(sequences);
  if (merged) merged->insert(merged->begin(), self);
  return merged;
}

}  // namespace assay
