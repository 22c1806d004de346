#include "oracle/merge.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace assay::num {

Expected<AttentionState> merge_states(std::span<const AttentionState> states, std::int64_t rows,
                                      std::int64_t dim, bool base2) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < states.size(); ++s) {
    if (static_cast<std::int64_t>(states[s].lse.size()) != rows)
      return fail(fmt::format("lse[{}]: {} rows where {} are needed", s, states[s].lse.size(), rows));
    if (static_cast<std::int64_t>(states[s].out.size()) != rows * dim)
      return fail(
          fmt::format("out[{}]: {} elements where {} are needed", s, states[s].out.size(), rows * dim));
    for (double x : states[s].lse)
      if (std::isnan(x)) return fail(fmt::format("lse[{}]: NaN", s));
  }
  const double unit = base2 ? std::log(2.0) : 1.0;
  AttentionState merged{std::vector<double>(rows * dim, 0.0), std::vector<double>(rows, -kInf)};
  for (std::int64_t r = 0; r < rows; ++r) {
    double top = -kInf, sum = 0;
    for (const AttentionState& s : states)
      if (std::isfinite(s.lse[r])) top = std::max(top, unit * s.lse[r]);
    if (top == -kInf) continue;
    for (const AttentionState& s : states)
      if (std::isfinite(s.lse[r])) sum += std::exp(unit * s.lse[r] - top);
    for (const AttentionState& s : states) {
      if (!std::isfinite(s.lse[r])) continue;
      const double weight = std::exp(unit * s.lse[r] - top) / sum;
      for (std::int64_t d = 0; d < dim; ++d) merged.out[r * dim + d] += weight * s.out[r * dim + d];
    }
    merged.lse[r] = (top + std::log(sum)) / unit;
  }
  return merged;
}

}  // namespace assay::num
