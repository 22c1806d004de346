#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/project_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Files kTarget = {{"vllm/__init__.py", ""}, {"vllm/old.py", "X = 1\n"}};

std::vector<std::string> check(const Files& plugin, const std::string& value = "p:register") {
  return shown(project_findings(check_importable, with_entry_point(plugin, value), kTarget, {check_imports}));
}

TEST(EntryPointBroken, NamesNothing) {
  EXPECT_THAT(check({{"p/__init__.py", ""}}), ElementsAre("error entry-point-broken pyproject.toml:4 p:register"));
  EXPECT_THAT(check({{"p/__init__.py", ""}}, "p.plugin:register"), ElementsAre("error entry-point-broken pyproject.toml:4 p.plugin:register"));
  EXPECT_THAT(check({{"p/__init__.py", "def register(): pass\n"}}), IsEmpty());
}

TEST(EntryPointBroken, WhatItImportsRaises) {
  EXPECT_THAT(check({{"p/__init__.py", "def register():\n  import p.a\n"}, {"p/a.py", "import vllm.gone\n"}}),
              ElementsAre("error entry-point-broken pyproject.toml:4 p:register"));
}

TEST(EntryPointBroken, WhatIsCaughtOrComesLaterIsRight) {
  EXPECT_THAT(check({{"p/__init__.py", "def register():\n  import p.a\n"}, {"p/a.py", "try:\n  import vllm.gone\nexcept ImportError:\n  pass\n"}}), IsEmpty());
  EXPECT_THAT(check({{"p/__init__.py", "def register():\n  import p.a\n"}, {"p/a.py", "def f():\n  import vllm.gone\n"}}), IsEmpty());
}

TEST(RegisteredNotImportable, TheModuleOfAClassPathRaises) {
  Files plugin = {{"p/__init__.py", "def register():\n  return 'p.m.Model'\n"}, {"p/m.py", "from p.base import Base\nclass Model(Base): pass\n"}, {"p/base.py", "import vllm.gone\nclass Base: pass\n"}};
  EXPECT_THAT(check(plugin), testing::Contains("error registered-not-importable p/__init__.py:2 p.m.Model"));
  plugin["p/base.py"] = "import vllm.old\nclass Base: pass\n";
  EXPECT_THAT(check(plugin), IsEmpty());
}

}  // namespace
}  // namespace assay
