#include "review/startup_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git/temp_repository.h"
#include "review/snapshot.h"
#include "runtime/temp_venv.h"
#include "tree/memory_tree.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A vLLM of a few lines with its plugin loading, a registry and something to patch.
class StartupTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    env_ = new TempVenv();
    env_->distribution("vllm", "0.32.0", "vllm/__init__.py,,\n");
    env_->add("vllm/__init__.py", "__version__ = '0.32.0'\n");
    env_->add("vllm/platforms/__init__.py", "class Platform:\n    pass\ncurrent_platform = Platform()\n");
    env_->add("vllm/plugins/__init__.py",
              "import logging, os\n"
              "def load_general_plugins():\n"
              "    from importlib.metadata import entry_points\n"
              "    import vllm.consumer\n"
              "    allowed = os.environ.get('VLLM_PLUGINS')\n"
              "    for entry in entry_points(group='vllm.general_plugins'):\n"
              "        if allowed is None or entry.name in allowed.split(','):\n"
              "            try:\n"
              "                entry.load()()\n"
              "            except Exception:\n"
              "                logging.exception('failed')\n");
    env_->add("vllm/model_executor/__init__.py", "");
    env_->add("vllm/model_executor/layers/__init__.py", "");
    env_->add("vllm/model_executor/layers/quantization/__init__.py",
              "_TABLE = {'fp8': int}\n"
              "def register_quantization_config(quantization):\n"
              "    def put(cls):\n        _TABLE[quantization] = cls\n        return cls\n"
              "    return put\n"
              "def get_quantization_config(quantization):\n"
              "    return _TABLE[quantization]\n");
    env_->add("vllm/ops.py", "def run():\n    return 'vllm'\n");
    env_->add("vllm/consumer.py", "from vllm.ops import run\nimport vllm.model_executor.layers.quantization\n");
  }
  static void TearDownTestSuite() {
    delete env_;
    env_ = nullptr;
  }

  static void write_plugin(const TempFolder& folder, const std::string& registration) {
    folder.write("pyproject.toml", "[project]\nname = \"my-plugin\"\nversion = \"1.0\"\n"
                                   "[project.entry-points.\"vllm.general_plugins\"]\nmine = \"my_plugin:register\"\n");
    folder.write("my_plugin/__init__.py",
                 "def register():\n"
                 "    import vllm.ops\n"
                 "    from my_plugin import quant\n"
                 "    def mine():\n        return 'plugin'\n"
                 "    vllm.ops.run = mine\n");
    folder.write("my_plugin/quant.py", registration);
  }
  static constexpr const char* kRegistration =
      "from vllm.model_executor.layers.quantization import register_quantization_config\n"
      "@register_quantization_config('mine')\nclass Config:\n    pass\n";

  StartupRecord run(const std::string& plugin, bool quick = false) {
    RunOptions options;
    options.plugin = plugin;
    options.python = env_->python();
    options.use_cache = false;
    StartupOptions how;
    how.limit = std::chrono::seconds(60);
    how.quick = quick;
    auto record = run_startup(options, how);
    EXPECT_TRUE(record) << record.error().message;
    return record ? std::move(*record) : StartupRecord{};
  }
  static const StartRow* row(const StartupRecord& record, const std::string& kind) {
    for (const StartRow& r : record.rows)
      if (r.kind == kind) return &r;
    return nullptr;
  }

  inline static TempVenv* env_ = nullptr;
};

TEST_F(StartupTest, ACleanStartBesideTheSource) {
  TempFolder plugin;
  write_plugin(plugin, kRegistration);
  const std::string before = env_->snapshot(), source = TempVenv::snapshot_of(plugin.path());
  const StartupRecord record = run(plugin.path().string());
  EXPECT_EQ(env_->snapshot(), before);
  EXPECT_EQ(TempVenv::snapshot_of(plugin.path()), source);
  // There is no torch in this environment, and the record says so.
  EXPECT_THAT(record.steps.at(0).fault, HasSubstr("No module named 'torch'"));
  ASSERT_NE(row(record, "quantization-config"), nullptr);
  EXPECT_EQ(row(record, "quantization-config")->verdict, "agrees");
  EXPECT_EQ(row(record, "quantization-config")->effective, "my_plugin.quant.Config");
  EXPECT_THAT(row(record, "quantization-config")->place, HasSubstr("my_plugin/quant.py:"));
  EXPECT_EQ(row(record, "quantization-config")->in_child, "");
  EXPECT_THAT(record.swallowed, IsEmpty());
  ASSERT_EQ(record.changes.size(), 2u) << startup_to_json(record);
  EXPECT_EQ(record.changes[0].path, "vllm.model_executor.layers.quantization._TABLE[mine]");
  EXPECT_EQ(record.changes[0].before, "");
  EXPECT_TRUE(record.changes[0].owned);
  EXPECT_EQ(record.changes[0].declared, "quantization-config mine");
  EXPECT_EQ(record.changes[1].path, "vllm.ops.run");
  EXPECT_EQ(record.changes[1].before, "callable vllm.ops.run");
  EXPECT_EQ(record.changes[1].after, "callable my_plugin.register.mine");
  EXPECT_THAT(record.changes[1].stale, ElementsAre("vllm.consumer.run")) << "it took the old one before the patch ran";
  for (const LoadedModule& module : record.modules) EXPECT_EQ(module.proof, "same") << module.name;
}

TEST_F(StartupTest, AnEntryPointThatIsLost) {
  TempFolder plugin;
  write_plugin(plugin, std::string("import no_such_package\n") + kRegistration);
  const StartupRecord record = run(plugin.path().string());
  EXPECT_FALSE(record.sound());
  ASSERT_EQ(record.swallowed.size(), 1u);
  EXPECT_EQ(record.swallowed[0].message, "No module named 'no_such_package'");
  EXPECT_EQ(record.swallowed[0].whose, "plugin");
  EXPECT_NE(record.swallowed[0].lost, "");
  EXPECT_EQ(record.swallowed[0].raised, "<snapshot>/my_plugin/quant.py:1 in <module>");
  EXPECT_THAT(record.swallowed[0].caught, HasSubstr("in load_general_plugins"));
  EXPECT_EQ(row(record, "quantization-config")->verdict, "absent");
  EXPECT_THAT(record.changes, IsEmpty());
}

TEST_F(StartupTest, WhatIsStagedRunsAndNothingElse) {
  TempRepository plugin;
  write_plugin(plugin, kRegistration);
  plugin.commit("first");
  // Staged: an import of a helper that only the working tree has. Unstaged: a fix.
  plugin.write("my_plugin/quant.py", std::string("import my_plugin.helper\n") + kRegistration);
  plugin.git({"add", "my_plugin/quant.py"});
  plugin.write("my_plugin/quant.py", kRegistration);
  plugin.write("my_plugin/helper.py", "");
  const std::string before = plugin.snapshot();
  const StartupRecord record = run(plugin.path().string() + "@:index");
  EXPECT_EQ(plugin.snapshot(), before) << "index, working tree and repository stay as they are";
  EXPECT_EQ(record.plugin_kind, "index, exported");
  ASSERT_EQ(record.swallowed.size(), 1u);
  EXPECT_EQ(record.swallowed[0].message, "No module named 'my_plugin.helper'");
  EXPECT_THAT(record.unstaged, ElementsAre("my_plugin/helper.py"));
  for (const LoadedModule& module : record.modules) {
    EXPECT_EQ(module.proof, "same") << module.name;
    EXPECT_THAT(module.file, HasSubstr("<snapshot>/my_plugin/"));
  }
}

TEST_F(StartupTest, APluginThatEndsTheProcess) {
  TempFolder plugin;
  write_plugin(plugin, "import os\nos.abort()\n");
  const StartupRecord record = run(plugin.path().string(), true);
  EXPECT_FALSE(record.sound());
  EXPECT_THAT(record.steps.back().fault, HasSubstr("ended by SIGABRT"));
  EXPECT_THAT(record.steps.back().fault, HasSubstr("my_plugin/quant.py:2"));
}

TEST(Snapshot, GeneratedFilesComeFromWhatIsInstalled) {
  auto source = make_memory_tree({{"src/p/__init__.py", "a"}, {"src/p/m.py", "b"}, {"setup.py", ""}});
  auto installed = make_memory_tree({{"p/__init__.py", "old"}, {"p/_C.abi3.so", "x"}, {"p/_version.py", "v"}, {"p/gone.py", ""}});
  auto snapshot = export_snapshot(*source, {"p"}, {{"g", "n", "p:f", "", 0}}, {"p", "1"}, installed.get(), "/site");
  ASSERT_TRUE(snapshot);
  std::vector<std::string> paths;
  for (const OverlayFile& file : *snapshot->files) paths.push_back(file.path + (file.link.empty() ? "" : " -> " + file.link));
  EXPECT_THAT(paths, ElementsAre("p/__init__.py", "p/m.py", "p/_C.abi3.so -> /site/p/_C.abi3.so", "p/_version.py -> /site/p/_version.py",
                                 "p-1.dist-info/METADATA", "p-1.dist-info/entry_points.txt"));
  EXPECT_THAT(snapshot->generated, ElementsAre("p/_C.abi3.so", "p/_version.py"));
}

}  // namespace
}  // namespace assay
