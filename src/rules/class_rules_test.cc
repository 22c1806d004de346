#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/rule_fixture.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// --- missing-abstract

const Files kAbstract = {{"vllm/__init__.py", ""},
                         {"vllm/base.py",
                          "from abc import ABC, abstractmethod\n"
                          "class Base(ABC):\n"
                          "  @abstractmethod\n"
                          "  def save(self): ...\n"
                          "  @abstractmethod\n"
                          "  def wait(self): ...\n"
                          "class Plain:\n"
                          "  @abstractmethod\n"
                          "  def save(self): ...\n"
                          "class Backend:\n"
                          "  def get_impl_cls(self) -> type[Base]: ...\n"}};

std::vector<std::string> abstract(const std::string& text) {
  return shown(check_abstract, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import Backend, Base, Plain\n" + text}}, kAbstract);
}

TEST(MissingAbstract, CreatedWithoutAMethod) {
  EXPECT_THAT(abstract("class A(Base):\n  def save(self): pass\nx = A()\n"), ElementsAre("error missing-abstract p/a.py:2 vllm.base.Base.wait"));
  EXPECT_THAT(abstract("class A(Base):\n  def save(self): pass\n  def wait(self): pass\nx = A()\n"), IsEmpty());
}

TEST(MissingAbstract, HandedToTheTarget) {
  EXPECT_THAT(abstract("class A(Base):\n  def save(self): pass\nclass B(Backend):\n  def get_impl_cls(self):\n    return A\n"),
              ElementsAre("error missing-abstract p/a.py:2 vllm.base.Base.wait"));
}

TEST(MissingAbstract, AClassOfStaticMethodsNeedsNoObjects) {
  Files target = {{"vllm/__init__.py", ""},
                  {"vllm/base.py", "from abc import ABC, abstractmethod\nclass Base(ABC):\n  @staticmethod\n  @abstractmethod\n  def name(): ...\n"
                                   "class Layer:\n  def get_backend(self) -> type[Base]: ...\n"}};
  EXPECT_THAT(shown(check_abstract,
                    {{"p/__init__.py", ""},
                     {"p/a.py", "from vllm.base import Base, Layer\nclass A(Base): pass\nclass L(Layer):\n  def get_backend(self): return A\n"}},
                    target),
              IsEmpty());
}

TEST(MissingAbstract, OnlyRegistered) {
  EXPECT_THAT(abstract("def register(x): return lambda c: c\n@register('a')\nclass A(Base):\n  def save(self): pass\n"),
              ElementsAre("warning missing-abstract p/a.py:4 vllm.base.Base.wait"));
}

TEST(MissingAbstract, ABaseOfThePluginsOwnOrNoAbcStaysSilent) {
  EXPECT_THAT(abstract("class A(Base):\n  def save(self): pass\n"), IsEmpty());
  EXPECT_THAT(abstract("class A(Plain): pass\nx = A()\n"), IsEmpty());
  EXPECT_THAT(abstract("class A(Base, Unknown):\n  pass\nx = A()\n"), IsEmpty());
  EXPECT_THAT(abstract("class A(Base):\n  def save(self): pass\nclass B(A):\n  def wait(self): pass\nx = B()\n"), IsEmpty());
}

// --- unimplemented-hook

Files hooks(const std::string& caller) {
  return {{"vllm/__init__.py", ""},
          {"vllm/base.py",
           "class Base:\n  def shape(self):\n    raise NotImplementedError\n"
           "class Maker:\n  def get_cls(self) -> type[Base]: ...\n"},
          {"vllm/one.py", "from vllm.base import Base\nclass One(Base):\n  def shape(self): return 1\n"},
          {"vllm/two.py", "from vllm.base import Base\nclass Two(Base):\n  def shape(self): return 2\n"},
          {"vllm/user.py", "from vllm.base import Base\n" + caller}};
}

std::vector<std::string> unimplemented(const std::string& text, const std::string& caller) {
  return shown(check_unimplemented, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import Base\n" + text}}, hooks(caller));
}

TEST(UnimplementedHook, CalledWithoutACondition) {
  std::string call = "def use(x: Base):\n  return x.shape()\n";
  EXPECT_THAT(unimplemented("class A(Base): pass\na = A()\n", call), ElementsAre("warning unimplemented-hook p/a.py:2 vllm.base.Base.shape"));
  EXPECT_THAT(unimplemented("class A(Base):\n  def shape(self): return 3\na = A()\n", call), IsEmpty());
  EXPECT_THAT(unimplemented("class A(Base): pass\na = A()\n", "def use(x: Base):\n  if x.has_shape:\n    return x.shape()\n"), IsEmpty());
  EXPECT_THAT(unimplemented("class A(Base): pass\n", call), IsEmpty());
}

// --- removed-hook

std::vector<std::string> removed(const std::string& text, const std::string& more = "") {
  return shown(check_hooks, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import Base\n" + text}},
               {{"vllm/__init__.py", ""},
                {"vllm/base.py", "class Base:\n  def build(self): pass\n  def reset(self): pass\n" + more}});
}

TEST(RemovedHook, NobodyKnowsTheName) {
  std::string text = "class A(Base):\n  def build(self): pass\n  def reset(self): pass\n  def reorder(self, batch): pass\n";
  EXPECT_THAT(removed(text), ElementsAre("warning removed-hook p/a.py:5 vllm.base.Base.reorder"));
  EXPECT_THAT(removed(text + "A().reorder(1)\n"), IsEmpty());
  EXPECT_THAT(removed(text, "def use(x): getattr(x, 'reorder')\n"), IsEmpty());
  EXPECT_THAT(removed("class A(Base):\n  def build(self): pass\n  def reorder(self, batch): pass\n"), IsEmpty());
  EXPECT_THAT(removed("class A(Base, Unknown):\n  def build(self): pass\n  def reset(self): pass\n  def reorder(self, batch): pass\n"), IsEmpty());
}

// --- argument-shifted

std::vector<std::string> shifted(const std::string& text) {
  return shown(check_shifted, {{"p/__init__.py", ""}, {"p/a.py", "from vllm.base import attend\n" + text}},
               {{"vllm/__init__.py", ""}, {"vllm/base.py", "def attend(q, k, mask, scale, window, out=None, more=None): pass\n"}});
}

TEST(ArgumentShifted, ThreeInARow) {
  EXPECT_THAT(shifted("def f(self, q, k, scale, window, out):\n  attend(q, k, scale, window, out)\n"),
              ElementsAre("error argument-shifted p/a.py:3 vllm.base.attend"));
  EXPECT_THAT(shifted("def f(q, k, mask, scale, window):\n  attend(q, k, mask, scale, window)\n"), IsEmpty());
  EXPECT_THAT(shifted("def f(q, k, mask, scale, window):\n  attend(k, q, mask, scale, window)\n"), IsEmpty());
}

}  // namespace
}  // namespace assay
