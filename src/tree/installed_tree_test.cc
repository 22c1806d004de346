#include "tree/installed_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/process.h"
#include "tree/temp_folder.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// A virtual environment without pip: quick to make, and its site-packages are empty.
class InstalledTreeTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto made = run_process({.argv = {"python3", "-m", "venv", "--without-pip", env_.path().string()}});
    if (!made || made->exit_status != 0) GTEST_SKIP() << "python3 can't make a virtual environment";
    for (const auto& item : fs::recursive_directory_iterator(env_.path() / "lib")) {
      if (item.path().filename() == "site-packages")
        site_ = fs::relative(item.path(), env_.path()).string() + '/';
    }
    python_ = env_ / "bin/python";
  }
  void TearDown() override {
    for (const auto& item : fs::directory_iterator(env_.path() / site_)) fs::remove_all(item.path());
  }

  void install(const std::string& name, const std::string& version, const std::string& record) {
    const std::string info = site_ + name + '-' + version + ".dist-info/";
    env_.write(info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
    env_.write(info + "RECORD", record);
  }
  std::unique_ptr<Tree> open(const std::string& name) {
    auto tree = open_installed(python_, name, "installed:python");
    EXPECT_TRUE(tree) << tree.error().message;
    return tree ? std::move(*tree) : nullptr;
  }

  inline static TempFolder env_;
  inline static std::string site_, python_;
};

TEST_F(InstalledTreeTest, APackageAndItsMetadata) {
  install("my_plugin", "1.0",
          "my_plugin/__init__.py,,\nmy_plugin/a.py,,\nsingle.py,,\nmy_plugin-1.0.dist-info/METADATA,,\n");
  env_.write(site_ + "my_plugin-1.0.dist-info/entry_points.txt",
             "[vllm.platform_plugins]\nx = my_plugin:f\n");
  env_.write(site_ + "my_plugin/__init__.py", "raise SystemExit('was imported')\n");
  env_.write(site_ + "my_plugin/a.py", "a = 1\n");
  env_.write(site_ + "single.py", "raise SystemExit('was imported')\n");
  env_.write(site_ + "other/__init__.py", "");
  for (const char* name : {"my-plugin", "My.Plugin", "my_plugin"}) {
    auto tree = open(name);
    EXPECT_THAT(paths_of(*tree),
                ElementsAre("my_plugin-1.0.dist-info/METADATA", "my_plugin-1.0.dist-info/RECORD",
                            "my_plugin-1.0.dist-info/entry_points.txt", "my_plugin/__init__.py",
                            "my_plugin/a.py", "single.py"));
    EXPECT_EQ(text_of(*tree, "my_plugin/a.py"), "a = 1\n");
    EXPECT_THAT(text_of(*tree, "single.py"), StartsWith("raise"));
    EXPECT_EQ(tree->identity().kind, "installed");
    EXPECT_THAT(skips_of(*tree), IsEmpty());
  }
  // A module's own name is as good as that of its distribution.
  EXPECT_THAT(paths_of(*open("single")), Contains("my_plugin/a.py"));
  EXPECT_FALSE(fs::exists(env_ / (site_ + "__pycache__"))) << "nothing is written";
}

TEST_F(InstalledTreeTest, AModuleWithoutDistribution) {
  env_.write(site_ + "loose/__init__.py", "");
  EXPECT_THAT(paths_of(*open("loose")), ElementsAre("loose/__init__.py"));
}

TEST_F(InstalledTreeTest, AnEditableInstallThroughAFinder) {
  TempFolder checkout;
  checkout.write("src/plug/__init__.py", "");
  checkout.write("src/plug/a.py", "a");
  install("plug", "0.1",
          "__editable___plug_0_1_finder.py,,\n__editable__.plug-0.1.pth,,\nplug-0.1.dist-info/METADATA,,\n");
  env_.write(site_ + "__editable__.plug-0.1.pth", "import __editable___plug_0_1_finder as f; f.install()\n");
  env_.write(
      site_ + "__editable___plug_0_1_finder.py",
      "import sys, importlib.util\n"
      "MAPPING = {'plug': '" +
          checkout / "src/plug" +
          "'}\n"
          "NAMESPACES = {}\n"
          "class Finder:\n"
          "    @classmethod\n"
          "    def find_spec(cls, name, path=None, target=None):\n"
          "        if name in MAPPING:\n"
          "            return importlib.util.spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n"
          "def install():\n"
          "    sys.meta_path.append(Finder)\n");
  auto tree = open("plug");
  EXPECT_EQ(text_of(*tree, "plug/a.py"), "a");
  EXPECT_NE(tree->find("plug-0.1.dist-info/METADATA"), nullptr);
}

TEST_F(InstalledTreeTest, AnEditableInstallThroughAPathFile) {
  TempFolder checkout;
  checkout.write("src/plug/__init__.py", "");
  install("plug_editable", "0.1", "_plug.pth,,\n");
  env_.write(site_ + "_plug.pth", checkout / "src" + "\n");
  EXPECT_THAT(paths_of(*open("plug-editable")), Contains("plug/__init__.py"));
}

TEST_F(InstalledTreeTest, ASecondInstallationIsNamed) {
  TempFolder other;
  env_.write(site_ + "more.pth", other.path().string() + "\n");
  install("twice", "2.0", "twice/__init__.py,,\n");
  env_.write(site_ + "twice/__init__.py", "two");
  other.write("twice-1.0.dist-info/METADATA", "Name: twice\nVersion: 1.0\n");
  other.write("twice/__init__.py", "one");
  auto tree = open("twice");
  EXPECT_EQ(text_of(*tree, "twice/__init__.py"), "two");
  EXPECT_THAT(skips_of(*tree), ElementsAre("twice-1.0.dist-info: a further installation, at " +
                                           other / "twice-1.0.dist-info"));
}

TEST_F(InstalledTreeTest, MetadataWithoutCode) {
  install("gone", "1.0", "gone/__init__.py,,\n");
  EXPECT_THAT(skips_of(*open("gone")), ElementsAre("gone: belongs to the distribution, but is not found"));
}

TEST_F(InstalledTreeTest, NoisyStartUpDoesNoHarm) {
  env_.write(site_ + "noise.pth", "import sys; print('assay-probe:{}'); print('noise')\n");
  env_.write(site_ + "loose/__init__.py", "");
  EXPECT_THAT(paths_of(*open("loose")), ElementsAre("loose/__init__.py"));
}

TEST_F(InstalledTreeTest, WhatIsNotThere) {
  auto error = [](const std::string& python, const std::string& name) {
    auto tree = open_installed(python, name, "installed:P");
    return tree ? "no error" : tree.error().message;
  };
  EXPECT_THAT(error(python_, "no_such"), StartsWith("installed:P: 'no_such' is not installed for Python 3."));
  EXPECT_THAT(error(python_, "no_such"), HasSubstr(" at " + python_));
  EXPECT_EQ(error("no-such-python", "x"), "installed:P: no-such-python: program not found");
  EXPECT_EQ(error("true", "x"), "installed:P: true is not a Python interpreter");
  EXPECT_THAT(error("false", "x"), StartsWith("installed:P: false failed: "));
}

}  // namespace
}  // namespace assay
