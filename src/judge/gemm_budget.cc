#include "judge/gemm_budget.h"

#include <algorithm>
#include <cmath>

namespace assay::num {
namespace {

// Sums of one output element.
struct Dot {
  double value = 0, size = 0, squares = 0, parts = 0, running = 0, order = 0, drift = 0;
};

Dot dot_of(const double* a, std::span<const double> w, std::int64_t k, std::int64_t n, std::int64_t j,
           const GemmContract& c, std::vector<double>& terms) {
  Dot d;
  const std::int64_t part = (k + c.splits - 1) / std::max<std::int64_t>(1, c.splits);
  double in_part = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const double z = a[i] * w[i * n + j];
    terms[i] = z;
    d.value += z;
    in_part += z;
    d.size += std::fabs(z);
    d.squares += z * z;
    if ((i + 1) % part == 0 || i + 1 == k) {
      d.parts += std::fabs(in_part);
      d.running += std::fabs(d.value);
      in_part = 0;
    }
  }
  d.order = accumulation_error(c.order, terms);
  d.drift = drift(c.order, terms);
  return d;
}

}  // namespace

Reference gemm_reference(std::span<const double> a, std::span<const double> w, std::span<const double> bias,
                         std::int64_t m, std::int64_t k, std::int64_t n, const GemmContract& c, bool iid) {
  Reference r;
  r.name = "out";
  r.type = c.out;
  r.shape = {m, n};
  r.axes = {"row", "column"};
  r.terms = {"rounding of the weights", "the sums", "rounding of partials", "rounding of the output"};
  const double u_w = c.weight == DType::kF64 ? 0 : unit_roundoff(c.weight), u_o = unit_roundoff(c.out);
  const double u_part = c.partial == DType::kF32 ? 0 : unit_roundoff(c.partial);
  const double c_k = depth(c.order, static_cast<double>(k));
  std::vector<double> terms(k);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const Dot d = dot_of(&a[i * k], w, k, n, j, c, terms);
      const double b = bias.empty() ? 0 : bias[j], o = d.value + b;
      const double scale_steps = c.scale_after > 0 ? static_cast<double>(c.scale_after) + 2 : 0;
      double parts[4] = {};
      parts[0] = u_w * d.size;
      parts[1] = d.order + (4 + scale_steps + 2 * static_cast<double>(c.splits)) * kU32 * d.size +
                 4 * kU32 * (std::fabs(b) + std::fabs(o));
      parts[2] = c.splits > 1 ? u_part * (d.parts + (c.partials_added ? d.running : 0)) : 0;
      parts[3] = u_o * std::fabs(o) + std::max(subnormal_roundoff(c.out), 0x1p-149);
      r.value.push_back(o);
      r.budget.push_back((1 + 0x1p-6) * (parts[0] + parts[1] + parts[2]) + parts[3]);
      r.coarse.push_back(parts[1] > kCoarse * (d.size + std::fabs(b)));
      r.term.push_back(static_cast<std::uint8_t>(std::max_element(parts, parts + 4) - parts));
      if (iid && c.splits == 1)
        r.sigma.push_back(std::sqrt(u_w * u_w / 3 * d.squares + u_o * u_o / 3 * o * o +
                                    c_k * kU32 * kU32 / 6 * d.squares + d.drift * d.drift));
    }
  if (!r.sigma.empty()) {
    r.stat_axis = 0;
    r.rms_limit = 1 + 3 / std::sqrt(static_cast<double>(m));
  }
  return r;
}

}  // namespace assay::num
