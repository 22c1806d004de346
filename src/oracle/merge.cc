#include "oracle/merge.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "oracle/arguments.h"

namespace assay::num {

Expected<AttentionState> merge_states(std::span<const AttentionState> states, std::int64_t rows,
                                      std::int64_t dim, bool base2) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < states.size(); ++s) {
    const AttentionState& state = states[s];
    if (auto ok = expect_count(fmt::format("lse[{}]", s).c_str(), state.lse.size(), rows); !ok)
      return tl::unexpected(ok.error());
    if (auto ok = expect_count(fmt::format("out[{}]", s).c_str(), state.out.size(), rows * dim); !ok)
      return tl::unexpected(ok.error());
    for (std::int64_t r = 0; r < rows; ++r) {
      if (std::isnan(state.lse[r])) return fail(fmt::format("lse[{}][{}]: NaN", s, r));
      if (std::isinf(state.lse[r])) continue;  // an empty row: its bytes are nobody's business
      for (std::int64_t d = 0; d < dim; ++d)
        if (!std::isfinite(state.out[r * dim + d]))
          return fail(
              fmt::format("out[{}][{}][{}]: {} is no finite number", s, r, d, state.out[r * dim + d]));
    }
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
