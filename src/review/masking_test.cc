#include "review/masking.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Finding finding(const std::string& rule, const std::string& file, uint32_t line) {
  Finding f;
  f.rule = rule;
  f.level = Level::kError;
  f.location = {};
  f.location.tree = "plugin";
  f.location.file = file;
  f.location.line = line;
  f.fingerprint = rule + std::to_string(line);
  return f;
}

TEST(Masking, WhatStandsBehindAnImportThatRaises) {
  Report report;
  report.findings = {finding("undefined-name", "p/a.py", 3), finding("missing-module", "p/a.py", 10), finding("undefined-name", "p/a.py", 20),
                     finding("undefined-name", "p/b.py", 20), finding("registered-not-importable", "p/__init__.py", 5)};
  report.findings.back().related.push_back({report.findings[1].location, "", ""});
  set_blocked(report);
  EXPECT_TRUE(report.findings[0].blocked_by.empty());
  EXPECT_TRUE(report.findings[1].blocked_by.empty());
  EXPECT_EQ(report.findings[2].blocked_by, std::vector<std::string>{"missing-module10"});
  EXPECT_EQ(report.findings[2].level, Level::kError);
  EXPECT_TRUE(report.findings[3].blocked_by.empty()) << "another file";
}

TEST(Masking, AFileThatImportsWellMasksNothing) {
  Report report;
  report.findings = {finding("missing-module", "p/a.py", 10), finding("undefined-name", "p/a.py", 20)};
  set_blocked(report);
  EXPECT_TRUE(report.findings[1].blocked_by.empty()) << "nothing says that the import stops there";
}

}  // namespace
}  // namespace assay
