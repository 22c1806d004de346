// Input that is broken, hostile or not there: one line that says so and the right exit code, and what can be
// reviewed is reviewed all the same.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Result {
  int status = -1;
  std::string text;
};

class BadInput : public testing::Test {
 protected:
  BadInput() : path_(fs::temp_directory_path() / ("assay-bad-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    file("target/vllm/__init__.py", "");
    file("target/vllm/ops.py", "def kept(): pass\n");
    file("p/pyproject.toml",
         "[project]\nname = 'demo'\n[project.entry-points.'vllm.general_plugins']\ndemo = 'demo:register'\n");
    file("p/demo/__init__.py", "def register():\n    from demo import good, bad\n");
    file("p/demo/good.py", "from vllm.ops import gone\n");
    file("p/demo/bad.py", "");
  }
  ~BadInput() override { fs::remove_all(path_); }

  void file(const std::string& name, const std::string& text) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  // A check in the folder, within a minute; "$assay" is the program.
  Result check(const std::string& arguments) {
    std::string command = "exec 2>&1; cd " + path_.string() +
                          "; timeout 60 '" ASSAY_BINARY "' check --no-cache --format concise " + arguments;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    Result result;
    char buffer[4096];
    while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) result.text.append(buffer, n);
    int status = ::pclose(pipe);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }
  void refused(const std::string& arguments, const std::string& message) {
    Result result = check(arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_EQ(result.text, "assay: " + message + "\n") << arguments;
  }
  // The finding of the good file stays whatever the bad one holds.
  Result kept(const std::string& arguments = "--plugin p --target target") {
    Result result = check(arguments);
    EXPECT_EQ(result.status, 1) << result.text;
    EXPECT_NE(result.text.find("demo/good.py:1:1: error[missing-symbol] vllm.ops has no name 'gone'"),
              std::string::npos)
        << result.text;
    return result;
  }

  fs::path path_;
};

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST_F(BadInput, SourcesThatAreNotThere) {
  refused("--plugin nope --target target", "nope: no such file or directory");
  refused("--plugin p --target nope", "nope: no such file or directory");
  refused("--plugin p@HEAD --target target", "p@HEAD: not a git repository");
  refused("--plugin p --target p", "p: holds no package vllm");
  refused("--plugin p/demo/good.py --target target",
          "p/demo/good.py: neither a folder nor an archive (.whl, .zip, .tar.gz, .tar.xz, .tar.bz2)");
}

TEST_F(BadInput, NothingToLookAtIsNotClean) {
  fs::create_directories(path_ / "void");
  refused("--plugin void --target target",
          "void: holds no Python package; --scope names what else to look at");
  refused("--plugin p --target target --scope nope", "--scope nope: no Python file of the plugin lies there");
  refused("--plugin p --target target --scope ../..",
          "--scope ../..: no Python file of the plugin lies there");
  kept("--plugin p --target target --scope ./demo/");
}

TEST_F(BadInput, Archives) {
  file("empty.whl", "");
  file("text.whl", "hello");
  refused("--plugin empty.whl --target target", "empty.whl: truncated archive: the file is empty");
  refused("--plugin text.whl --target target", "text.whl: not a zip archive, though its name says so");
}

TEST_F(BadInput, ConfigurationFiles) {
  file("empty.toml", "");
  file("big.toml", "#" + std::string(2 << 20, 'x'));
  kept("--plugin p --target target --config empty.toml");
  kept("--plugin p --target target --catalog empty.toml");
  refused("--plugin p --target target --config big.toml", "big.toml is larger than 1 MB: no configuration");
  refused("--plugin p --target target --catalog big.toml", "'big.toml' is larger than 1 MB: no catalog file");
  refused("--plugin p --target target --catalog p", "cannot read the catalog file 'p'");
}

TEST_F(BadInput, ABrokenProjectFileIsListed) {
  file("p/pyproject.toml", "[project\n");
  EXPECT_NE(kept().text.find("no TOML, line 1: "), std::string::npos);
}

TEST_F(BadInput, OneBadFileAmongGoodOnes) {
  constexpr int kDeep = 5000;
  const std::string files[] = {
      "x = " + repeated("(", kDeep) + repeated(")", kDeep) + "\n",
      "x = " + repeated("[", kDeep) + "\n",
      "x = x" + repeated(".a", kDeep) + "\n",
      "x = 1" + repeated(" + 1", kDeep) + "\nif x > 3: pass\n",
      repeated("@a\n", kDeep) + "def f(): pass\n",
      std::string("x = 1\n\0\0\xff\xfe\n", 11),
      "x = '\xff'\n# \xc3\n\xf0\x9f",
      "# coding: nonsense\nx = 1\n",
      "if 1:\n        x = 1\n\ty = 2\n",
      "\xef\xbd\x8b = 1\nk\n",
      "\xef\xbb\xbfx = 1\r\n",
      "x = y\ny = x\nif x: pass\nx.foo()\n",
      "class A(A): pass\nclass B(C): pass\nclass C(B):\n    def f(self): return super().f()\nA().x\nC(1)\n",
      "def f(): return f()\nif f(): pass\n",
      "class A:\n    @property\n    def p(self): return self.p\n    def __init__(self): self.a = self.b; "
      "self.b = self.a\nA().p.x\nA().a.z\n",
      "from demo.bad import *\nfrom demo.bad import __all__\n__all__ += __all__\nfoo()\n",
  };
  for (const std::string& text : files) {
    file("p/demo/bad.py", text);
    SCOPED_TRACE(text.substr(0, 60));
    kept();
  }
  file("p/demo/bad.py", repeated("x = 1\n", 800'000));
  EXPECT_NE(kept().text.find("larger than 4 MB"), std::string::npos);
}

TEST_F(BadInput, LongChainsAndFilesTakeNoQuadraticTime) {
  std::string classes = "class A0: pass\n";
  for (int i = 1; i < 1500; ++i)
    classes += "class A" + std::to_string(i) + "(A" + std::to_string(i - 1) + "): pass\n";
  file("p/demo/bad.py", classes + "A1499().nope\n");
  kept();
  file("p/demo/bad.py", repeated("from vllm.ops import kept\n", 20'000));
  kept();
}

// Twenty thousand of everything; functions of which each calls the next one twice.
TEST_F(BadInput, MuchOfOneKindTakesNoQuadraticTime) {
  constexpr int kMany = 20'000;
  std::string twice, imports, names;
  for (int i = 0; i < 40; ++i) {
    std::string next = "f" + std::to_string(i + 1) + "()";
    twice += "def f" + std::to_string(i) + "():\n    if " + next + ": return " + next + "\n    return " + next + " or " + next + "\n";
  }
  for (int i = 0; i < kMany; ++i) {
    imports += "import vllm.gone" + std::to_string(i) + "\n";
    names += "gone" + std::to_string(i) + "\n";
  }
  const std::string files[] = {
      twice + "def f40(): return g\nif f0(): pass\nf0().x\n",
      "import vllm\n" + repeated("x = vllm.make()\n", kMany) + repeated("x.foo()\n", kMany),
      repeated("if y: x = 1\n", kMany) + repeated("x.foo\n", kMany),
      "def f():\n" + repeated("    x = x.a\n", kMany),
      "class A:\n    def m(self):\n" + repeated("        self.x = self.x.y\n", kMany),
      repeated("def f(a): return 1\n", kMany) + repeated("f(2, 3)\n", kMany),
      imports,
      names,
  };
  for (const std::string& text : files) {
    file("p/demo/bad.py", text);
    SCOPED_TRACE(text.substr(0, 60));
    kept();
  }
}

// Two star imports of the next module in each of many layers: 2^40 ways through, 40 modules.
TEST_F(BadInput, ADiamondOfStarImports) {
  for (int i = 0; i < 38; ++i) {
    std::string next = "demo.s" + std::to_string(i + 1);
    file("p/demo/s" + std::to_string(i) + ".py", "from " + next + " import *\nfrom " + next + " import *\n");
  }
  file("p/demo/s38.py", "x = 1\n");
  file("p/demo/bad.py", "from demo.s0 import *\nfrom demo.s0 import missing\nfoo()\n");
  kept();
}

TEST_F(BadInput, SymbolicLinksThatLeadNowhere) {
  fs::create_symlink("..", path_ / "p/demo/up");
  fs::create_symlink("nowhere.py", path_ / "p/demo/gone.py");
  Result result = kept();
  EXPECT_NE(result.text.find("symbolic link loop"), std::string::npos);
  EXPECT_NE(result.text.find("symbolic link to nothing"), std::string::npos);
}

}  // namespace
