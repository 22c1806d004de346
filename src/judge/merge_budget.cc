#include "judge/merge_budget.h"

#include <algorithm>
#include <cmath>

#include "judge/accumulation.h"

namespace assay::num {
namespace {

constexpr double kExp = 0x1p-22;

// One row's quantities, natural units.
struct Row {
  std::vector<double> lse, weight;
  double top = 0, merged = 0, largest = 0;
};

Row row_of(std::span<const AttentionState> states, const AttentionState& merged, std::int64_t r,
           double unit) {
  Row row;
  row.merged = unit * merged.lse[r];
  row.top = -INFINITY;
  for (const AttentionState& s : states) {
    const double lse = std::isfinite(s.lse[r]) ? unit * s.lse[r] : -INFINITY;
    row.lse.push_back(lse);
    row.weight.push_back(std::isfinite(row.merged) ? std::exp(lse - row.merged) : 0);
    row.top = std::max(row.top, lse);
    if (std::isfinite(lse)) row.largest = std::max({row.largest, std::fabs(lse), std::fabs(row.merged)});
  }
  return row;
}

}  // namespace

Expected<std::vector<Reference>> merge_reference(std::span<const AttentionState> states, std::int64_t rows,
                                                 std::int64_t dim, const MergeContract& c) {
  auto merged = merge_states(states, rows, dim, c.base2);
  if (!merged) return tl::unexpected(merged.error());
  const double unit = c.base2 ? std::log(2.0) : 1, n = static_cast<double>(states.size());
  const double u_part = c.stored == DType::kF32 ? 0 : unit_roundoff(c.stored);
  Reference out, lse;
  out.name = "out";
  out.type = c.out;
  out.shape = {rows, dim};
  out.axes = {"row", "dim"};
  out.terms = {"the weights", "the sums", "rounding of the output"};
  lse.name = "lse";
  lse.shape = {rows};
  lse.axes = {"row"};
  for (std::int64_t r = 0; r < rows; ++r) {
    const Row row = row_of(states, *merged, r, unit);
    double low = 0, eps_sum = 0;
    std::vector<double> eps;
    for (std::size_t s = 0; s < states.size(); ++s) {
      const bool used = row.weight[s] > 0;
      eps.push_back(used ? 3 * kU32 * (row.top - row.lse[s]) + kExp + 2 * kU32 * row.largest : 0);
      low += row.weight[s] * std::exp(-eps.back());
      eps_sum += row.weight[s] * eps.back();
    }
    for (std::int64_t d = 0; d < dim; ++d) {
      const double o = merged->out[r * dim + d];
      double moved = 0, hull = 0, size = 0, off = 0, running = 0;
      for (std::size_t s = 0; s < states.size(); ++s) {
        if (row.weight[s] == 0) continue;
        const double v = states[s].out[r * dim + d];
        moved += row.weight[s] * std::expm1(eps[s]) * std::fabs(v - o);
        hull = std::max(hull, std::fabs(v - o));
        off += row.weight[s] * std::fabs(v - o);
        size += row.weight[s] * std::fabs(v);
        running = std::max(running, std::fabs(v));
      }
      double weights = low > 0 ? std::min(hull, moved / low) : 0;
      double sums = (n + 6) * kU32 * (size + std::fabs(o));
      if (c.pairwise) {
        weights += off * n * (kExp + 2 * kU32 * row.largest);
        sums += 2 * n * kU32 * (size + std::fabs(o)) + (n - 1) * u_part * running;
      }
      const double rounding =
          unit_roundoff(c.out) * std::fabs(o) + std::max(subnormal_roundoff(c.out), 0x1p-149);
      out.budget.push_back((1 + 0x1p-6) * (weights + sums) + rounding);
      const double parts[] = {weights, sums, rounding};
      out.term.push_back(static_cast<std::uint8_t>(std::max_element(parts, parts + 3) - parts));
    }
    double b = eps_sum + (n + 8) * kU32 + 2 * kU32 * std::fabs(row.merged);
    if (c.pairwise) b += n * (kExp + 4 * kU32 + 2 * kU32 * row.largest);
    lse.budget.push_back(std::isfinite(row.merged) ? (b + 4 * kU32) / unit : 0);
  }
  out.value = std::move(merged->out);
  lse.value = std::move(merged->lse);
  return std::vector<Reference>{std::move(out), std::move(lse)};
}

}  // namespace assay::num
