#include "vllm/patches.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vllm/testing.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const MiniProject::Files kTarget = {
    {"ops.py",
     "def f(): pass\nTABLE = {}\nclass Op:\n    def run(self): pass\n    class Inner:\n        x = 1\n"},
    {"api.py", "from vllm.ops import Op, f\n"},
};

std::vector<std::string> sites(const std::string& text, const MiniProject::Files& more = {}) {
  MiniProject::Files plugin = more;
  plugin["p.py"] = text;
  MiniProject project(plugin, kTarget);
  Patches patches = find_patches(project.semantics(), project.plugin(), project.modules());
  std::vector<std::string> out;
  for (const PatchSite& s : patches.sites) {
    out.push_back(fmt::format("{}:{} {}", s.module->file().substr(5), s.place.line(), s.target));
  }
  for (const ModuleRedirect& r : patches.redirects) {
    out.push_back(fmt::format("{}:{} {} -> {}", r.module->file().substr(5), r.place.line(), r.name, r.to));
  }
  return out;
}

// Declared in one module, written in another: the bindings of the one must not be looked up in the other.
TEST(Patches, AttributeDeclaredElsewhere) {
  std::string far(2000, '\n');
  for (int i = 0; i < 300; ++i) far += "x" + std::to_string(i) + " = [i for i in range(9)]\n";
  MiniProject project({{"p.py", "from vllm.sub import C\nC().table.update({})\n"}},
                      {{"base.py", far + "class B:\n    table: dict\n"},
                       {"sub.py", "from vllm.base import B\nclass C(B):\n    def __init__(self): self.table = {}\n"}});
  const Module& sub = project.module("vllm.sub");
  const Binding& c = sub.scopes().in_scope(kModuleScope, "C")[0];
  Member member = project.semantics().instance_member({&sub, c.node}, "table");
  EXPECT_EQ(member.module, &sub);
  EXPECT_EQ(member.writes.size(), 1u);
  EXPECT_TRUE(member.bindings.empty());
  Place object;
  object.kind = PlaceKind::kInstance;
  object.cls = {&sub, c.node};
  EXPECT_EQ(member_place(project.semantics(), object, "table").dotted, "vllm.sub.C.table");
}

TEST(Patches, PlainAssignments) {
  EXPECT_THAT(sites("import vllm.ops\nimport vllm.ops as o\nfrom vllm.api import Op\n"
                    "def g(): pass\n"
                    "vllm.ops.f = g\n"
                    "o.f = o.h = g\n"
                    "Op.run = g\n"
                    "Op.Inner.x = 2\n"),
              ElementsAre("p.py:5 vllm.ops.f", "p.py:6 vllm.ops.f", "p.py:6 vllm.ops.h",
                          "p.py:7 vllm.ops.Op.run", "p.py:8 vllm.ops.Op.Inner.x"));
}

TEST(Patches, OwnObjectsAndInstancesAreNone) {
  EXPECT_THAT(sites("from vllm.ops import Op\nimport plug.q as q\n"
                    "class Mine(Op):\n"
                    "    def __init__(self, layer: Op):\n"
                    "        self.x = 1\n"
                    "        layer.weight = 2\n"
                    "        op = Op()\n"
                    "        op.y = 3\n"
                    "Mine.z = 1\n"
                    "q.flag = 1\n",
                    {{"q.py", "flag = 0\n"}}),
              IsEmpty());
}

TEST(Patches, OutsideTheProjectAndMissingModules) {
  EXPECT_THAT(
      sites("import torch\nimport vllm.gone as gone\nfrom vllm.ops import missing\n"
            "torch.cuda.empty_cache = lambda: None\n"
            "gone.f = 1\n"
            "missing.f = 1\n"),
      ElementsAre("p.py:4 torch.cuda.empty_cache", "p.py:5 vllm.gone.f", "p.py:6 vllm.ops.missing.f"));
}

TEST(Patches, SetattrWithConstantsAndLoops) {
  EXPECT_THAT(
      sites("import importlib\nimport vllm.ops as o\n"
            "setattr(o, 'f', 1)\n"
            "m = importlib.import_module('vllm.ops')\n"
            "m.f = 2\n"
            "for name in ('a', 'b'):\n"
            "    setattr(o, name, 3)\n"),
      ElementsAre("p.py:3 vllm.ops.f", "p.py:5 vllm.ops.f", "p.py:7 vllm.ops.a", "p.py:7 vllm.ops.b"));
}

// A helper is known by what it does: nothing here is called "patch".
TEST(Patches, HelpersAreSummarised) {
  EXPECT_THAT(sites("from plug.q import swap, install\nimport vllm.ops\n"
                    "@swap('vllm.ops')\n"
                    "def f(): pass\n"
                    "@swap('vllm.ops', 'Op.run')\n"
                    "def anything(self): pass\n"
                    "def g(): pass\n"
                    "g = swap('vllm.ops', 'f')(g)\n"
                    "install(vllm.ops, f=g)\n"
                    "install(vllm.ops.Op, 'run', g)\n",
                    {{"q.py",
                      "import importlib\n"
                      "def swap(path, name=None, *, strict=True):\n"
                      "    if not isinstance(path, str):\n"
                      "        raise TypeError(path)\n"
                      "    def inner(new):\n"
                      "        target = importlib.import_module(path)\n"
                      "        owner, _, last = (name or new.__name__).rpartition('.')\n"
                      "        for part in owner.split('.'):\n"
                      "            if part:\n"
                      "                target = getattr(target, part)\n"
                      "        if strict and not hasattr(target, last):\n"
                      "            raise AttributeError(f'{path}.{last}')\n"
                      "        setattr(target, last, new)\n"
                      "        return new\n"
                      "    return inner\n"
                      "def install(owner, name='f', f=None):\n"
                      "    setattr(owner, name, f)\n"}}),
              ElementsAre("p.py:3 vllm.ops.f", "p.py:5 vllm.ops.Op.run", "p.py:8 vllm.ops.f",
                          "p.py:9 vllm.ops.f", "p.py:10 vllm.ops.Op.run"));
}

// Nothing here ends in a crash, and nothing takes long.
TEST(Patches, HostileCodeIsBounded) {
  std::string chain = "o", sum = "'vllm.ops'", calls = "swap('vllm.ops')";
  for (int i = 0; i < 5000; ++i) {
    chain += ".a";
    sum += " + ''";
    calls += "(f)";
  }
  EXPECT_THAT(sites("import vllm.ops as o\nfrom plug.q import swap, swap2\n"
                    "def f():\n    x = x.y\n    x.attr = 1\n    a = b\n    b = a\n    a.attr = 1\n"
                    "def g(): pass\n" +
                        chain + " = 1\nswap(" + sum + ")(g)\n" + calls + "\nswap2('vllm.ops', g)\n",
                    {{"q.py",
                      "def swap(p):\n    def inner(f):\n        setattr(p, 'x', f)\n        return inner\n   "
                      " return inner\n"
                      "def swap2(p, f):\n    setattr(p, 'x', f)\n    return swap2(p, f)\n"}}),
              testing::SizeIs(testing::Le(3u)));
}

// The call that decides what is set is the one reported, not the one that only leads to it.
TEST(Patches, CallersOfHelpersDoNotCountTwice) {
  EXPECT_THAT(sites("from plug.q import install\nimport vllm.ops\n"
                    "def apply():\n"
                    "    install(vllm.ops, 'f', 1)\n"
                    "apply()\n",
                    {{"q.py", "def install(owner, name, new):\n    setattr(owner, name, new)\n"}}),
              ElementsAre("p.py:4 vllm.ops.f"));
}

TEST(Patches, FunctionsThatSetConfigurationAreNoHelpers) {
  EXPECT_THAT(sites("from vllm.ops import Op\n"
                    "def fill(layer, value):\n"
                    "    layer.weight = value\n"
                    "fill(Op(), Op)\n"),
              IsEmpty());
}

TEST(Patches, ModuleRedirects) {
  EXPECT_THAT(sites("import sys\nimport plug.q\n"
                    "sys.modules['vllm.ops'] = plug.q\n"
                    "del sys.modules['vllm.api']\n"
                    "sys.modules[__name__] = 1\n",
                    {{"q.py", ""}}),
              ElementsAre("p.py:3 vllm.ops -> plug.q", "p.py:4 vllm.api -> "));
}

TEST(Patches, ImportHookWithALiteralMap) {
  EXPECT_THAT(sites("import builtins\n"
                    "old = builtins.__import__\n"
                    "def hook(name, *args, **kwargs):\n"
                    "    table = {\n"
                    "        'vllm.ops': 'plug.q',\n"
                    "    }\n"
                    "    return old(table.get(name, name), *args, **kwargs)\n"
                    "def apply():\n"
                    "    builtins.__import__ = hook\n"),
              ElementsAre("p.py:5 vllm.ops -> plug.q"));
  EXPECT_THAT(sites("import builtins\nfrom x import hook\nbuiltins.__import__ = hook\n"),
              ElementsAre("p.py:3 builtins.__import__ -> "));
}

TEST(Patches, TheEngineTakesThoseOfTheProject) {
  MiniProject project(
      {{"p.py",
        "import torch\nimport vllm.ops as o\nfrom vllm.platforms import current_platform\n"
        "torch.x = 1\no.f = 1\no.Op.run = 2\n"
        "if current_platform.is_rocm():\n    o.g = 3\n"}},
      {{"ops.py", kTarget.at("ops.py")}, {"platforms/__init__.py", "current_platform = make()\n"}});
  Patches patches = find_patches(project.semantics(), project.plugin(), project.modules());
  EXPECT_EQ(patches.sites.size(), 4u);
  PatchTable table = collect_patches(project.semantics(), patches);
  const Module& ops = project.module("vllm.ops");
  EXPECT_TRUE(table.find(&ops, kNoNode, "f"));
  EXPECT_FALSE(table.find(&ops, kNoNode, "g"));  // dead on this platform
  EXPECT_EQ(table.by_place.size(), 2u);
  PatchTable none = collect_patches(project.semantics(), patches, [](const PatchSite&) { return false; });
  EXPECT_TRUE(none.by_place.empty());
}

}  // namespace
}  // namespace assay
