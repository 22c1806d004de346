#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Files kTarget = {
    {"vllm/__init__.py", ""},
    {"vllm/base.py",
     "def two(): return 1, 2\n"
     "def some(*specs: tuple[int, str]): pass\n"
     "def one(spec: tuple[int, ...]): pass\n"
     "class Base:\n"
     "  def pair(self): return 1, 2\n"
     "  def name(self) -> str: return 'x'\n"
     "  async def go(self): return 1\n"
     "  def run(self):\n"
     "    a, b = self.pair()\n"
     "    self.name().lower()\n"
     "  async def start(self):\n"
     "    await self.go()\n"}};

std::vector<std::string> check(const std::string& text) {
  return shown(check_returns, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import Base, one, some, two\n" + text}}, kTarget);
}

TEST(ReturnArity, UnpackedIntoAnotherNumber) {
  EXPECT_THAT(check("a, b, c = two()\n"), ElementsAre("error return-arity p/a.py:2 vllm.base.two"));
  EXPECT_THAT(check("a, b = two()\n"), IsEmpty());
  EXPECT_THAT(check("a, *b = two()\n"), IsEmpty());
  EXPECT_THAT(check("a, b, c, *d = two()\n"), ElementsAre("error return-arity p/a.py:2 vllm.base.two"));
  EXPECT_THAT(check("def f(x):\n  if x: return 1, 2\n  return 1, 2, 3\na, b, c = f(0)\n"), IsEmpty());
  EXPECT_THAT(check("def f(x):\n  return two()\na, b, c = f(0)\n"), ElementsAre("error return-arity p/a.py:4 p.a.f"));
}

TEST(ReturnArity, ATupleArgument) {
  EXPECT_THAT(check("def spec(): return ((1, 'a'),)\ndef f():\n  x = spec()\n  some((1, 'b'), x)\n"),
              ElementsAre("error return-arity p/a.py:5 vllm.base.some"));
  EXPECT_THAT(check("def spec(): return (1, 'a')\ndef f():\n  x = spec()\n  some((1, 'b'), x)\n"), IsEmpty());
  EXPECT_THAT(check("one((1, 2, 3))\n"), IsEmpty());
}

TEST(OverrideReturn, AnotherNumberOfValues) {
  EXPECT_THAT(check("class A(Base):\n  def pair(self): return 1, 2, 3\n"), ElementsAre("error override-return p/a.py:3 vllm.base.Base.pair"));
  EXPECT_THAT(check("class A(Base):\n  def pair(self): return 3, 4\n"), IsEmpty());
  EXPECT_THAT(check("class A(Base):\n  def pair(self): return 1, 2, 3\n  def run(self): pass\n"), IsEmpty());
}

TEST(OverrideReturn, NothingWhereTheCallerUsesIt) {
  EXPECT_THAT(check("class A(Base):\n  def name(self):\n    'y'\n    x = 1\n"), ElementsAre("error override-return p/a.py:3 vllm.base.Base.name"));
  EXPECT_THAT(check("class A(Base):\n  def name(self):\n    raise NotImplementedError\n"), IsEmpty());
  EXPECT_THAT(check("class A(Base):\n  def name(self):\n    return 'z'\n"), IsEmpty());
}

TEST(OverrideReturn, NoCoroutineWhereTheCallerAwaits) {
  EXPECT_THAT(check("class A(Base):\n  def go(self):\n    self.x = 1\n"), ElementsAre("error override-return p/a.py:3 vllm.base.Base.go"));
  EXPECT_THAT(check("class A(Base):\n  def go(self):\n    return other()\n"), IsEmpty());
  EXPECT_THAT(check("class A(Base):\n  async def pair(self):\n    return 1, 2\n"), ElementsAre("error override-return p/a.py:3 vllm.base.Base.pair"));
}

TEST(OverrideReturn, AReplacedFunction) {
  EXPECT_THAT(check("import vllm.base\ndef pair(self): return 1\ndef triple(self): return 1, 2, 3\nBase.pair = triple\n"),
              ElementsAre("error override-return p/a.py:4 vllm.base.Base.pair"));
}

TEST(ImplicitNoneReturn, AHandlerThatEndsWithoutAValue) {
  std::string f = "def load():\n  try:\n    return open('x'), 1\n  except OSError:\n    print('no')\n";
  EXPECT_THAT(check(f + "a, b = load()\n"), ElementsAre("warning implicit-none-return p/a.py:5 p.a.load"));
  EXPECT_THAT(check(f + "a = load()\n"), IsEmpty());
  EXPECT_THAT(check("def load():\n  try:\n    return open('x'), 1\n  except OSError:\n    raise\na, b = load()\n"), IsEmpty());
}

}  // namespace
}  // namespace assay
