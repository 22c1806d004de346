// Gates 2 and 3 of attention: how far an honest kernel of a declared contract can be from the exact result.
#pragma once

#include <span>
#include <vector>

#include "judge/attention_contract.h"
#include "judge/verdict.h"
#include "oracle/attention.h"

namespace assay::num {

// What the inputs permit beyond the budget.
struct AttentionInputs {
  bool iid_values = false;  // V is independent, zero-mean: the statistical gate may judge
  bool heavy_tailed = false;
  Structured out = Structured::kNone, lse = Structured::kNone;
};

// Runs the oracle and returns references for "out" [tokens][heads][v dim] and, where the contract returns it,
// "lse" [heads][tokens]. Error: whatever check() of the problem says.
Expected<std::vector<Reference>> attention_reference(const AttentionProblem& problem,
                                                     const AttentionContract& contract,
                                                     const AttentionInputs& inputs, int threads = 0);

// The same for several contracts at once: the oracle runs once, and each row's budgets are made while it is
// at hand. inputs: one per contract.
Expected<std::vector<std::vector<Reference>>> attention_references(
    const AttentionProblem& problem, std::span<const AttentionContract> contracts,
    std::span<const AttentionInputs> inputs, int threads = 0);

// The budget of one row, apart so that it can be tested. out: [v dim]; sigma is empty unless wanted.
struct RowBudget {
  std::vector<double> out, sigma;
  std::vector<std::uint8_t> term;
  std::vector<std::uint8_t> coarse;  // as Reference::coarse
  double lse = 0, likely_lse = 0;
};
RowBudget row_budget(const AttendedRow& row, const AttentionContract& contract, bool want_sigma);

const std::vector<std::string>& attention_terms();

}  // namespace assay::num
