#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Files target(const std::string& base, const std::string& caller = "") {
  return {{"vllm/__init__.py", ""}, {"vllm/base.py", base}, {"vllm/user.py", "from vllm.base import Base\n" + caller}};
}

Files plugin(const std::string& text) { return {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import Base\n" + text}}; }

std::vector<std::string> check(const std::string& override_, const std::string& base, const std::string& caller) {
  return shown(check_overrides, plugin("class Mine(Base):\n" + override_), target("class Base:\n" + base, caller));
}

constexpr const char* kHook = "  def hook(self, a, b=None):\n    pass\n";
constexpr const char* kPassesB = "def use(x: Base):\n  x.hook(1, b=2)\n";
const std::string kFault = "error override-signature p/a.py:3 vllm.base.Base.hook";

TEST(OverrideSignature, ACallPassesWhatTheOverrideLacks) {
  EXPECT_THAT(check("  def hook(self, a):\n    pass\n", kHook, kPassesB), ElementsAre(kFault));
}

TEST(OverrideSignature, BothSidesAndTheCallAreShown) {
  auto found = findings_of(check_overrides, plugin("class Mine(Base):\n  def hook(self, a): pass\n"),
                           target("class Base:\n" + std::string(kHook), kPassesB));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("unexpected keyword argument 'b'; the base takes 'b'"));
  EXPECT_EQ(found[0].expected, "vllm.base.Base.hook(self, a, b=None)");
  EXPECT_EQ(found[0].observed, "hook(self, a)");
  ASSERT_EQ(found[0].related.size(), 2u);
  EXPECT_EQ(found[0].related[0].location.file, "vllm/base.py");
  EXPECT_EQ(found[0].related[1].location.file, "vllm/user.py");
}

TEST(OverrideSignature, TakingMoreIsRight) {
  EXPECT_THAT(check("  def hook(self, a, b=None, c=0):\n    pass\n", kHook, kPassesB), IsEmpty());
  EXPECT_THAT(check("  def hook(self, *args, **kwargs):\n    pass\n", kHook, kPassesB), IsEmpty());
  EXPECT_THAT(check("  def hook(self, a, **kwargs):\n    pass\n", kHook, kPassesB), IsEmpty());
}

TEST(OverrideSignature, ARenamedParameterMattersOnlyByKeyword) {
  std::string by_position = "def use(x: Base):\n  x.hook(1, 2)\n";
  EXPECT_THAT(check("  def hook(self, _a, b=None):\n    pass\n", kHook, by_position), IsEmpty());
  EXPECT_THAT(check("  def hook(self, _a, b=None):\n    pass\n", kHook, "def use(x: Base):\n  x.hook(a=1)\n"), ElementsAre(kFault));
}

TEST(OverrideSignature, AnOptionalParameterThatNobodyPassesIsANote) {
  EXPECT_THAT(check("  def hook(self, a):\n    pass\n", kHook, "def use(x: Base):\n  x.hook(1)\n"),
              ElementsAre("note override-signature p/a.py:3 vllm.base.Base.hook"));
}

TEST(OverrideSignature, CallsOfOtherObjectsDoNotCount) {
  std::string other = "class Other:\n  def hook(self, a, b=None): pass\ndef use(x: Other):\n  x.hook(1, b=2)\n";
  EXPECT_THAT(check("  def hook(self, a):\n    pass\n", kHook, other), ElementsAre("note override-signature p/a.py:3 vllm.base.Base.hook"));
}

TEST(OverrideSignature, AnUnknownReceiverCountsWhereNobodyElseTakesTheCall) {
  std::string unknown = "def use(x):\n  x.hook(1, b=2)\n";
  EXPECT_THAT(check("  def hook(self, a):\n    pass\n", kHook, unknown), ElementsAre(kFault));
  std::string also = "class Other:\n  def hook(self, a, b=None): pass\n" + unknown;
  EXPECT_THAT(check("  def hook(self, a):\n    pass\n", kHook, also), ElementsAre("note override-signature p/a.py:3 vllm.base.Base.hook"));
}

TEST(OverrideSignature, ACallerThatTheClassOverridesTooDoesNotReachIt) {
  std::string base = "  def hook(self, a, b=None): pass\n  def run(self):\n    self.hook(1, b=2)\n";
  EXPECT_THAT(check("  def hook(self, a): pass\n  def run(self):\n    self.hook(1)\n", base, ""),
              ElementsAre("note override-signature p/a.py:3 vllm.base.Base.hook"));
  EXPECT_THAT(check("  def hook(self, a): pass\n", base, ""), ElementsAre(kFault));
}

TEST(OverrideSignature, AnExactObjectOfTheBaseIsNoneOfOurs) {
  EXPECT_THAT(check("  def hook(self, a): pass\n", kHook, "def use():\n  x = Base()\n  x.hook(1, b=2)\n"),
              ElementsAre("note override-signature p/a.py:3 vllm.base.Base.hook"));
}

TEST(OverrideSignature, ABaseThatTakesAnythingPromisesNothing) {
  EXPECT_THAT(check("  def hook(self, a, c): pass\n", "  def hook(self, a, *args, **kwargs): pass\n", "def use(x: Base):\n  x.hook(1)\n"), IsEmpty());
}

TEST(OverrideSignature, AConstantIsNotCallable) {
  EXPECT_THAT(check("  hook = True\n", "  def hook(self): pass\n", "def use(x: Base):\n  if x.hook(): pass\n"), ElementsAre(kFault));
  EXPECT_THAT(check("  hook = make()\n", "  def hook(self): pass\n", "def use(x: Base):\n  x.hook()\n"), IsEmpty());
}

TEST(OverrideSignature, AnInstanceMethodInThePlaceOfAClassMethod) {
  std::string base = "  @classmethod\n  def hook(cls, a): pass\n";
  EXPECT_THAT(check("  def hook(self, a): pass\n", base, "def use(x: type[Base]):\n  x.hook(1)\n"), ElementsAre(kFault));
  EXPECT_THAT(check("  def hook(self, a): pass\n", base, "def use(x: Base):\n  x.hook(1)\n"), IsEmpty());
}

TEST(OverrideSignature, UnknownDecoratorsAndGuardsStaySilent) {
  EXPECT_THAT(check("  @wrapped\n  def hook(self, a): pass\n", kHook, kPassesB), IsEmpty());
  std::string guarded = "def use(x: Base):\n  try:\n    x.hook(1, b=2)\n  except TypeError:\n    x.hook(1)\n";
  EXPECT_THAT(check("  def hook(self, a): pass\n", kHook, guarded), ElementsAre("note override-signature p/a.py:3 vllm.base.Base.hook"));
}

TEST(OverrideSignature, BothDefinitionsOfAConditionMayBeMeant) {
  EXPECT_THAT(check("  if X:\n    def hook(self, a): pass\n  else:\n    def hook(self, a, b=None): pass\n", kHook, kPassesB), IsEmpty());
}

}  // namespace
}  // namespace assay
