#include "vllm/inventory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "vllm/testing.h"

namespace assay {
namespace {

using Files = MiniProject::Files;
using testing::ElementsAre;
using testing::IsEmpty;

// The extension points as the target defines them, as far as reading them needs.
const MiniProject::Files kTarget = {
    {"v1/attention/backends/registry.py",
     "from enum import Enum\n"
     "class AttentionBackendEnum(Enum):\n"
     "    FLASH = 'vllm.v1.attention.backends.flash.Flash'\n"
     "    CUSTOM = None\n"
     "def register_backend(backend, class_path=None, is_mamba=False):\n"
     "    return lambda cls: cls\n"},
    {"v1/attention/backends/flash.py", "class Flash:\n    def run(self, x):\n        return x + 1\n"},
    {"model_executor/custom_op.py",
     "class CustomOp:\n"
     "    @classmethod\n    def register(cls, name):\n        return lambda c: c\n"
     "    @classmethod\n    def register_oot(cls, _decorated_op_cls=None, name=None):\n        return lambda "
     "c: c\n"},
    {"model_executor/layers/norm.py",
     "from vllm.model_executor.custom_op import CustomOp\n"
     "@CustomOp.register('rms_norm')\n"
     "class RMSNorm(CustomOp):\n"
     "    def forward_native(self, x):\n        return x * 2\n"},
    {"model_executor/layers/quantization/__init__.py",
     "def register_quantization_config(quantization):\n    return lambda c: c\n"},
    {"model_executor/kernels/linear/__init__.py",
     "def register_linear_kernel(kernel_class, platform, kernel_type='mp'):\n    pass\n_POSSIBLE = {}\n"},
    {"model_executor/models/registry.py",
     "class _ModelRegistry:\n    def register_model(self, model_arch, model_cls):\n        pass\n"
     "ModelRegistry = _ModelRegistry()\n"},
    {"model_executor/models/__init__.py", "from .registry import ModelRegistry\n"},
    {"utils/torch_utils.py",
     "from torch.library import Library\n"
     "vllm_lib = Library('vllm', 'FRAGMENT')\n"
     "def direct_register_custom_op(op_name, op_func, mutates_args=None, fake_impl=None, target_lib=None):\n "
     "   pass\n"},
    {"ir/op.py", "def register_op(f=None, *, name=None):\n    return f\n"},
    {"ir/ops.py", "from vllm.ir.op import register_op\n@register_op\ndef rms_norm(x):\n    return x\n"},
    {"config/__init__.py",
     "from .compilation import CompilationConfig\n"
     "class VllmConfig:\n    compilation_config: CompilationConfig\n"},
    {"config/compilation.py",
     "from dataclasses import dataclass, field\n"
     "from typing import Any, ClassVar\n"
     "@dataclass\n"
     "class CompilationConfig:\n"
     "    _ops: ClassVar[list[str]] = ['a']\n"
     "    custom_ops: list[str] = field(default_factory=list)\n"
     "    context: dict[str, Any] = field(default_factory=dict, init=False)\n"},
    {"platforms/__init__.py", "current_platform = make()\n"},
};

class InventoryOf {
 public:
  explicit InventoryOf(const MiniProject::Files& plugin, const std::string& entry = "")
      : project_(plugin, kTarget) {
    Semantics& semantics = project_.semantics();
    reach_ = Reachability::everything(project_.project(), project_.plugin());
    if (!entry.empty()) {
      const Module& module = project_.module(entry.substr(0, entry.find(':')));
      std::string function = entry.substr(entry.find(':') + 1);
      reach_ =
          Reachability::from_roots(semantics, project_.plugin(), {{&module, function, "entry point g:x"}});
    }
    Patches patches = find_patches(semantics, project_.plugin(), project_.modules());
    InventoryInput input{semantics, project_.catalog(), project_.plugin(), project_.modules(),
                         reach_,    entries_,           patches,           nullptr};
    found_ = take_inventory(input, [](std::string_view) { return true; });
    std::ranges::stable_sort(found_.rows, {}, [](const InventoryRow& r) { return r.location; });
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> out;
    for (const InventoryRow& r : found_.rows) {
      out.push_back(fmt::format("{} {} {}:{}", r.kind, r.key, r.location.file.substr(5), r.location.line));
    }
    return out;
  }
  const std::vector<InventoryRow>& rows() const { return found_.rows; }
  const std::vector<FileRow>& files() const { return found_.files; }

 private:
  MiniProject project_;
  Reachability reach_;
  std::vector<EntryPoint> entries_;
  Inventory found_;
};

TEST(Inventory, AttentionBackends) {
  InventoryOf found(
      Files{{"p.py",
             "from vllm.v1.attention.backends.registry import AttentionBackendEnum as E, register_backend\n"
             "@register_backend(E.FLASH)\n"
             "class Mine:\n"
             "    '''Ours.'''\n"
             "    def run(self, x):\n"
             "        return x + 1  # the same\n"
             "register_backend(E.CUSTOM, 'plug.p.Mine')\n"
             "register_backend(backend=E.GONE)(Mine)\n"}});
  EXPECT_THAT(found.keys(), ElementsAre("attention-backend FLASH p.py:2", "attention-backend CUSTOM p.py:7",
                                        "attention-backend GONE p.py:8"));
  EXPECT_EQ(found.rows()[0].effective, "plug.p.Mine");
  EXPECT_EQ(found.rows()[0].upstream, "vllm.v1.attention.backends.flash.Flash");
  EXPECT_EQ(found.rows()[0].difference, "identical");
  EXPECT_EQ(found.rows()[1].effective, "plug.p.Mine");
}

// The registry is keyed by the name of the class on which it is called, whatever it is called here.
TEST(Inventory, OutOfTreeOpsAreKeyedByTheBase) {
  InventoryOf found(Files{{"p.py",
                           "from vllm.model_executor.custom_op import CustomOp\n"
                           "from vllm.model_executor.layers.norm import RMSNorm as Base\n"
                           "@Base.register_oot\n"
                           "class A(Base):\n    def forward_oot(self, x):\n        return x\n"
                           "@Base.register_oot(name='Other')\n"
                           "class B(Base):\n    pass\n"
                           "@CustomOp.register('mine')\n"
                           "class C(CustomOp):\n    pass\n"
                           "Base.register_oot(_decorated_op_cls=A, name='Named')\n"}});
  EXPECT_THAT(found.keys(), ElementsAre("oot-op RMSNorm p.py:3", "oot-op Other p.py:7",
                                        "custom-op mine p.py:10", "oot-op Named p.py:13"));
  EXPECT_EQ(found.rows()[0].upstream, "vllm.model_executor.layers.norm.RMSNorm");
  EXPECT_EQ(found.rows()[0].difference, "changed");
  EXPECT_EQ(found.rows()[3].effective, "plug.p.A");
}

TEST(Inventory, LoopsOverTablesAreUnrolled) {
  InventoryOf found(Files{{"p.py",
                           "from vllm.model_executor.models import ModelRegistry\n"
                           "TABLE = {'A': 'plug.m:A', 'B': 'plug.m:B'}\n"
                           "def register():\n"
                           "    for arch, path in TABLE.items():\n"
                           "        ModelRegistry.register_model(arch, path)\n"
                           "    for name in ('C', 'D'):\n"
                           "        ModelRegistry.register_model(name, f'plug.m:{name}')\n"},
                          {"m.py", "class A: pass\nclass B: pass\nclass C: pass\n"}});
  EXPECT_THAT(found.keys(),
              ElementsAre("model A p.py:5", "model B p.py:5", "model C p.py:7", "model D p.py:7"));
  EXPECT_EQ(found.rows()[2].effective, "plug.m:C");
}

TEST(Inventory, OpsAndKernels) {
  InventoryOf found(
      Files{{"p.py",
             "import torch\n"
             "from vllm.utils.torch_utils import direct_register_custom_op as reg\n"
             "from vllm.model_executor.kernels.linear import register_linear_kernel\n"
             "from vllm.model_executor.layers.quantization import register_quantization_config\n"
             "from vllm.ir import ops\n"
             "lib = torch.library.Library('mine', 'DEF')\n"
             "def f(x: int) -> int: return x\n"
             "reg(op_name='a', op_func=f)\n"
             "reg('b', f, target_lib=lib)\n"
             "lib.define('c(Tensor x) -> Tensor')\n"
             "@torch.library.custom_op('ns::d', mutates_args=())\n"
             "def d(x): pass\n"
             "class K: pass\n"
             "register_linear_kernel(K, None, 'int8')\n"
             "register_linear_kernel(K, None)\n"
             "@register_quantization_config('q')\n"
             "class Q: pass\n"
             "@ops.rms_norm.register_impl('fast')\n"
             "def impl(x): return x\n"}});
  EXPECT_THAT(found.keys(), ElementsAre("torch-op vllm::a p.py:8", "torch-op mine::b p.py:9",
                                        "torch-op mine::c p.py:10", "torch-op ns::d p.py:11",
                                        "linear-kernel K:int8 p.py:14", "linear-kernel K:mp p.py:15",
                                        "quantization-config q p.py:16", "ir-op rms_norm:fast p.py:18"));
}

// A helper of the plugin registers for its callers: the rows stand where it is called.
TEST(Inventory, HelpersRegisterForTheirCallers) {
  InventoryOf found(
      Files{{"p.py",
             "from torch.library import Library\n"
             "from vllm.model_executor.layers.quantization import register_quantization_config\n"
             "lib = Library('mine', 'FRAGMENT')\n"
             "def op(name, func, dispatch='CUDA'):\n"
             "    lib.define(name + schema_of(func))\n"
             "    lib.impl(name, func, dispatch)\n"
             "def quant(key):\n"
             "    return register_quantization_config(key)\n"
             "def f(x): pass\n"
             "op('a', f)\n"
             "for n in ('b', 'c'):\n"
             "    op(func=f, name=n)\n"
             "@quant('q')\n"
             "class Q: pass\n"}});
  EXPECT_THAT(found.keys(), ElementsAre("torch-op mine::a p.py:10", "torch-op mine::b p.py:12",
                                        "torch-op mine::c p.py:12", "quantization-config q p.py:13"));
  EXPECT_EQ(found.rows()[3].effective, "plug.p.Q");
}

TEST(Inventory, NamesProveNothing) {
  EXPECT_THAT(InventoryOf(Files{{"p.py",
                                 "def register_backend(x): return x\n"
                                 "register_backend('FLASH')\n"
                                 "class R:\n    def register(self, n): pass\n"
                                 "R().register('x')\n"}})
                  .keys(),
              IsEmpty());
}

TEST(Inventory, TablesOfOthers) {
  InventoryOf found(Files{{"p.py",
                           "import os\nimport tl as T\n"
                           "from vllm.config import CompilationConfig, VllmConfig\n"
                           "from vllm.model_executor.kernels import linear\n"
                           "linear._POSSIBLE['x'] = [1]\n"
                           "del linear._POSSIBLE['y']\n"
                           "def hook(cfg: VllmConfig):\n"
                           "    cc = cfg.compilation_config\n"
                           "    cc._ops.append('b')\n"
                           "    cc.custom_ops += ['c']\n"
                           "    cc.context['k'] = 1\n"
                           "    os.environ['X'] = '1'\n"
                           "    T.clear(cc)\n"
                           "    own = {}\n"
                           "    own['k'] = 1\n"}});
  EXPECT_THAT(found.keys(),
              ElementsAre("table-mutation vllm.model_executor.kernels.linear._POSSIBLE p.py:5",
                          "table-mutation vllm.model_executor.kernels.linear._POSSIBLE p.py:6",
                          "table-mutation vllm.config.compilation.CompilationConfig._ops p.py:9",
                          "table-mutation vllm.config.compilation.CompilationConfig.custom_ops p.py:10"));
}

TEST(Inventory, ClassPathsThatNoRegistrationTook) {
  InventoryOf found(Files{{"p.py",
                           "'''plug.p.Worker in a docstring'''\n"
                           "import logging\n"
                           "from vllm.model_executor.models import ModelRegistry\n"
                           "logger = logging.getLogger('plug.p.x')\n"
                           "ModelRegistry.register_model('A', 'plug.p:Worker')\n"
                           "class Worker: pass\n"
                           "def worker():\n"
                           "    return ('plug.p'\n            '.Worker')\n"
                           "name = 'plug.json'\n"
                           "text = 'plug.p.Worker is fine'\n"}});
  EXPECT_THAT(found.keys(), ElementsAre("model A p.py:5", "class-path plug.p.Worker p.py:8"));
}

TEST(Inventory, StatesAndConditions) {
  MiniProject::Files plugin = {
      {"__init__.py", "def register():\n    import plug.a\n    import plug.b\n"},
      {"a.py",
       "from vllm.platforms import current_platform\nimport os\nimport vllm.ir.ops as o\n"
       "if current_platform.is_rocm():\n    o.dead = 1\n"
       "if os.environ.get('X'):\n    o.maybe = 1\n"
       "o.live = 1\n"
       "def later():\n    o.later = 1\n"},
      {"b.py", "import plug.c\n"},
      {"c.py", "import vllm.ir.ops as o\no.c = 1\n"},
      {"unused.py", "import vllm.ir.ops as o\no.unused = 1\n"},
      {"data.txt", "x"}};
  InventoryOf found(plugin, "plug:register");
  std::vector<std::string> states;
  for (const InventoryRow& r : found.rows()) {
    states.push_back(r.key.substr(r.key.rfind('.') + 1) + " " + r.state +
                     (r.condition.empty() ? "" : ": " + r.condition));
  }
  EXPECT_THAT(states,
              ElementsAre("dead dead: current_platform.is_rocm()", "maybe conditional: os.environ.get('X')",
                          "live active", "later conditional: later() is called", "c active",
                          "unused inactive: nothing imports the file"));
  EXPECT_THAT(found.rows()[4].activation,
              ElementsAre("entry point g:x", testing::HasSubstr("plug/__init__.py:3"),
                          testing::HasSubstr("plug/b.py:1")));
  std::vector<std::string> files;
  for (const FileRow& f : found.files()) files.push_back(f.file.substr(5) + " " + f.state);
  EXPECT_THAT(files, ElementsAre("__init__.py active", "a.py active", "b.py active", "c.py active",
                                 "data.txt not-python", "unused.py inactive"));
}

// When line N raises, nothing behind it in that file runs either.
TEST(Inventory, LossesOfAnImportFile) {
  InventoryOf found(Files{{"__init__.py", "def register():\n    import plug.all\n"},
                          {"all.py", "import plug.one\nimport plug.two\nimport plug.three\n"},
                          {"one.py", "import vllm.ir.ops as o\no.one = 1\n"},
                          {"two.py", "import vllm.ir.ops as o\no.two = 1\n"},
                          {"three.py", "import plug.one\nx = 1\n"}},
                    "plug:register");
  const FileRow& all = found.files()[1];
  ASSERT_EQ(all.file, "plug/all.py");
  ASSERT_EQ(all.losses.size(), 2u);
  EXPECT_EQ(all.losses[0].line, 1u);
  EXPECT_THAT(all.losses[0].rows, ElementsAre("patch vllm.ir.ops.one", "patch vllm.ir.ops.two"));
  EXPECT_THAT(all.losses[1].rows, ElementsAre("patch vllm.ir.ops.two"));
}

}  // namespace
}  // namespace assay
