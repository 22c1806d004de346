#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/project_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> check(const std::string& patch, const Files& target, const std::string& more = "") {
  return shown(project_findings(check_patches, with_entry_point({{"p/__init__.py", "def register():\n  import p.patch\n" + more}, {"p/patch.py", patch}}), target));
}

const Files kTarget = {{"vllm/__init__.py", ""},
                       {"vllm/utils/__init__.py", ""},
                       {"vllm/utils/nccl.py", "def find_library(): pass\ndef load(): return find_library()\ndef again(): return find_library()\n"},
                       {"vllm/worker.py", "class Worker:\n  def sleep(self): pass\n  def run(self):\n    self.sleep()\n"}};

TEST(PatchTargetMissing, TheNameMoved) {
  EXPECT_THAT(check("import vllm.utils\ndef mine(): pass\nvllm.utils.find_library = mine\n", kTarget),
              ElementsAre("warning patch-target-missing p/patch.py:3 vllm.utils.find_library"));
  // What uses it now is replaced as well.
  EXPECT_THAT(check("import vllm.utils\nimport vllm.utils.nccl\ndef mine(): pass\nvllm.utils.find_library = mine\nvllm.utils.nccl.load = mine\nvllm.utils.nccl.again = mine\n", kTarget),
              ElementsAre("note patch-target-missing p/patch.py:4 vllm.utils.find_library"));
}

TEST(PatchTargetMissing, AMethodOnTheModuleInsteadOfItsClass) {
  EXPECT_THAT(check("from vllm import worker\ndef sleep(self): pass\nworker.sleep = sleep\n", kTarget),
              ElementsAre("error patch-target-missing p/patch.py:3 vllm.worker.sleep"));
  EXPECT_THAT(check("from vllm.worker import Worker\ndef sleep(self): pass\nWorker.sleep = sleep\n", kTarget), IsEmpty());
}

TEST(PatchTargetMissing, ANameThatThePluginReadsIsInjectedOnPurpose) {
  EXPECT_THAT(check("import vllm.utils\nvllm.utils.find_library = len\nprint(vllm.utils.find_library)\n", kTarget), IsEmpty());
  EXPECT_THAT(check("import vllm.utils\nvllm.utils.find_library = len\n", kTarget, "def later():\n  from vllm.utils import find_library\n"), IsEmpty());
}

TEST(PatchTargetMissing, ANameThatTheTargetReadsIsThere) {
  Files target = kTarget;
  target["vllm/user.py"] = "from vllm import utils\ndef f(): return utils.find_library()\n";
  EXPECT_THAT(check("import vllm.utils\nvllm.utils.find_library = len\n", target), IsEmpty());
}

TEST(PatchNotApplied, NobodyReadsWhatIsInjected) {
  std::string patch = "from vllm.worker import Worker\nclass Mine(Worker):\n  @property\n  def quick(self): return 1\nWorker.quick = Mine.quick\n";
  EXPECT_THAT(check(patch, kTarget), ElementsAre("warning patch-not-applied p/patch.py:5 vllm.worker.Worker.quick"));
  EXPECT_THAT(check(patch, kTarget, "def use(w):\n  return w.quick\n"), IsEmpty());
}

TEST(PatchNotApplied, FlagsAndClassesUnderTheirOwnNameAreMeant) {
  EXPECT_THAT(check("import vllm.worker\nvllm.worker._patched_by_p = True\n", kTarget), IsEmpty());
  EXPECT_THAT(check("import vllm.worker\nclass Extra: pass\nvllm.worker.Extra = Extra\n", kTarget), IsEmpty());
}

TEST(PatchNotApplied, AFunctionAmongPatchesThatIsNeverAssigned) {
  Files target = {{"vllm/__init__.py", ""}, {"vllm/m.py", "def f(): pass\ndef g(): pass\n"}};
  EXPECT_THAT(check("from vllm import m\ndef f(): pass\ndef g(): pass\nm.f = f\n", target), ElementsAre("warning patch-not-applied p/patch.py:3 vllm.m.g"));
  EXPECT_THAT(check("from vllm import m\ndef f(): pass\ndef g(): pass\nm.f = f\nm.g = g\n", target), IsEmpty());
  EXPECT_THAT(check("from vllm import m\ndef f(): return g()\ndef g(): pass\nm.f = f\n", target), IsEmpty());
}

TEST(RegistryShape, AListInPlaceOfAMapping) {
  Files target = {{"vllm/__init__.py", ""}, {"vllm/k.py", "TABLE: dict[int, list[type]] = {1: []}\nORDER = [1]\n"}};
  EXPECT_THAT(check("import vllm.k\nvllm.k.TABLE = [int]\n", target), ElementsAre("error registry-shape p/patch.py:2 vllm.k.TABLE"));
  EXPECT_THAT(check("import vllm.k\nvllm.k.TABLE = {1: [int]}\nvllm.k.ORDER = (2, 1)\n", target), IsEmpty());
}

}  // namespace
}  // namespace assay
