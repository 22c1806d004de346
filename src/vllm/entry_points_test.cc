#include "vllm/entry_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tree/memory_tree.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> shown(const std::map<std::string, std::string>& files) {
  std::vector<std::string> out;
  for (const EntryPoint& e : entry_points(*make_memory_tree(files))) {
    out.push_back(fmt::format("{}:{} = {} ({}:{})", e.group, e.name, e.value, e.file, e.line));
  }
  return out;
}

TEST(EntryPoints, Pyproject) {
  EXPECT_THAT(shown({{"pyproject.toml",
                      "[project.scripts]\nrun = \"p.cli:main\"\n"
                      "[project.entry-points.\"vllm.platform_plugins\"]\nx = \"p:register\"\n"
                      "[project.entry-points.\"vllm.general_plugins\"]\ny = \"p.a : b [extra]\"\n"}}),
              ElementsAre("console_scripts:run = p.cli:main (pyproject.toml:2)",
                          "vllm.platform_plugins:x = p:register (pyproject.toml:4)",
                          "vllm.general_plugins:y = p.a:b (pyproject.toml:6)"));
}

TEST(EntryPoints, PoetryTables) {
  EXPECT_THAT(shown({{"pyproject.toml",
                      "[tool.poetry.plugins.\"vllm.general_plugins\"]\nx = \"p:f\"\n"
                      "[tool.poetry.scripts]\nrun = { reference = \"p.cli:main\", type = \"console\" }\n"}}),
              ElementsAre("vllm.general_plugins:x = p:f (pyproject.toml:2)",
                          "console_scripts:run = p.cli:main (pyproject.toml:4)"));
}

TEST(EntryPoints, SetupCfg) {
  EXPECT_THAT(shown({{"setup.cfg", "[options.entry_points]\nvllm.platform_plugins =\n    x = p:register\n"}}),
              ElementsAre("vllm.platform_plugins:x = p:register (setup.cfg:3)"));
}

TEST(EntryPoints, SetupScriptFollowsVariables) {
  EXPECT_THAT(
      shown({{"setup.py",
              "from setuptools import setup\n"
              "GROUP = 'vllm.general_plugins'\n"
              "plugins = ['a = p:a'] + ['b=p:b']\n"
              "points = {GROUP: plugins, 'vllm.platform_plugins': ['x = p:' 'register']}\n"
              "points['console_scripts'] = ['run = p.cli:main']\n"
              "setup(name='p', entry_points=points)\n"}}),
      ElementsAre("vllm.general_plugins:a = p:a (setup.py:3)", "vllm.general_plugins:b = p:b (setup.py:3)",
                  "vllm.platform_plugins:x = p:register (setup.py:4)",
                  "console_scripts:run = p.cli:main (setup.py:5)"));
}

TEST(EntryPoints, SetupScriptTextAndSplat) {
  EXPECT_THAT(shown({{"setup.py",
                      "import setuptools\n"
                      "args = {'entry_points': '''\n[vllm.general_plugins]\na = p:a\n'''}\n"
                      "setuptools.setup(**args)\n"}}),
              ElementsAre("vllm.general_plugins:a = p:a (setup.py:2)"));
}

TEST(EntryPoints, MetadataCountsOnlyWhereTheSourceSaysNothing) {
  const char* text = "[vllm.general_plugins]\nold = p:gone\n";
  EXPECT_THAT(shown({{"p-1.dist-info/entry_points.txt", text}}),
              ElementsAre("vllm.general_plugins:old = p:gone (p-1.dist-info/entry_points.txt:2)"));
  EXPECT_THAT(
      shown({{"p.egg-info/entry_points.txt", text},
             {"pyproject.toml", "[project.entry-points.\"vllm.general_plugins\"]\nnew = \"p:new\"\n"}}),
      ElementsAre("vllm.general_plugins:new = p:new (pyproject.toml:2)"));
}

TEST(EntryPoints, BrokenFilesDeclareNothing) {
  EXPECT_THAT(shown({{"pyproject.toml", "[project\n"}, {"setup.py", "setup(entry_points={'a': [\n"}}),
              IsEmpty());
}

Distribution distribution(const std::map<std::string, std::string>& files) {
  return distribution_of(*make_memory_tree(files));
}

TEST(Distribution, FromMetadata) {
  Distribution d = distribution({{"vllm/__init__.py", ""},
                                 {"vllm-0.26.0.dist-info/METADATA",
                                  "Metadata-Version: 2.4\nName: vllm\nVersion: 0.26.0\n\nVersion: 9\n"}});
  EXPECT_EQ(d.name, "vllm");
  EXPECT_EQ(d.version, "0.26.0");
}

TEST(Distribution, OfSeveralTheOneThatHasThePackages) {
  Distribution d = distribution({{"pkg/__init__.py", ""},
                                 {"a-1.dist-info/METADATA", "Name: a\nVersion: 1\n"},
                                 {"a-1.dist-info/top_level.txt", "other\n"},
                                 {"b-2.dist-info/METADATA", "Name: b\nVersion: 2\n"},
                                 {"b-2.dist-info/RECORD", "pkg/__init__.py,,\n"}});
  EXPECT_EQ(d.name, "b");
}

TEST(Distribution, FromSources) {
  Distribution d = distribution({{"pyproject.toml", "[project]\nname = \"p\"\ndynamic = [\"version\"]\n"},
                                 {"p/_version.py", "__version__ = version = '1.2.dev3'\n"}});
  EXPECT_EQ(d.name, "p");
  EXPECT_EQ(d.version, "1.2.dev3");
  EXPECT_EQ(distribution({{"setup.py", "V = '3.1'\nsetup(name='q', version=V)\n"}}).version, "3.1");
  EXPECT_EQ(distribution({{"setup.cfg", "[metadata]\nname = c\nversion = attr: c.__version__\n"}}).version,
            "");
}

}  // namespace
}  // namespace assay
