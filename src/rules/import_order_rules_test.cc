#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/project_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> check(Files plugin, const Files& target) {
  plugin.try_emplace("p/__init__.py", "def register():\n  import p.patch\n");
  return shown(project_findings(check_import_order, with_entry_point(std::move(plugin)), target));
}

TEST(CircularImport, TheNameIsBoundBehindTheImportThatLeadsBack) {
  Files plugin = {{"p/patch.py", "from p.b import g\nX = 1\n"}, {"p/b.py", "from p.patch import X\ndef g(): pass\n"}};
  EXPECT_THAT(check(plugin, {{"vllm/__init__.py", ""}}), ElementsAre("error circular-import p/b.py:1 p.patch.X"));
}

TEST(CircularImport, BoundBeforeOrUsedLaterIsRight) {
  Files target = {{"vllm/__init__.py", ""}};
  EXPECT_THAT(check({{"p/patch.py", "X = 1\nfrom p.b import g\n"}, {"p/b.py", "from p.patch import X\ndef g(): pass\n"}}, target), IsEmpty());
  EXPECT_THAT(check({{"p/patch.py", "from p.b import g\nX = 1\n"}, {"p/b.py", "def g():\n  from p.patch import X\n"}}, target), IsEmpty());
  EXPECT_THAT(check({{"p/patch.py", "from p.b import g\nX = 1\n"}, {"p/b.py", "import p.patch\ndef g(): pass\n"}}, target), IsEmpty());
  EXPECT_THAT(check({{"p/patch.py", "from p.b import g\nX = 1\n"},
                     {"p/b.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  from p.patch import X\ndef g(): pass\n"}},
                    target),
              IsEmpty());
}

const Files kLayers = {{"vllm/__init__.py", ""},
                       {"vllm/layers/__init__.py", ""},
                       {"vllm/layers/moe/__init__.py", ""},
                       {"vllm/layers/moe/utils.py", "def f(): pass\n"},
                       {"vllm/engine.py", "from vllm.plugins import load_general_plugins\ndef start():\n  load_general_plugins()\n"},
                       {"vllm/plugins.py", "def load_general_plugins(): pass\n"}};

TEST(UnimportedSubmodule, NobodyImportedIt) {
  EXPECT_THAT(check({{"p/patch.py", "import vllm.layers\nvllm.layers.moe.utils.f = len\n"}}, kLayers),
              ElementsAre("warning unimported-submodule p/patch.py:2 vllm.layers.moe"));
}

TEST(UnimportedSubmodule, ImportedHereOrBefore) {
  EXPECT_THAT(check({{"p/patch.py", "import vllm.layers.moe.utils\nvllm.layers.moe.utils.f = len\n"}}, kLayers), IsEmpty());
  EXPECT_THAT(check({{"p/patch.py", "import p.first\nimport vllm\nvllm.layers.moe.utils.f = len\n"}, {"p/first.py", "from vllm.layers.moe import utils\n"}}, kLayers),
              IsEmpty());
}

TEST(UnimportedSubmodule, ImportedByWhoeverCallsThePlugins) {
  Files target = kLayers;
  target["vllm/engine.py"] = "import vllm.layers.moe.utils\n" + target["vllm/engine.py"];
  EXPECT_THAT(check({{"p/patch.py", "import vllm.layers\nvllm.layers.moe.utils.f = len\n"}}, target), IsEmpty());
}

const Files kConsumer = {{"vllm/__init__.py", ""},
                         {"vllm/lib.py", "def f(): pass\n"},
                         {"vllm/user.py", "from vllm.lib import f\ndef go(): f()\n"},
                         {"vllm/plugins.py", "def load_general_plugins(): pass\n"},
                         {"vllm/engine.py", "from vllm.plugins import load_general_plugins\nload_general_plugins()\n"}};
const std::string kLate = "note patch-bound-too-late p/patch.py:3 vllm.lib.f";

TEST(PatchBoundTooLate, ThePluginImportedTheConsumerBefore) {
  EXPECT_THAT(check({{"p/patch.py", "import vllm.user\nimport vllm.lib\nvllm.lib.f = len\n"}}, kConsumer), ElementsAre(kLate));
}

TEST(PatchBoundTooLate, WhoeverCallsThePluginsImportedTheConsumer) {
  Files target = kConsumer;
  target["vllm/engine.py"] = "import vllm.user\n" + target["vllm/engine.py"];
  EXPECT_THAT(check({{"p/patch.py", "import os\nimport vllm.lib\nvllm.lib.f = len\n"}}, target), ElementsAre(kLate));
}

// The consumer's text does not name the module.
TEST(PatchBoundTooLate, ARelativeImportTakesTheNameToo) {
  Files target = kConsumer;
  target["vllm/lib/__init__.py"] = "def f(): pass\n";
  target["vllm/lib/user.py"] = "from . import f\ndef go(): f()\n";
  target.erase("vllm/lib.py");
  target.erase("vllm/user.py");
  EXPECT_THAT(check({{"p/patch.py", "import vllm.lib.user\nimport vllm.lib\nvllm.lib.f = len\n"}}, target), ElementsAre(kLate));
}

TEST(PatchBoundTooLate, InTimeOrPatchedInBothIsRight) {
  EXPECT_THAT(check({{"p/patch.py", "import vllm.lib\nvllm.lib.f = len\nimport vllm.user\n"}}, kConsumer), IsEmpty());
  EXPECT_THAT(check({{"p/patch.py", "import vllm.user\nimport vllm.lib\nvllm.lib.f = len\nvllm.user.f = len\n"}}, kConsumer), IsEmpty());
}

TEST(PatchBoundTooLate, AConsumerThatReadsThroughTheModuleSeesThePatch) {
  Files target = kConsumer;
  target["vllm/user.py"] = "from vllm import lib\ndef go(): lib.f()\n";
  EXPECT_THAT(check({{"p/patch.py", "import vllm.user\nimport vllm.lib\nvllm.lib.f = len\n"}}, target), IsEmpty());
}

}  // namespace
}  // namespace assay
