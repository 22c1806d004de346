#include "vllm/built_modules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tree/memory_tree.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(std::map<std::string, std::string> files) {
  std::vector<std::string> out;
  for (const auto& [name, reason] : built_modules(*make_memory_tree(std::move(files)))) out.push_back(name);
  return out;
}

TEST(BuiltModules, Setup) {
  EXPECT_THAT(names({{"setup.py", "ext = [CMakeExtension(name='p._C'), Extension('p.fast', ['a.c'])]\next.append(CUDAExtension(name=f'{x}'))\n"}}),
              ElementsAre("p._C", "p.fast"));
}

TEST(BuiltModules, Maturin) {
  EXPECT_THAT(names({{"pyproject.toml", "[tool.maturin]\npython-source = 'py'\nmodule-name = \"p._core\"\n[tool.x]\n"}}), ElementsAre("p._core"));
}

TEST(BuiltModules, CMake) {
  EXPECT_THAT(names({{"CMakeLists.txt", "define_extension_target(\n  _C\n  DESTINATION p/sub\n  LANGUAGE CUDA)\ninstall(TARGETS _D DESTINATION p)\ninstall(FILES a DESTINATION ${X})\n"}}),
              ElementsAre("p._D", "p.sub._C"));
}

TEST(BuiltModules, VersionFiles) {
  EXPECT_THAT(names({{"setup.py", "setup(use_scm_version={'write_to': 'p/_version.py'})\n"}}), ElementsAre("p._version"));
  EXPECT_THAT(names({{"pyproject.toml", "[tool.setuptools_scm]\nversion_file = \"src/p/_version.py\"\n"}}), ElementsAre("p._version"));
  EXPECT_THAT(names({{"pyproject.toml", "[tool.setuptools_scm]\nwrite_to = \"VERSION.txt\"\n"}}), IsEmpty());
}

TEST(BuiltModules, NothingBuilt) { EXPECT_THAT(names({{"setup.py", "setup()"}}), IsEmpty()); }

}  // namespace
}  // namespace assay
