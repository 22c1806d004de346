// Every rule has a page in docs/rules/, and every page a rule.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "rules/rule_table.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
const fs::path kPages = fs::path(ASSAY_SOURCE_DIR) / "docs" / "rules";

TEST(RulePages, EveryRuleHasOne) {
  for (const RuleInfo& rule : all_rules()) {
    fs::path page = kPages / (std::string(rule.name) + ".md");
    EXPECT_TRUE(fs::exists(page)) << page << ": scripts/new-rule " << rule.name << " makes one";
  }
}

TEST(RulePages, EveryPageHasARuleAndItsTitle) {
  if (!fs::exists(kPages)) GTEST_SKIP();
  for (const fs::directory_entry& e : fs::directory_iterator(kPages)) {
    if (e.path().extension() != ".md") continue;
    std::string name = e.path().stem();
    EXPECT_NE(find_rule(name), nullptr) << e.path();
    std::ifstream in(e.path());
    std::string first;
    std::getline(in, first);
    EXPECT_EQ(first, "# " + name) << e.path();
  }
}

}  // namespace
}  // namespace assay
