#include "review/bisect.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "git/temp_repository.h"
#include "review/group.h"
#include "review/run.h"

namespace assay {
namespace {

TEST(RevisionRange, WantsTwoRevisionsOfOneRepository) {
  RevisionRange r;
  EXPECT_TRUE(revision_range("vllm@v1", "vllm@v2", r));
  EXPECT_EQ(r.path, "vllm");
  EXPECT_EQ(r.newer, "v2");
  EXPECT_FALSE(revision_range("a@v1", "b@v2", r));
  EXPECT_FALSE(revision_range("vllm@v1", "vllm@:index", r));
  EXPECT_FALSE(revision_range("vllm", "vllm@v2", r));
}

// 200 commits, of which three break the plugin: a module goes, a name goes, a parameter becomes required.
TEST(Bisect, NamesTheThreeCommitsOfTwoHundred) {
  TempRepository repository;
  repository.write("vllm/__init__.py", "");
  repository.write("vllm/gone.py", "x = 1\n");
  repository.write("vllm/names.py", "kept = 1\nremoved = 2\n");
  repository.write("vllm/calls.py", "def f(a):\n    return a\n");
  std::string base = repository.commit("start");
  std::vector<std::string> breakers(3);
  for (int i = 1; i <= 200; ++i) {
    repository.write("vllm/noise.py", "n = " + std::to_string(i) + "\n");
    if (i == 37) std::filesystem::remove(repository / "vllm/gone.py");
    if (i == 120) repository.write("vllm/names.py", "kept = 1\n");
    if (i == 121) repository.write("vllm/calls.py", "def f(a, b):\n    return a\n");
    std::string id = repository.commit("commit " + std::to_string(i));
    if (i == 37) breakers[0] = id;
    if (i == 120) breakers[1] = id;
    if (i == 121) breakers[2] = id;
  }
  TempFolder plugin;
  plugin.write("demo/__init__.py", "from vllm.gone import x\nfrom vllm.names import removed\nfrom vllm.calls import f\nf(1)\n");
  RunOptions options;
  options.plugin = plugin.path().string();
  options.base = repository.path().string() + "@" + base;
  options.target = repository.path().string() + "@main";
  options.use_cache = false;
  auto report = run_compare(options);
  ASSERT_TRUE(report) << report.error().message;
  auto commit_of = [&](const std::string& rule) -> std::string {
    for (const Finding& f : report->findings) {
      if (f.rule == rule) return f.attribution.basis;
    }
    return "no finding of " + rule;
  };
  EXPECT_NE(commit_of("missing-module").find(breakers[0].substr(0, 12)), std::string::npos) << commit_of("missing-module");
  EXPECT_NE(commit_of("missing-symbol").find(breakers[1].substr(0, 12)), std::string::npos) << commit_of("missing-symbol");
  EXPECT_NE(commit_of("call-missing-argument").find(breakers[2].substr(0, 12)), std::string::npos) << commit_of("call-missing-argument");
}

}  // namespace
}  // namespace assay
