#include "cases/report_cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cases/family.h"

namespace assay::num {
namespace {

// On every report's case the honest kernels pass, and the fault is found out by a contract on which it shows.
TEST(ReportCases, ShowTheirFaultAndNothingElse) {
  for (const ReportCase& r : report_cases()) {
    const auto c = parse_case(r.line);
    ASSERT_TRUE(c) << r.line << ": " << c.error().message;
    const Family& f = **find_family(c->family());
    const auto w = f.build(*c);
    ASSERT_TRUE(w) << r.line << ": " << w.error().message;
    std::size_t mutant = 0;
    for (std::size_t m = 0; m < f.mutants.size(); ++m)
      if (f.mutants[m].name == r.mutant) mutant = m + 1;
    ASSERT_NE(mutant, 0u) << r.reference << ": " << f.name << " has no mutant " << r.mutant;
    bool killed = false;
    for (std::size_t k = 0; k < f.contracts.size() && !killed; ++k) {
      const auto refs = (*w)->reference(k);
      ASSERT_TRUE(refs) << r.line;
      const Verdict honest = judge(*refs, (*w)->simulate(k, 0));
      EXPECT_TRUE(honest.passed()) << r.line << " " << honest.summary();
      killed = !judge(*refs, (*w)->simulate(k, mutant)).passed();
    }
    EXPECT_TRUE(killed) << r.reference << ": " << r.mutant << " survives " << r.line;
  }
}

// The table in the documentation is the table in the code.
TEST(ReportCases, AreAllInTheDocumentation) {
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/numerics-reports.md");
  std::stringstream text;
  text << file.rdbuf();
  for (const ReportCase& r : report_cases()) {
    const std::string row = "| " + r.reference + " | " + r.what + " | `" + r.line + "` | " + r.mutant + " |";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace assay::num
