#include "model/order.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Finding finding(std::string rule, std::string file, uint32_t line, uint32_t column) {
  Finding f;
  f.rule = std::move(rule);
  f.symbol = "s";
  f.location = {"plugin", std::move(file), line, column, 0, 0, ""};
  return f;
}

TEST(Order, FileThenLineThenColumnThenRule) {
  Report report;
  report.findings = {finding("b", "y.py", 1, 1), finding("b", "x.py", 10, 1), finding("a", "x.py", 9, 4),
                     finding("b", "x.py", 9, 2), finding("a", "x.py", 10, 1)};
  sort_report(report);
  std::string order;
  for (const Finding& f : report.findings)
    order += f.location.file + std::to_string(f.location.line) + "." + std::to_string(f.location.column) +
             f.rule + " ";
  EXPECT_EQ(order, "x.py9.2b x.py9.4a x.py10.1a x.py10.1b y.py1.1b ");
}

TEST(Order, LevelsParseBack) {
  EXPECT_EQ(parse_level("warning"), Level::kWarning);
  EXPECT_EQ(parse_level("Warning"), std::nullopt);
  EXPECT_EQ(parse_evidence_level("numerically-validated"), EvidenceLevel::kNumericallyValidated);
  EXPECT_EQ(parse_finding_state("suppressed"), FindingState::kSuppressed);
}

}  // namespace
}  // namespace assay
