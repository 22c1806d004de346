// The proof that the gates bite and do not bite wrongly: every mutant against its family's smoke cases,
// honest kernels against random cases, the gates' worth by leaving one out, and how often a guessed cause is
// right.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cases/suite.h"

namespace assay::num {

struct SelfTestOptions {
  std::vector<std::string> families;  // empty: all
  Tier tier = Tier::kSmoke;           // cases that the mutants are shown
  std::int64_t honest_cases = 500;    // random cases per family and contract
  std::int64_t guess_cases = 2;       // random cases per mutant for the guessed cause
  std::int64_t longest = 40000;       // keys of a long random case; one in eight is long
  bool plain = true;                  // look for a plain input on which each mutant passes allclose
  std::uint64_t seed = 1;
  int threads = 0;
};

// One row of the matrix mutant × gate.
struct MutantRow {
  std::string family, mutant, contract;
  bool exact_class = false;
  bool changed = false;                   // the fault changes an output of some smoke case
  std::array<std::int64_t, kGates> by{};  // smoke cases on which each gate objects
  std::int64_t killed_cases = 0;
  std::string first;  // the first case line that kills it
  std::string plain;  // a plain input on which it passes allclose(1e-2, 1e-2) though it changed
  bool killed() const { return killed_cases > 0; }
};

// Honest cases of one family, each counted once per contract.
struct HonestCount {
  std::string family;
  std::int64_t cases = 0, many_keys = 0, offset = 0, undecided = 0;
};

struct FalseAlarm {
  std::string line, contract, why;
};

struct SelfTestResult {
  std::vector<MutantRow> rows;  // one per mutant, with the contract that brings the fault out
  std::int64_t mutants = 0, killed = 0;
  std::vector<std::string> survivors;        // family/mutant
  std::int64_t pairs = 0, pairs_killed = 0;  // mutant × every contract on which it changes something
  std::vector<std::string> pair_survivors;   // family/mutant/contract
  std::vector<HonestCount> honest;           // one per family
  HonestCount total;                         // undecided: too inaccurate to judge, so no passes
  std::vector<FalseAlarm> alarms;
  std::array<double, kGates> nearest{};                  // largest ratio of an honest kernel, per gate
  std::array<std::vector<std::string>, kGates> without;  // survivors when that gate is off
  std::int64_t guesses_right = 0, guesses_wrong = 0, guesses_unknown = 0;
  std::vector<std::string> easy;    // mutants that no plain input hides
  std::vector<std::string> errors;  // lines that could not be built
  double seconds = 0;
};

// What a test elsewhere would say: allclose(1e-2, 1e-2) on the first output, scaled to unit variance.
bool plain_test_passes(const std::vector<Actual>& honest, const std::vector<Actual>& made);
// Equal in every type, shape and element; NaN equals NaN.
bool same_outputs(const std::vector<Actual>& a, const std::vector<Actual>& b);

// Error: an unknown family.
Expected<SelfTestResult> self_test(const SelfTestOptions& options);

std::string self_test_text(const SelfTestResult& result);
// {schema:"assay.selftest/1", mutants, killed, survivors[], honest_cases, false_alarms, …}
std::string self_test_json(const SelfTestResult& result);

}  // namespace assay::num
