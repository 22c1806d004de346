#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Files kTarget = {
    {"vllm/__init__.py", ""},
    {"vllm/ops.py",
     "import triton\n"
     "def f(a, b=None): pass\n"
     "class C:\n"
     "  def m(self, a): pass\n"
     "  @staticmethod\n"
     "  def s(a, b=0): pass\n"
     "  def run(self):\n"
     "    self.m(1)\n"
     "    Process(target=C.s, kwargs={'a': 1, 'b': 2})\n"
     "@triton.jit\n"
     "def kernel(x, y, N): pass\n"
     "def launch(x):\n"
     "  kernel[(1,)](x, y=x, N=4)\n"},
    {"vllm/user.py", "from vllm.ops import f\ndef use():\n  f(1, b=2)\n"}};

std::vector<std::string> check(const std::string& text) {
  return shown(check_patched_signatures, {{"p/__init__.py", ""}, {"p/a.py", "import triton\nimport vllm.ops\nfrom vllm.ops import C\n" + text}},
               kTarget);
}

TEST(PatchedSignature, AFunctionOfAModule) {
  EXPECT_THAT(check("def g(a): pass\nvllm.ops.f = g\n"), ElementsAre("error patched-signature p/a.py:4 vllm.ops.f"));
  EXPECT_THAT(check("def g(a): pass\nsetattr(vllm.ops, 'f', g)\n"), ElementsAre("error patched-signature p/a.py:4 vllm.ops.f"));
  EXPECT_THAT(check("def g(a, b=1, c=2): pass\nvllm.ops.f = g\n"), IsEmpty());
  EXPECT_THAT(check("def g(*args, **kwargs): pass\nvllm.ops.f = g\n"), IsEmpty());
  EXPECT_THAT(check("vllm.ops.f = wrap(vllm.ops.f)\n"), IsEmpty());
}

TEST(PatchedSignature, AMethodOfAClass) {
  EXPECT_THAT(check("def g(self, a, extra): pass\nC.m = g\n"), ElementsAre("error patched-signature p/a.py:4 vllm.ops.C.m"));
  EXPECT_THAT(check("class D:\n  def m(self): pass\nC.m = D.m\n"), ElementsAre("error patched-signature p/a.py:5 vllm.ops.C.m"));
  EXPECT_THAT(check("class D:\n  def m(self, a, extra=1): pass\nC.m = D.m\n"), IsEmpty());
}

TEST(PatchedSignature, AProcessIsStartedWithArguments) {
  EXPECT_THAT(check("class D:\n  @staticmethod\n  def s(a): pass\nC.s = D.s\n"), ElementsAre("error patched-signature p/a.py:6 vllm.ops.C.s"));
  EXPECT_THAT(check("class D:\n  @staticmethod\n  def s(a, b=3): pass\nC.s = D.s\n"), IsEmpty());
}

TEST(PatchedSignature, AKernelLaunch) {
  EXPECT_THAT(check("@triton.jit\ndef kernel(x, N): pass\nvllm.ops.kernel = kernel\n"), ElementsAre("error patched-signature p/a.py:5 vllm.ops.kernel"));
  EXPECT_THAT(check("@triton.jit\ndef kernel(x, y, N, M=1): pass\nvllm.ops.kernel = kernel\n"), IsEmpty());
}

}  // namespace
}  // namespace assay
