#include "review/preflight_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "git/temp_repository.h"
#include "runtime/temp_venv.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// An environment with a plugin, a vLLM and kernel packages of which none does what it should.
class PreflightTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    env_ = new TempVenv();
    env_->distribution("torch", "2.13.0", "torch/__init__.py,,\ntorch/version.py,,\n");
    env_->add("torch/__init__.py", "from . import version\n__version__ = '2.13.0'\nimport ctypes, os\n"
                                   "ctypes.CDLL(os.path.join(os.path.dirname(__file__), 'lib/libc10.so'), mode=ctypes.RTLD_GLOBAL)\n");
    env_->add("torch/version.py", "cuda = None\ngit_version = 'abc'\n");
    env_->library("torch/lib/libc10.so", "int c10_new(void) { return 1; }", {"-Wl,-soname,libc10.so"});
    env_->distribution("vllm", "0.32.0", "vllm/__init__.py,,\nvllm/a.py,,\nvllm/b.py,,\nvllm/_version.py,,\nvllm/_C.abi3.so,,\n");
    for (const char* file : {"vllm/__init__.py", "vllm/a.py", "vllm/_version.py"}) env_->add(file, "");
    env_->add("vllm/b.py", "installed = 1\n");
    env_->add("vllm/_C.abi3.so", "");
    env_->distribution("my_plugin", "1.0", "my_plugin/__init__.py,,\n");
    env_->add("my_plugin/__init__.py", "import flash_mla\n");
    env_->add("my_plugin-1.0.dist-info/entry_points.txt", "[vllm.general_plugins]\nmine = my_plugin:register\n");
    // Kernel packages: a symbol that nothing defines, one built for another torch, a crash, a hang.
    env_->distribution("flash-mla", "1.0", "flash_mla.so,,\n");
    env_->library("flash_mla.so", "int _Z17no_such_operationif(int); void* PyInit_flash_mla(void) { return (void*)(long)_Z17no_such_operationif(1); }");
    env_->distribution("deep-gemm", "2.0", "deep_gemm.so,,\n", "Requires-Dist: torch==2.11.0\n");
    TempFolder other_torch;
    other_torch.write("c.c", "int c10_old(void) { return 1; }");
    (void)run_process({.argv = {"gcc", "-shared", "-fPIC", "-Wl,-soname,libc10.so", "-o", other_torch / "libc10.so", other_torch / "c.c"}});
    env_->library("deep_gemm.so", "int c10_old(void); void* PyInit_deep_gemm(void) { return (void*)(long)c10_old(); }",
                  {"-L" + other_torch.path().string(), "-l:libc10.so", "-Wl,-rpath,$ORIGIN/torch/lib"});
    env_->distribution("flash-attn", "3.0", "flash_attn.so,,\n");
    env_->library("flash_attn.so", "void* PyInit_flash_attn(void) { *(volatile int*)0 = 1; return 0; }");
    env_->distribution("mcoplib", "4.0", "mcoplib.so,,\n");
    env_->library("mcoplib.so", "int pause(void); void* PyInit_mcoplib(void) { for (;;) pause(); }");
    env_->distribution("xformers", "5.0", "xformers/__init__.py,,\n");
    env_->add("xformers/__init__.py", "__version__ = '5.0'\n");
  }
  static void TearDownTestSuite() {
    delete env_;
    env_ = nullptr;
  }

  PreflightRecord run(RunOptions options, PreflightOptions how = {}) {
    options.python = env_->python();
    how.limit = std::chrono::milliseconds(1500);
    how.state_dir = state_.path().string();
    auto record = run_preflight(options, how);
    EXPECT_TRUE(record) << record.error().message;
    return record ? std::move(*record) : PreflightRecord{};
  }
  static RunOptions of_plugin(const TempFolder& folder) {
    RunOptions options;
    options.plugin = folder.path().string();
    return options;
  }
  static RunOptions of_target(const TempFolder& folder) {
    RunOptions options;
    options.target = folder.path().string();
    return options;
  }
  static PreflightOptions no_imports(bool confirm = false, bool assume = false) {
    PreflightOptions how;
    how.import = false;
    how.confirm = confirm;
    how.assume_confirmed = assume;
    return how;
  }
  static const OriginRow& origin(const PreflightRecord& record, const std::string& module) {
    for (const OriginRow& row : record.origins)
      if (row.module == module) return row;
    static const OriginRow none;
    ADD_FAILURE() << "no row for " << module;
    return none;
  }

  inline static TempVenv* env_ = nullptr;
  TempFolder state_;
};

TEST_F(PreflightTest, BrokenComponentsAreNamedAndTheRestIsComplete) {
  TempFolder plugin;
  plugin.write("my_plugin/__init__.py", "import flash_mla\n");
  const std::string before = env_->snapshot();
  const auto start = std::chrono::steady_clock::now();
  PreflightRecord record = run(of_plugin(plugin));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_EQ(env_->snapshot(), before) << "nothing is written";

  EXPECT_THAT(origin(record, "flash_mla").fault, HasSubstr("undefined symbol"));
  EXPECT_THAT(origin(record, "flash_mla").why,
              HasSubstr("flash_mla.so needs the symbol no_such_operation(int, float), which nothing defines"));
  EXPECT_THAT(origin(record, "deep_gemm").fault, HasSubstr("undefined symbol: c10_old"));
  EXPECT_THAT(origin(record, "deep_gemm").why, HasSubstr("needs the symbol c10_old"));
  EXPECT_THAT(origin(record, "deep_gemm").why, HasSubstr("asks for torch==2.11.0, installed is 2.13.0"));
  EXPECT_THAT(origin(record, "flash_attn").fault, StartsWith("ended by SIGSEGV"));
  EXPECT_THAT(origin(record, "mcoplib").fault, StartsWith("did not come back within the time limit"));
  EXPECT_EQ(origin(record, "xformers").fault, "");
  EXPECT_EQ(origin(record, "xformers").effective, env_->site("xformers/__init__.py"));
  EXPECT_EQ(origin(record, "xformers").version, "5.0");
  EXPECT_EQ(origin(record, "my_plugin").causes.at(0), "raised at " + env_->site("my_plugin/__init__.py") + ":1 in <module>");
  EXPECT_EQ(origin(record, "triton").kind, "absent");
  EXPECT_THAT(record.plugins, Contains(ElementsAre("vllm.general_plugins", "mine", "my_plugin:register", "my_plugin")));
}

TEST_F(PreflightTest, LocalAndInstalledFilesAreCompared) {
  TempRepository target;
  target.write("vllm/__init__.py", "");
  target.write("vllm/a.py", "");
  target.write("vllm/b.py", "local = 1\n");
  target.write("vllm/c.py", "");
  target.write("tests/x.py", "");
  target.commit("first");
  PreflightRecord record = run(of_target(target), no_imports());
  ASSERT_EQ(record.correspondence.size(), 1u);
  const Correspondence& row = record.correspondence[0];
  EXPECT_EQ(row.identical, 2u);
  EXPECT_THAT(row.changed, ElementsAre("vllm/b.py"));
  EXPECT_THAT(row.local_only, ElementsAre("vllm/c.py"));
  EXPECT_THAT(row.installed_only, ElementsAre());
  EXPECT_THAT(row.generated, ElementsAre("vllm/_C.abi3.so", "vllm/_version.py"));
  EXPECT_EQ(row.verdict, "differs");
  EXPECT_EQ(record.local[0].state, "clean");
  EXPECT_EQ(record.local[0].commit.size(), 40u);
}

TEST_F(PreflightTest, AConfirmedMappingHoldsUntilItChanges) {
  TempFolder target;
  target.write("vllm/__init__.py", "");
  const RunOptions options = of_target(target);
  EXPECT_EQ(run(options, no_imports()).confirmed, "not confirmed");
  EXPECT_EQ(run(options, no_imports(true)).confirmed, "confirmed by the user");
  const PreflightRecord first = run(options, no_imports()), second = run(options, no_imports());
  EXPECT_EQ(second.confirmed, "confirmed by the user");
  EXPECT_EQ(first.fingerprint, second.fingerprint);
  target.write("vllm/__init__.py", "x = 1\n");
  const PreflightRecord changed = run(options, no_imports());
  EXPECT_EQ(changed.confirmed, "changed since it was confirmed");
  EXPECT_NE(changed.fingerprint, first.fingerprint);
  EXPECT_EQ(run(options, no_imports(false, true)).confirmed, "assumed");
}

TEST_F(PreflightTest, NoSecretIsPrinted) {
  TempRepository plugin;
  plugin.write("my_plugin/__init__.py", "");
  plugin.commit("first");
  plugin.git({"remote", "add", "origin", "https://user:s3cr3t-remote@example.org/x.git"});
  env_->add("my_plugin-1.0.dist-info/direct_url.json",
            R"({"url": "https://user:s3cr3t-url@example.org/x?token=s3cr3t-query#s3cr3t-fragment", "vcs_info": {"vcs": "git", "commit_id": "f00"}})");
  env_->write("pip.conf", "[global]\nindex-url = https://u:s3cr3t-pip@example.org/simple\n");
  env_->add("vllm_s3cr3t.py", "");
  for (const char* name : {"HF_TOKEN", "VLLM_API_KEY", "PIP_INDEX_URL", "AWS_SECRET_ACCESS_KEY", "CUDA_S"})
    ::setenv(name, "https://u:s3cr3t-env@example.org/", 1);
  PreflightRecord record = run(of_plugin(plugin));
  const std::string text = preflight_to_json(record);  // all that a writer can show
  for (const char* secret : {"s3cr3t-remote", "s3cr3t-url", "s3cr3t-query", "s3cr3t-fragment", "s3cr3t-pip", "s3cr3t-env"})
    EXPECT_THAT(text, Not(HasSubstr(secret)));
  EXPECT_THAT(text, HasSubstr("https://***@example.org/x"));
  EXPECT_THAT(text, Not(HasSubstr("AWS_SECRET"))) << "not even the names of what is none of ours";
  EXPECT_THAT(text, HasSubstr("VLLM_API_KEY"));
  for (const char* name : {"HF_TOKEN", "VLLM_API_KEY", "PIP_INDEX_URL", "AWS_SECRET_ACCESS_KEY", "CUDA_S"}) ::unsetenv(name);
}

}  // namespace
}  // namespace assay
