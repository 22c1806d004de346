#include "judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/small_float.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t element) {
  std::vector<std::int64_t> at(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    at[i] = element % shape[i];
    element /= shape[i];
  }
  return at;
}

std::string place(const Reference& r, const std::vector<std::int64_t>& at) {
  std::string text = r.name + "[";
  for (std::size_t i = 0; i < at.size(); ++i)
    text += fmt::format("{}{}{}", i ? ", " : "", i < r.axes.size() ? r.axes[i] + " " : "", at[i]);
  return text + "]";
}

std::string shape_text(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// Takes note of one element's ratio; only the worst one is described.
void note(GateResult& gate, const Reference& r, std::int64_t element, double ratio, double got, double want,
          double allowed, const std::string& what) {
  gate.applied = true;
  const bool bad = !(ratio <= 1);
  if (bad && gate.passed) gate.worst = 0;
  if (bad) gate.passed = false;
  if (!(ratio > gate.worst) && !(bad && gate.why.empty())) return;
  gate.worst = ratio;
  gate.tensor = r.name;
  gate.at = coordinates(r.shape, element);
  gate.got = got;
  gate.want = want;
  gate.allowed = allowed;
  gate.why = fmt::format("{}: got {:.9g}, want {:.9g}{}", place(r, gate.at), got, want, what);
}

void refuse(GateResult& gate, const Reference& r, std::string why) {
  gate.applied = true;
  if (!gate.passed) return;
  gate.passed = false;
  gate.worst = kInf;
  gate.tensor = r.name;
  gate.why = r.name + ": " + std::move(why);
}

int number_class(double x) { return std::isnan(x) ? 3 : std::isinf(x) ? (x > 0 ? 2 : 1) : 0; }

// Shape, type, NaN and infinity class, and equality where no error is allowed. False: nothing more can be
// compared.
bool exact_gate(GateResult& gate, const Reference& r, const Actual& a) {
  gate.applied = true;
  if (a.type != r.type) {
    refuse(gate, r, fmt::format("type {}, want {}", dtype_name(a.type), dtype_name(r.type)));
    return false;
  }
  const auto count = element_count(r.shape);
  if (a.shape != r.shape || !count || static_cast<std::int64_t>(a.value.size()) != *count) {
    refuse(gate, r, fmt::format("shape {}, want {}", shape_text(a.shape), shape_text(r.shape)));
    return false;
  }
  for (std::size_t i = 0; i < r.value.size(); ++i) {
    const double got = a.value[i], want = r.value[i];
    const bool same_class = number_class(got) == number_class(want);
    const bool must_equal = r.budget.empty() && r.structured == Structured::kNone;
    if (same_class && (!must_equal || got == want || std::isnan(want))) continue;
    note(gate, r, static_cast<std::int64_t>(i), kInf, got, want, 0, same_class ? " exactly" : "");
    return same_class;
  }
  return true;
}

void budget_gate(GateResult& gate, const Reference& r, const Actual& a) {
  if (r.budget.empty()) return;
  gate.applied = true;
  for (std::size_t i = 0; i < r.value.size(); ++i) {
    const double error = std::fabs(a.value[i] - r.value[i]);
    if (error == 0 || std::isinf(r.value[i])) continue;  // an infinity of the same sign passed gate 1
    const double ratio = std::isnan(error) ? kInf : error / r.budget[i];
    if (ratio <= gate.worst && gate.passed) continue;
    const std::string term = r.term.empty() ? "" : fmt::format(", mostly {}", r.terms[r.term[i]]);
    note(gate, r, static_cast<std::int64_t>(i), ratio, a.value[i], r.value[i], r.budget[i],
         fmt::format(", error {:.3g} of {:.3g} allowed{}", error, r.budget[i], term));
  }
}

void rms_along_axis(GateResult& gate, const Reference& r, const Actual& a) {
  const auto rank = static_cast<int>(r.shape.size());
  const int axis = r.stat_axis < 0 ? rank + r.stat_axis : r.stat_axis;
  std::int64_t inner = 1, length = r.shape[axis];
  for (int i = axis + 1; i < rank; ++i) inner *= r.shape[i];
  const auto total = static_cast<std::int64_t>(r.value.size());
  for (std::int64_t base = 0; base < total; base += inner * length)
    for (std::int64_t in = 0; in < inner; ++in) {
      double sum = 0;
      std::int64_t used = 0, worst = base + in;
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t e = base + in + i * inner;
        if (r.sigma[e] <= 0) continue;
        const double z = (a.value[e] - r.value[e]) / r.sigma[e];
        sum += z * z;
        ++used;
        if (std::fabs(z) >= std::fabs(a.value[worst] - r.value[worst]) / std::max(r.sigma[worst], 1e-300))
          worst = e;
      }
      if (used == 0) continue;
      const double rms = std::sqrt(sum / static_cast<double>(used));
      note(gate, r, worst, std::isnan(rms) ? kInf : rms / r.rms_limit, a.value[worst], r.value[worst],
           r.rms_limit,
           fmt::format("; RMS of error/sigma over {} is {:.3g}, limit {:.3g}",
                       static_cast<std::size_t>(axis) < r.axes.size() ? r.axes[axis] : "the row", rms,
                       r.rms_limit));
    }
}

void statistical_gate(GateResult& gate, const Reference& r, const Actual& a) {
  if (!r.sigma.empty()) rms_along_axis(gate, r, a);
  for (std::size_t i = 0; i < r.likely.size(); ++i) {
    if (r.likely[i] <= 0 || std::isinf(r.value[i])) continue;
    const double error = std::fabs(a.value[i] - r.value[i]);
    note(gate, r, static_cast<std::int64_t>(i), std::isnan(error) ? kInf : error / r.likely[i], a.value[i],
         r.value[i], r.likely[i],
         fmt::format(", error {:.3g} where independent roundings give {:.3g}", error, r.likely[i]));
  }
}

double decoded(Structured how, double value, double multiplier) {
  switch (how) {
    case Structured::kCounts:
      return std::nearbyint(value * multiplier);
    case Structured::kExpCounts:
      return std::nearbyint(std::exp(value) - multiplier);
    case Structured::kExp2Counts:
      return std::nearbyint(std::exp2(value) - multiplier);
    default:
      return value;
  }
}

void structured_gate(GateResult& gate, const Reference& r, const Actual& a) {
  if (r.structured == Structured::kNone) return;
  gate.applied = true;
  for (std::size_t i = 0; i < r.value.size(); ++i) {
    const double multiplier = r.multiplier.empty() ? 0 : r.multiplier[i];
    if (r.structured == Structured::kCounts && multiplier == 0) continue;
    double got = a.value[i], want = r.value[i];
    if (r.structured == Structured::kBits)
      want = round_to(r.type, want);
    else {
      got = decoded(r.structured, got, multiplier);
      want = decoded(r.structured, want, multiplier);
    }
    if (got == want || (std::isnan(got) && std::isnan(want))) continue;
    note(gate, r, static_cast<std::int64_t>(i), kInf, got, want, 0,
         r.structured == Structured::kBits ? " bit for bit" : " keys");
    return;
  }
}

}  // namespace

const char* gate_name(Gate gate) {
  static const char* const names[] = {"exact", "budget", "statistical", "structured"};
  return names[static_cast<std::size_t>(gate)];
}

bool Verdict::passed() const {
  return std::all_of(gates.begin(), gates.end(), [](const GateResult& g) { return g.passed; });
}

std::string Verdict::summary() const {
  for (int g = 0; g < kGates; ++g)
    if (!gates[g].passed) return fmt::format("{} gate: {}", gate_name(static_cast<Gate>(g)), gates[g].why);
  if (undecided())
    return fmt::format(
        "too inaccurate to judge: {} of {} elements have budgets above a {:.0f}th of their sums", coarse,
        judged, 1 / kCoarse);
  return "passed";
}

Verdict judge(std::span<const Reference> references, std::span<const Actual> actuals) {
  Verdict v;
  for (const Reference& r : references) {
    const auto a =
        std::find_if(actuals.begin(), actuals.end(), [&](const Actual& x) { return x.name == r.name; });
    if (a == actuals.end()) {
      refuse(v[Gate::kExact], r, "not returned");
      continue;
    }
    if (!exact_gate(v[Gate::kExact], r, *a)) continue;
    if (r.rule) {
      v[Gate::kBudget].applied = true;
      if (auto why = r.rule(*a)) refuse(v[Gate::kBudget], r, *why);
      continue;
    }
    budget_gate(v[Gate::kBudget], r, *a);
    if (r.structured == Structured::kNone) {
      v.judged += std::count_if(r.budget.begin(), r.budget.end(), [](double b) { return b > 0; });
      v.coarse += std::count(r.coarse.begin(), r.coarse.end(), 1);
    }
    statistical_gate(v[Gate::kStatistical], r, *a);
    structured_gate(v[Gate::kStructured], r, *a);
  }
  return v;
}

Statistics compare(std::span<const double> got, std::span<const double> want) {
  Statistics s;
  double dot = 0, got2 = 0, want2 = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got[i] - want[i]);
    s.max_abs = std::max(s.max_abs, error);
    if (want[i] != 0) s.max_rel = std::max(s.max_rel, error / std::fabs(want[i]));
    dot += got[i] * want[i];
    got2 += got[i] * got[i];
    want2 += want[i] * want[i];
  }
  if (got2 > 0 && want2 > 0) s.cosine = dot / std::sqrt(got2 * want2);
  if (got2 + want2 > 0) s.calc_diff = 1 - 2 * dot / (got2 + want2);
  return s;
}

bool allclose(std::span<const double> got, std::span<const double> want, double rtol, double atol) {
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    if (!(std::fabs(got[i] - want[i]) <= atol + rtol * std::fabs(want[i]))) return false;
  }
  return true;
}

}  // namespace assay::num
