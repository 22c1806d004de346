// Four gates between what a kernel returned and what it had to return. Families fill in References; this file
// decides.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/tensor.h"

namespace assay::num {

enum class Gate : std::uint8_t { kExact, kBudget, kStatistical, kStructured };
constexpr int kGates = 4;
const char* gate_name(Gate gate);

// How structured inputs let an output be decoded instead of compared.
enum class Structured : std::uint8_t {
  kNone,
  kBits,        // the reference rounded to the output type, bit for bit
  kCounts,      // round(value · multiplier) is an integer that must agree
  kExpCounts,   // round(exp(value) - multiplier) must agree: the number of visible keys in an LSE
  kExp2Counts,  // the same for an LSE of base 2
};

// A tensor that came back from a kernel.
struct Actual {
  std::string name;
  DType type = DType::kF32;
  Shape shape;
  std::vector<double> value;
};

// The share of Σ|z| that errors of the sums may reach before an element says nothing about the kernel.
constexpr double kCoarse = 1.0 / 16;

// What one output tensor has to be.
struct Reference {
  // Says what is wrong with an output that is no tensor of numbers (a set of indices), or nothing.
  using Rule = std::function<std::optional<std::string>(const Actual&)>;

  std::string name;
  DType type = DType::kF32;
  Shape shape;
  std::vector<std::string> axes;  // names of the dimensions, for messages: request, token, head, …
  std::vector<double> value;      // exact, in binary64
  // Gate 2. Largest error that a kernel of the declared contract can make; empty: every element must be equal
  // (gate 1).
  std::vector<double> budget;
  std::vector<std::uint8_t> term;  // index into terms of the budget's largest part, or empty
  std::vector<std::string> terms;
  // 1 where the sums' own errors may exceed kCoarse of what is summed: the declared arithmetic is so rough
  // that a wrong kernel need not show there. Empty: nowhere.
  std::vector<std::uint8_t> coarse;
  // Gate 3. Standard deviation of the rounding errors (0: element not judged), the limit of the RMS of
  // error/sigma along stat_axis, and an elementwise bound that holds for independent errors (LSE). Empty
  // where the inputs don't allow it.
  std::vector<double> sigma;
  double rms_limit = 0;
  int stat_axis = -1;
  std::vector<double> likely;
  // Gate 4.
  Structured structured = Structured::kNone;
  std::vector<double> multiplier;  // one per element; 0: element not decoded
  Rule rule;                       // replaces value and budget
};

struct GateResult {
  bool applied = false;
  bool passed = true;
  double worst = 0;  // largest ratio of error to what the gate allows
  std::string tensor;
  std::vector<std::int64_t> at;
  double got = 0, want = 0, allowed = 0;
  std::string
      why;  // one sentence about the worst element: coordinates, both values, budget and its largest term
};

struct Verdict {
  std::array<GateResult, kGates> gates;
  std::int64_t judged = 0;  // elements that only a budget or a statistic judges
  std::int64_t coarse = 0;  // those of them whose budget is too large to tell
  bool passed() const;      // no gate objects
  // No gate objects, but on most elements none could: this is not a pass. Shorter sums, or promoted ones, can
  // be judged.
  bool undecided() const { return passed() && 2 * coarse > judged; }
  const GateResult& operator[](Gate g) const { return gates[static_cast<std::size_t>(g)]; }
  GateResult& operator[](Gate g) { return gates[static_cast<std::size_t>(g)]; }
  // The first failed gate's sentence, "too inaccurate to judge: …", or "passed".
  std::string summary() const;
};

Verdict judge(std::span<const Reference> references, std::span<const Actual> actuals);

// Figures that are reported and never decide: they are what other tools judge by.
struct Statistics {
  double max_abs = 0, max_rel = 0, cosine = 1, calc_diff = 0;
};
Statistics compare(std::span<const double> got, std::span<const double> want);

// torch.allclose(got, want, rtol, atol), NaN never equal.
bool allclose(std::span<const double> got, std::span<const double> want, double rtol, double atol);

}  // namespace assay::num
