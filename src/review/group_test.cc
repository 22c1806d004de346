#include "review/group.h"

#include <gtest/gtest.h>

#include <set>

#include "review/compare.h"
#include "review/fingerprint.h"

namespace assay {
namespace {

Finding finding(std::string symbol, std::string file, uint32_t line, std::string text) {
  Finding f;
  f.rule = "missing-symbol";
  f.symbol = std::move(symbol);
  f.message = "no " + f.symbol;
  f.location = {"plugin", std::move(file), line, 1, 0, 0, std::move(text)};
  return f;
}

Report report_of(std::vector<Finding> findings) {
  Report report;
  report.findings = std::move(findings);
  return report;
}

TEST(Group, PlacesOfOneFaultInAFileBecomeSites) {
  Report report = report_of({finding("v.X", "a.py", 9, "X()"), finding("v.X", "a.py", 2, "import X"),
                             finding("v.Y", "a.py", 5, "Y"), finding("v.X", "b.py", 1, "import X")});
  finish_report(report);
  ASSERT_EQ(report.findings.size(), 3u);
  EXPECT_EQ(report.findings[0].location.line, 2u);
  ASSERT_EQ(report.findings[0].sites.size(), 1u);
  EXPECT_EQ(report.findings[0].sites[0].location.line, 9u);
  EXPECT_EQ(report.findings[1].symbol, "v.Y");
  EXPECT_EQ(report.findings[2].location.file, "b.py");
  EXPECT_EQ(report.findings[0].group, "missing-symbol:v.X");
  EXPECT_EQ(report.findings[2].group, "missing-symbol:v.X");
  EXPECT_EQ(report.stats.findings_per_rule.at("missing-symbol"), 3u);
}

TEST(Group, AnotherLevelStateOrMessageStaysApart) {
  Finding note = finding("v.X", "a.py", 2, "X");
  note.level = Level::kNote;
  Finding fixed = finding("v.X", "a.py", 3, "X");
  fixed.state = FindingState::kFixed;
  Finding other = finding("v.X", "a.py", 4, "X");
  other.message = "another thing about X";
  Report report = report_of({finding("v.X", "a.py", 1, "X"), note, fixed, other});
  finish_report(report);
  EXPECT_EQ(report.findings.size(), 4u);
}

TEST(Group, FinishingTwiceChangesNothing) {
  Report report = report_of({finding("v.X", "a.py", 9, "X()"), finding("v.X", "a.py", 2, "import X")});
  finish_report(report);
  std::string first = report.findings[0].fingerprint;
  finish_report(report);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].sites.size(), 1u);
  EXPECT_EQ(report.findings[0].fingerprint, first);
}

TEST(Fingerprint, SurvivesMovesAndSpacing) {
  Report a = report_of({finding("v.X", "a.py", 1, "from v  import X")});
  Report b = report_of({finding("v.X", "moved.py", 70, "    from v import\tX\r\n")});
  set_fingerprints(a);
  set_fingerprints(b);
  EXPECT_EQ(a.findings[0].fingerprint, b.findings[0].fingerprint);
  EXPECT_EQ(a.findings[0].fingerprint.size(), 16u);
}

TEST(Fingerprint, DependsOnRuleSymbolAndText) {
  Report report = report_of(
      {finding("v.X", "a.py", 1, "X"), finding("v.Y", "a.py", 1, "X"), finding("v.X", "a.py", 1, "X + 1")});
  report.findings.push_back(report.findings[0]);
  report.findings.back().rule = "missing-attribute";
  set_fingerprints(report);
  std::set<std::string> all;
  for (const Finding& f : report.findings) all.insert(f.fingerprint);
  EXPECT_EQ(all.size(), 4u);
}

TEST(Fingerprint, IsUniqueWhereTwoShareALine) {
  Report report = report_of({finding("v.X", "a.py", 1, "X(X)"), finding("v.X", "a.py", 1, "X(X)")});
  report.findings[1].location.column = 3;
  finish_report(report);
  ASSERT_EQ(report.findings[0].sites.size(), 1u);
  EXPECT_EQ(report.findings[0].sites[0].fingerprint, report.findings[0].fingerprint + "-2");
}

TEST(Fingerprint, AWholeFileIsKnownByItsName) {
  Report report = report_of({finding("v.X", "a.py", 0, ""), finding("v.X", "b.py", 0, "")});
  set_fingerprints(report);
  EXPECT_NE(report.findings[0].fingerprint, report.findings[1].fingerprint);
}

TEST(Compare, IntroducedUnchangedFixed) {
  Report before = report_of({finding("v.Old", "a.py", 1, "Old"), finding("v.Both", "a.py", 2, "Both")});
  Report now = report_of({finding("v.Both", "a.py", 3, "Both"), finding("v.New", "a.py", 4, "New")});
  Report result = compare_reports(before, now);
  ASSERT_EQ(result.findings.size(), 3u);
  EXPECT_EQ(result.findings[0].state, FindingState::kUnchanged);
  EXPECT_EQ(result.findings[1].state, FindingState::kIntroduced);
  EXPECT_EQ(result.findings[2].state, FindingState::kFixed);
  EXPECT_EQ(result.findings[2].symbol, "v.Old");
}

TEST(Compare, OfSeveralAlikeTheSamePlaceIsPairedFirst) {
  Report before = report_of({finding("v.X", "a.py", 7, "X")});
  Report now = report_of({finding("v.X", "a.py", 3, "X"), finding("v.X", "a.py", 7, "X")});
  Report result = compare_reports(before, now);
  ASSERT_EQ(result.findings.size(), 2u);
  EXPECT_EQ(result.findings[0].state, FindingState::kIntroduced);
  EXPECT_EQ(result.findings[1].state, FindingState::kUnchanged);
}

TEST(Compare, TheEarlierTargetIsTheBase) {
  Report before, now;
  before.inputs = {{"target", "vllm", "old", "", "0.25.0", "", ""}};
  now.inputs = {{"target", "vllm", "new", "", "0.26.0", "", ""}};
  Report result = compare_reports(before, now);
  ASSERT_EQ(result.inputs.size(), 2u);
  EXPECT_EQ(result.inputs[1].role, "base");
  EXPECT_EQ(result.inputs[1].version, "0.25.0");
}

TEST(Compare, OneRunWithItselfHasNothingNew) {
  Report report = report_of(
      {finding("v.X", "a.py", 7, "X"), finding("v.X", "a.py", 8, "X"), finding("v.Y", "b.py", 0, "")});
  for (const Finding& f : compare_reports(report, report).findings)
    EXPECT_EQ(f.state, FindingState::kUnchanged);
}

}  // namespace
}  // namespace assay
