#include "cases/cause.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/small_float.h"

namespace assay::num {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// The hypothesis itself errs a little, and the budget was made for the right result, not for the faulty one.
constexpr double kExplained = 1.5;

const Actual* find(const std::vector<Actual>& all, const std::string& name) {
  for (const Actual& a : all)
    if (a.name == name) return &a;
  return nullptr;
}

double ratio(const Reference& r, std::size_t i, double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  if (!std::isfinite(got) || !std::isfinite(expected)) return kInf;
  if (r.budget.empty() || !is_float(r.type)) return kInf;
  // A faulty result may be larger than the right one: its own rounding to the output type counts.
  const double rounding = unit_roundoff(r.type) * std::fabs(expected) + subnormal_roundoff(r.type);
  return std::fabs(got - expected) / (r.budget[i] + rounding + 1e-300);
}

// How far what was returned lies from what a fault would return, in budgets; infinite where it can't be that
// fault.
double distance(const std::vector<Reference>& refs, const std::vector<Actual>& got,
                const std::vector<Actual>& made) {
  double worst = 0;
  for (const Reference& r : refs) {
    const Actual *a = find(got, r.name), *b = find(made, r.name);
    if (!a || !b || a->value.size() != b->value.size()) return kInf;
    for (std::size_t i = 0; i < a->value.size(); ++i) {
      const bool sized = i < r.budget.size() || r.budget.empty();
      worst = std::max(worst, sized ? ratio(r, i, a->value[i], b->value[i]) : kInf);
      if (worst > 100) return kInf;
    }
  }
  return worst;
}

}  // namespace

CauseFinder::CauseFinder(const Family& family, const Workload& workload, std::size_t contract,
                         const std::vector<Reference>& references)
    : family_(family), references_(references) {
  const auto honest = workload.simulate(contract, 0, true);
  for (std::size_t m = 1; m <= family.mutants.size(); ++m) {
    made_.push_back(workload.simulate(contract, m, true));
    if (distance(references, honest, made_.back()) <= kExplained) made_.back().clear();
  }
}

Guess CauseFinder::guess(const std::vector<Actual>& actuals) const {
  Guess guess;
  for (std::size_t m = 0; m < made_.size(); ++m)
    if (!made_[m].empty() && distance(references_, actuals, made_[m]) <= kExplained)
      guess.alternatives.push_back(m + 1);
  guess.looks_like = "unknown";
  // Several faults that give the same result on this input can't be told apart: say so.
  if (guess.alternatives.size() == 1) {
    guess.mutant = guess.alternatives[0];
    guess.looks_like = family_.mutants[guess.mutant - 1].looks_like;
  }
  return guess;
}

Guess guess_cause(const Family& family, const Workload& workload, std::size_t contract,
                  const std::vector<Reference>& references, const std::vector<Actual>& actuals) {
  return CauseFinder(family, workload, contract, references).guess(actuals);
}

std::vector<std::size_t> accepting_contracts(const Family& family, const Workload& workload,
                                             std::size_t declared, const std::vector<Actual>& actuals) {
  std::vector<std::size_t> accepting;
  for (std::size_t k = 0; k < family.contracts.size(); ++k) {
    if (k == declared) continue;
    const auto refs = workload.reference(k);
    if (refs && judge(*refs, actuals).passed()) accepting.push_back(k);
  }
  return accepting;
}

}  // namespace assay::num
