#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Files kTarget = {{"vllm/__init__.py", ""},
                       {"vllm/base.py", "class Config: pass\nclass Base:\n  def __init__(self, a, b=None): pass\n  def run(self, a): pass\n"}};

std::vector<std::string> check(const std::string& text) {
  return shown(check_super, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import Base, Config\n" + text}}, kTarget);
}

TEST(SuperCallMismatch, AClassOutsideTheOrder) {
  EXPECT_THAT(check("class A(Base):\n  def __init__(self):\n    super(Config, self).__init__(1)\n"),
              ElementsAre("error super-call-mismatch p/a.py:4 vllm.base.Config"));
  EXPECT_THAT(check("class A(Base):\n  def __init__(self):\n    super(A, self).__init__(1)\n"), IsEmpty());
  EXPECT_THAT(check("class A(Base, X):\n  def __init__(self):\n    super(Config, self).__init__(1)\n"), IsEmpty());
}

TEST(SuperCallMismatch, ArgumentsThatTheNextClassDoesNotTake) {
  EXPECT_THAT(check("class A(Base):\n  def __init__(self):\n    super().__init__(1, c=2)\n"),
              ElementsAre("error super-call-mismatch p/a.py:4 vllm.base.Base.__init__"));
  EXPECT_THAT(check("class A(Base):\n  def run(self, a):\n    super().run()\n"),
              ElementsAre("error super-call-mismatch p/a.py:4 vllm.base.Base.run"));
  EXPECT_THAT(check("class A(Base):\n  def __init__(self, *args, **kwargs):\n    super().__init__(*args, **kwargs)\n"), IsEmpty());
  EXPECT_THAT(check("class A(Base):\n  def __init__(self):\n    super().__init__(1, b=2)\n"), IsEmpty());
}

TEST(SuperCallMismatch, AMethodThatNoBaseHas) {
  EXPECT_THAT(check("class A(Base):\n  def gone(self):\n    super().gone()\n"),
              ElementsAre("error super-call-mismatch p/a.py:4 vllm.base.Base.gone"));
  EXPECT_THAT(check("class A(Base):\n  def gone(self):\n    if hasattr(super(), 'gone'):\n      super().gone()\n"), IsEmpty());
}

TEST(SuperCallMismatch, AMixinCallsWhatItsUsersInherit) {
  EXPECT_THAT(check("class Mixin:\n  def run(self):\n    super().run(1)\nclass A(Mixin, Base): pass\n"), IsEmpty());
}

TEST(SuperInStaticMethod, Found) {
  EXPECT_THAT(check("class A(Base):\n  @staticmethod\n  def f(x):\n    super().run(x)\n"),
              ElementsAre("error super-in-staticmethod p/a.py:5 p.a.A.f"));
  EXPECT_THAT(check("class A(Base):\n  @classmethod\n  def f(cls, x):\n    super().run(x, x)\n"), IsEmpty());
}

TEST(SuperInStaticMethod, OutsideAClassBody) {
  EXPECT_THAT(check("def patched(self):\n  super().run(1)\nBase.run = patched\n"), ElementsAre("error super-in-staticmethod p/a.py:3 p.a.patched"));
  EXPECT_THAT(check("def patched(self):\n  super(Base, self).run(1)\n"), IsEmpty());
  EXPECT_THAT(check("class A(Base):\n  def f(self):\n    def g(x):\n      return super(A, self).run(x)\n    return g\n"), IsEmpty());
}

}  // namespace
}  // namespace assay
