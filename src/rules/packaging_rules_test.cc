#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/project_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> check(const std::string& setup, const std::string& code = "import os\nD = os.path.join(os.path.dirname(__file__), 'configs')\n") {
  Files plugin = {{"p/__init__.py", code}, {"p/configs/a.json", "{}"}, {"p/configs/big/b.json", "{}"}, {"setup.py", setup}};
  return shown(project_findings(check_packaging, plugin, {{"vllm/__init__.py", ""}}));
}

TEST(NotPackaged, AGlobThatMissesTheFoldersBelow) {
  EXPECT_THAT(check("from setuptools import setup\nsetup(package_data={'p': ['configs/*.json']})\n"),
              ElementsAre("warning not-packaged setup.py:2 p/configs/*.json"));
  EXPECT_THAT(check("package_data = {\n  'p': [\n    'configs/*.json',\n  ]\n}\n", "from pathlib import Path\nD = Path(__file__).parent / 'configs'\n"),
              ElementsAre("warning not-packaged setup.py:3 p/configs/*.json"));
}

TEST(NotPackaged, EveryFileIsNamed) {
  EXPECT_THAT(check("setup(package_data={'p': ['configs/*.json', 'configs/*/*.json']})\n"), IsEmpty());
  EXPECT_THAT(check("setup(package_data={'p': ['configs/**/*.json']})\n"), IsEmpty());
}

TEST(NotPackaged, WhatIsNotReadOrNotCertainIsSilent) {
  EXPECT_THAT(check("setup(package_data={'p': ['configs/*.json']})\n", "X = 1\n"), IsEmpty());
  EXPECT_THAT(check("setup(package_data={'p': globs()})\n"), IsEmpty());
  EXPECT_THAT(check("package_data = {'p': ['configs/*.json']}\npackage_data['p'].append('configs/*/*')\n"), IsEmpty());
}

}  // namespace
}  // namespace assay
