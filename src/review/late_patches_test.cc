#include "review/late_patches.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Finding finding(const std::string& rule, const std::vector<std::pair<std::string, std::string>>& related) {
  Finding f;
  f.rule = rule;
  f.level = rule == "patched-signature" ? Level::kError : Level::kNote;
  f.symbol = "vllm.m.f";
  for (const auto& [file, message] : related) {
    Related r;
    r.location.file = file;
    r.message = message;
    f.related.push_back(r);
  }
  return f;
}

TEST(LatePatches, OnlyCallersThatKeepTheOldFunction) {
  Report report;
  report.findings = {finding("patched-signature", {{"vllm/a.py", "called here"}, {"vllm/m.py", "the original"}}),
                     finding("patch-bound-too-late", {{"vllm/a.py", "takes the name here"}})};
  lower_unmet_replacements(report);
  EXPECT_EQ(report.findings[0].level, Level::kNote);
  EXPECT_EQ(report.findings[0].limits.size(), 1u);
}

TEST(LatePatches, ACallerThatSeesTheReplacementKeepsTheError) {
  Report report;
  report.findings = {finding("patched-signature", {{"vllm/a.py", "called here"}, {"vllm/b.py", "called here"}}),
                     finding("patched-signature", {{"vllm/m.py", "the original"}}),
                     finding("patch-bound-too-late", {{"vllm/a.py", "takes the name here"}})};
  lower_unmet_replacements(report);
  EXPECT_EQ(report.findings[0].level, Level::kError);
  EXPECT_EQ(report.findings[1].level, Level::kError) << "fits no call at all";
}

}  // namespace
}  // namespace assay
