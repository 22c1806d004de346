#include "review/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git/temp_repository.h"
#include "runtime/temp_venv.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class VerifyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    env_.distribution("vllm", "0.32.0", "vllm/__init__.py,,\n");
    env_.add("vllm/__init__.py", "");
    env_.add("vllm/a.py", "def f(x, *, y=1):\n    pass\nclass C:\n    def m(self, x):\n        pass\n");
    // Reading cannot see what this puts there.
    env_.add("vllm/late.py", "import vllm.a\n");
    plugin_.write("pyproject.toml", "[project]\nname = \"p\"\nversion = \"1\"\n[project.entry-points.\"vllm.general_plugins\"]\np = \"p:register\"\n");
  }
  Report check(const std::string& code, const std::string& target = "") {
    plugin_.write("p/__init__.py", code);
    RunOptions options;
    options.plugin = plugin_.path().string();
    options.target = target.empty() ? "installed:" + env_.python() : target;
    options.python = env_.python();
    options.use_cache = false;
    auto report = run_check(options);
    EXPECT_TRUE(report) << report.error().message;
    return report ? std::move(*report) : Report{};
  }
  static std::vector<std::string> levels(const Report& report) {
    std::vector<std::string> out;
    for (const Finding& f : report.findings) out.push_back(f.rule + ' ' + to_string(f.evidence));
    return out;
  }

  TempVenv env_;
  TempFolder plugin_;
};

TEST_F(VerifyTest, ConfirmedFindingsRise) {
  const Report report = check("def register():\n    import vllm.gone\n    from vllm.a import nothing\n    from vllm.a import f, C\n"
                              "    f(1, 2)\n    f(1, z=3)\n    C().m()\n");
  EXPECT_THAT(levels(report), ElementsAre("missing-module runtime-reproduced", "missing-symbol runtime-reproduced",
                                          "call-too-many-arguments runtime-reproduced", "call-unknown-argument runtime-reproduced",
                                          "call-missing-argument runtime-reproduced"));
  EXPECT_THAT(report.findings.at(2).supports.at(0), HasSubstr("bind refuses the call: too many positional arguments"));
  EXPECT_EQ(report.stats.verified.at("missing-symbol").confirmed, 1u);
}

TEST_F(VerifyTest, WhatTheProcessHasIsWithdrawn) {
  // A module that a finder makes up: the files show nothing of it.
  env_.add("vllm_made_up.pth", "import sys, types; sys.modules['vllm.made'] = types.ModuleType('vllm.made')\n");
  const Report report = check("def register():\n    import vllm.made\n    import vllm.gone\n");
  EXPECT_THAT(levels(report), ElementsAre("missing-module runtime-reproduced"));
  EXPECT_EQ(report.stats.verified.at("missing-module").withdrawn, 1u);
  bool said = false;
  for (const Unknown& u : report.unknown) said |= u.what == "missing-module vllm.made" && u.reason.starts_with("withdrawn: ");
  EXPECT_TRUE(said);
}

TEST_F(VerifyTest, AnotherTargetDecidesNothing) {
  TempFolder target;
  target.write("vllm/__init__.py", "");
  target.write("vllm/a.py", "def f(x):\n    pass\n");
  const Report report = check("def register():\n    from vllm.a import g\n", target.path().string());
  EXPECT_THAT(levels(report), ElementsAre("missing-symbol source-inspected"));
  EXPECT_THAT(report.findings.at(0).limits.back(), HasSubstr("the process has another vllm.a than the target that was read"));
  EXPECT_EQ(report.stats.verified.at("missing-symbol").undecided, 1u);
}

TEST_F(VerifyTest, AnImportThatStopsEarlierDecidesNothing) {
  env_.add("vllm/heavy.py", "import no_such_kernel_package\n");
  const Report report = check("def register():\n    from vllm.heavy import g\n");
  EXPECT_THAT(levels(report), ElementsAre("missing-symbol source-inspected"));
  EXPECT_THAT(report.findings.at(0).limits.back(), HasSubstr("stops earlier: ModuleNotFoundError: No module named 'no_such_kernel_package'"));
}

TEST(NoteUnstaged, AFileThatOnlyTheWorkingTreeHasIsAFinding) {
  TempRepository plugin;
  plugin.write("pyproject.toml", "[project]\nname = \"p\"\nversion = \"1\"\n[project.entry-points.\"vllm.general_plugins\"]\np = \"p:register\"\n");
  plugin.write("p/__init__.py", "def register():\n    import p.helper\n");
  plugin.commit("first");
  plugin.write("p/helper.py", "");
  TempFolder target;
  target.write("vllm/__init__.py", "");
  RunOptions options;
  options.plugin = plugin.path().string() + "@:index";
  options.target = target.path().string();
  options.use_cache = false;
  auto report = run_check(options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_THAT(report->findings[0].message, HasSubstr("the plugin has no module p.helper; p/helper.py exists in the working tree, but is not staged"));
  EXPECT_EQ(report->findings[0].fix, "stage p/helper.py");
}

}  // namespace
}  // namespace assay
