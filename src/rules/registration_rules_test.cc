#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/project_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Files kTarget = {
    {"vllm/__init__.py", ""},
    {"vllm/model_executor/__init__.py", ""},
    {"vllm/model_executor/layers/__init__.py", ""},
    {"vllm/model_executor/layers/quantization/__init__.py", "def register_quantization_config(quantization):\n  def w(cls): return cls\n  return w\n"},
    {"vllm/model_executor/custom_op.py",
     "class CustomOp:\n  @classmethod\n  def register_oot(cls, _decorated_op_cls=None, name=None):\n    def w(c): return c\n    return w\n"},
    {"vllm/ops.py",
     "from vllm.model_executor.custom_op import CustomOp\nclass Silu(CustomOp):\n  def forward_native(self): pass\n  def forward_cuda(self): pass\n"
     "class Fused(CustomOp):\n  def forward_cuda(self): pass\n  forward_native = forward_cuda\n"}};

std::vector<std::string> check(Files plugin) {
  plugin.try_emplace("p/__init__.py", "def register():\n  import p.start\n");
  plugin.try_emplace("p/start.py", "import p.ops\n");
  plugin.try_emplace("p/ops.py", "");
  return shown(project_findings(check_registrations, with_entry_point(std::move(plugin)), kTarget));
}

const std::string kQuant =
    "from vllm.model_executor.layers.quantization import register_quantization_config\n@register_quantization_config('mine')\nclass Mine: pass\n";
const std::string kOps = "from vllm.ops import Silu, Fused\n";

TEST(RegistrationUnreached, NothingImportsTheFile) {
  EXPECT_THAT(check({{"p/quant.py", kQuant}}), ElementsAre("warning registration-unreached p/quant.py:2 mine"));
  EXPECT_THAT(check({{"p/quant.py", kQuant}, {"p/start.py", "import p.quant\n"}}), IsEmpty());
}

TEST(RegistrationUnreached, ImportedOnlyInsideAMethod) {
  EXPECT_THAT(check({{"p/quant.py", kQuant}, {"p/start.py", "class Other:\n  def get(self):\n    import p.quant\n"}}),
              ElementsAre("warning registration-unreached p/quant.py:2 mine"));
  EXPECT_THAT(check({{"p/quant.py", kQuant}, {"p/start.py", "def register_quant():\n  import p.quant\n"}}), IsEmpty());
}

TEST(RegistrationUnreached, AnImportThatIsCommentedOutIsANote) {
  EXPECT_THAT(check({{"p/quant.py", kQuant}, {"p/start.py", "# from p import quant\n"}}), ElementsAre("note registration-unreached p/quant.py:2 mine"));
}

TEST(RegistrationUnreached, AnOpThatNobodyRegistersOrUses) {
  EXPECT_THAT(check({{"p/ops.py", kOps + "class Mine(Silu):\n  def forward_oot(self): pass\n"}}), ElementsAre("warning registration-unreached p/ops.py:2 p.ops.Mine"));
  EXPECT_THAT(check({{"p/ops.py", kOps + "@Silu.register_oot\nclass Mine(Silu):\n  def forward_oot(self): pass\n"}}), IsEmpty());
  EXPECT_THAT(check({{"p/ops.py", kOps + "class Mine(Silu):\n  def forward_oot(self): pass\ntable = [Mine]\n"}}), IsEmpty());
}

TEST(KeyByClassName, TheNameOfTheOpIsNoKey) {
  EXPECT_THAT(check({{"p/ops.py", kOps + "@Silu.register_oot(name='silu')\nclass Mine(Silu):\n  def forward_oot(self): pass\n"}}),
              ElementsAre("error key-by-class-name p/ops.py:2 vllm.ops.Silu"));
  EXPECT_THAT(check({{"p/ops.py", kOps + "@Silu.register_oot(name='Silu')\nclass Mine(Silu):\n  def forward_oot(self): pass\n"}}), IsEmpty());
}

TEST(DispatchBypass, ADisabledOpRunsForwardCuda) {
  EXPECT_THAT(check({{"p/ops.py", kOps + "@Fused.register_oot\nclass Mine(Fused):\n  def forward_oot(self): pass\n"}}),
              ElementsAre("warning dispatch-bypass p/ops.py:4 p.ops.Mine.forward_oot"));
  EXPECT_THAT(check({{"p/ops.py", kOps + "@Fused.register_oot\nclass Mine(Fused):\n  def forward_oot(self): pass\n  def forward_native(self): pass\n"}}), IsEmpty());
}

}  // namespace
}  // namespace assay
