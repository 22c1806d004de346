// C3 linearisation (CPython's mro_implementation in Objects/typeobject.c) over small numbers that stand for classes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay {

// `parents`: the linearisations of the direct bases; `bases`: the direct bases in order. Nothing where no order keeps them
// all (CPython: "Cannot create a consistent method resolution order").
inline std::optional<std::vector<uint32_t>> c3_linearize(uint32_t self, std::vector<std::vector<uint32_t>> parents,
                                                         const std::vector<uint32_t>& bases) {
  parents.push_back(bases);
  std::vector<uint32_t> out{self};
  while (true) {
    std::erase_if(parents, [](const auto& sequence) { return sequence.empty(); });
    if (parents.empty()) return out;
    auto in_a_tail = [&](uint32_t c) {
      return std::any_of(parents.begin(), parents.end(), [c](const auto& s) { return std::find(s.begin() + 1, s.end(), c) != s.end(); });
    };
    auto good = std::find_if(parents.begin(), parents.end(), [&](const auto& s) { return !in_a_tail(s.front()); });
    if (good == parents.end()) return std::nullopt;
    uint32_t next = good->front();
    out.push_back(next);
    for (auto& sequence : parents) std::erase(sequence, next);
  }
}

}  // namespace assay
