#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Files kTarget = {{"vllm/__init__.py", ""},
                       {"vllm/base.py",
                        "from dataclasses import dataclass\n"
                        "@dataclass\n"
                        "class Config:\n"
                        "  size: int = 1\n"
                        "class Base:\n"
                        "  config: Config\n"
                        "  def __init__(self):\n"
                        "    self.known = 1\n"
                        "class Derived(Base):\n"
                        "  def extra(self): pass\n"
                        "class Other:\n"
                        "  def __init__(self, base: Base):\n"
                        "    self.outside = 1\n"
                        "    base.given = 2\n"}};

std::vector<std::string> state(const std::string& body) {
  return shown(check_state, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import *\n" + body}}, kTarget);
}

TEST(MissingAttribute, OnSelfAndOnTypedAttributes) {
  EXPECT_THAT(state("class A(Base):\n  def f(self): return self.gone\n"), ElementsAre("error missing-attribute p/a.py:3 p.a.A.gone"));
  EXPECT_THAT(state("class A(Base):\n  def f(self): return self.config.gone\n"), ElementsAre("error missing-attribute p/a.py:3 vllm.base.Config.gone"));
  EXPECT_THAT(state("class A(Base):\n  def f(self): return self.known, self.config.size\n"), IsEmpty());
}

TEST(MissingAttribute, OfParametersAndResults) {
  EXPECT_THAT(state("def f(c: Config | None): return c.gone\n"), ElementsAre("error missing-attribute p/a.py:2 vllm.base.Config.gone"));
  EXPECT_THAT(state("def f():\n  c = Config()\n  return c.gone\n"), ElementsAre("error missing-attribute p/a.py:4 vllm.base.Config.gone"));
  EXPECT_THAT(state("def f(c: Config | Unknown): return c.gone\n"), IsEmpty());
}

TEST(MissingAttribute, SubclassesMayHaveIt) {
  EXPECT_THAT(state("def f(b: Base): return b.extra()\n"), IsEmpty());
  EXPECT_THAT(state("def f():\n  b = Base()\n  return b.extra()\n"), ElementsAre("error missing-attribute p/a.py:4 vllm.base.Base.extra"));
}

TEST(MissingAttribute, SetFromOutside) {
  EXPECT_THAT(state("def f(b: Base): return b.given\n"), IsEmpty());
  EXPECT_THAT(state("def f(b: Base): return b.late\ndef g(x): setattr(x, 'late', 1)\n"), IsEmpty());
  EXPECT_THAT(state("def f(b: Base): return b.late\nBase.late = 1\n"), IsEmpty());
  // `outside` is an attribute of another class.
  EXPECT_THAT(state("def f(b: Base): return b.outside\n"), ElementsAre("error missing-attribute p/a.py:2 vllm.base.Base.outside"));
}

TEST(MissingAttribute, AskedBefore) {
  EXPECT_THAT(state("def f(c: Config):\n  if hasattr(c, 'gone'): return c.gone\n"), IsEmpty());
  EXPECT_THAT(state("def f(c: Config): return getattr(c, 'gone', 0)\n"), IsEmpty());
  EXPECT_THAT(state("def f(c: Config):\n  try: return c.gone\n  except AttributeError: return 0\n"), IsEmpty());
}

TEST(MissingAttribute, BehindIsinstance) {
  EXPECT_THAT(state("def f(x):\n  assert isinstance(x, Config)\n  return x.gone\n"), ElementsAre("error missing-attribute p/a.py:4 vllm.base.Config.gone"));
  EXPECT_THAT(state("def f(x):\n  assert isinstance(x, Config)\n  x = other(x)\n  return x.gone\n"), IsEmpty());
}

TEST(MissingAttribute, OfAFunctionThatIsInstalled) {
  EXPECT_THAT(state("def f(self): return self.gone\nBase.f = f\n"), ElementsAre("error missing-attribute p/a.py:2 vllm.base.Base.gone"));
  EXPECT_THAT(state("def f(self): return self.known\nBase.f = f\n"), IsEmpty());
}

TEST(MissingAttribute, AWrongAnnotation) {
  EXPECT_THAT(state("def f(c: Config): return c.hidden_size, c.layers\n"), IsEmpty());
}

TEST(ClassIdentity, AFunctionIsNoClass) {
  auto check = [](const std::string& body) {
    return shown(check_identity, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.moe import *\n" + body}},
                 {{"vllm/__init__.py", ""}, {"vllm/moe.py", "class Real: pass\ndef Made() -> Real: return Real()\nAlias = Real\n"}});
  };
  EXPECT_THAT(check("def f(x): return isinstance(x, Made)\n"), ElementsAre("error class-identity p/a.py:2 vllm.moe.Made"));
  EXPECT_THAT(check("def f(x): return isinstance(x, (Real, Made))\n"), ElementsAre("error class-identity p/a.py:2 vllm.moe.Made"));
  EXPECT_THAT(check("def f(x): return isinstance(x, (Real, Alias))\n"), IsEmpty());
}

TEST(ConstantCondition, ALoadedValueIsNeverNone) {
  auto check = [](const std::string& body) {
    return shown(check_identity, {{"p/__init__.py", ""}, {"p/a.py", "import triton.language as tl\ndef k(p):\n" + body}}, {{"vllm/__init__.py", ""}});
  };
  EXPECT_THAT(check("  v = tl.load(p)\n  if v is None: return\n"), ElementsAre("warning constant-condition p/a.py:4 v"));
  EXPECT_THAT(check("  v = tl.load(p)\n  if not v: return\n"), IsEmpty());
  EXPECT_THAT(check("  v = None\n  v = tl.load(p)\n  if v is None: return\n"), IsEmpty());
}

TEST(GuardNotReused, TheBareReadBehindTheQuestion) {
  auto check = [](const std::string& body) {
    return shown(check_guards, {{"p/__init__.py", ""}, {"p/a.py", body}}, {{"vllm/__init__.py", ""}});
  };
  EXPECT_THAT(check("def f(m):\n  d = m.w.dtype if hasattr(m, 'w') else m.d\n  return g(m.w)\n"), ElementsAre("warning guard-not-reused p/a.py:3 m.w"));
  EXPECT_THAT(check("def f(m):\n  d = m.w.dtype if hasattr(m, 'w') else m.d\n  return g(d)\n"), IsEmpty());
  EXPECT_THAT(check("def f(m):\n  if not hasattr(m, 'w'): return\n  return m.w\n"), IsEmpty());
  EXPECT_THAT(check("def f(m):\n  if hasattr(m, 'w'): pass\n  else: m.w = 1\n  return m.w\n"), IsEmpty());
}

TEST(ArgumentType, AListForATensor) {
  auto check = [](const std::string& body) {
    return shown(check_types, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.ops import *\n" + body}},
                 {{"vllm/__init__.py", ""},
                  {"vllm/ops.py",
                   "import torch\n"
                   "def many() -> list[torch.Tensor]: return make()\n"
                   "def use(x: torch.Tensor): return x.dtype\n"
                   "def either(x: torch.Tensor | list): return x.dtype\n"
                   "def store(x: torch.Tensor): return [x]\n"}});
  };
  EXPECT_THAT(check("use(many()[:3])\n"), ElementsAre("error argument-type-mismatch p/a.py:2 vllm.ops.use.x"));
  EXPECT_THAT(check("use(many()[0])\neither(many())\nstore(many())\n"), IsEmpty());
}

const Files kStateful = {{"vllm/__init__.py", ""},
                         {"vllm/layer.py",
                          "class Plain: pass\n"
                          "class Layer(Plain):\n"
                          "  def __init__(self):\n"
                          "    super().__init__()\n"
                          "    self._init_state()\n"
                          "  def _init_state(self):\n"
                          "    self.quantised = False\n"
                          "  def after_loading(self):\n"
                          "    if self.quantised: return 1\n"},
                         {"vllm/loader.py",
                          "from vllm.layer import Layer\n"
                          "def load(model):\n"
                          "  for m in model:\n"
                          "    if isinstance(m, Layer): m.after_loading()\n"}};

TEST(UninitialisedState, ASkippedConstructor) {
  auto check = [](const std::string& body) {
    return shown(check_uninitialised, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.layer import Layer\nclass Mine(Layer):\n  def __init__(self):\n" + body}}, kStateful);
  };
  EXPECT_THAT(check("    super(Layer, self).__init__()\n"), ElementsAre("error uninitialised-state p/a.py:4 p.a.Mine.quantised"));
  EXPECT_THAT(check("    super().__init__()\n"), IsEmpty());
  EXPECT_THAT(check("    super(Layer, self).__init__()\n    self.quantised = True\n"), IsEmpty());
  EXPECT_THAT(check("    super(Layer, self).__init__()\n    self._init_state()\n"), IsEmpty());
  EXPECT_THAT(check("    Layer.__init__(self=self)\n"), IsEmpty());
}

TEST(MissingMember, AReplacedClass) {
  auto check = [](const std::string& body) {
    return shown(check_members, {{"p/__init__.py", ""}, {"p/a.py", "import vllm.wrapper\n" + body + "vllm.wrapper.Library = Mine\n"}},
                 {{"vllm/__init__.py", ""},
                  {"vllm/wrapper.py", "class Library:\n  def reduce(self): pass\n  def abort(self): pass\n  def unused(self): pass\n"},
                  {"vllm/user.py",
                   "from vllm.wrapper import Library\n"
                   "class User:\n"
                   "  def __init__(self): self.library = Library()\n"
                   "  def stop(self): self.library.abort()\n"}});
  };
  EXPECT_THAT(check("class Mine:\n  def reduce(self): pass\n"), ElementsAre("error missing-member p/a.py:2 p.a.Mine.abort"));
  EXPECT_THAT(check("class Mine:\n  def reduce(self): pass\n  def abort(self): pass\n"), IsEmpty());
  EXPECT_THAT(check("class Mine(vllm.wrapper.Library): pass\n"), IsEmpty());
}

}  // namespace
}  // namespace assay
