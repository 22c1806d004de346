// The program itself: what it says on a wrong command line, and its exit codes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

namespace fs = std::filesystem;

struct Result {
  int status = -1;
  std::string text;  // standard output and error together
};

// `arguments` as a shell reads them; "$assay" is the program.
Result shell(const std::string& line) {
  std::string command = "assay='" ASSAY_BINARY "'; exec 2>&1; " + line;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  Result result;
  char buffer[4096];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) result.text.append(buffer, n);
  int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

Result assay(const std::string& arguments) { return shell("\"$assay\" " + arguments); }

void expect(const std::string& arguments, int status, const std::string& text) {
  Result result = assay(arguments);
  EXPECT_EQ(result.status, status) << arguments;
  EXPECT_EQ(result.text, text) << arguments;
}

class Folder : public testing::Test {
 protected:
  Folder() : path_(fs::temp_directory_path() / ("assay-cli-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() override { fs::remove_all(path_); }

  std::string file(const std::string& name, const std::string& text) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::string read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(path_ / name).rdbuf();
    return text.str();
  }
  std::string at(const std::string& name) { return (path_ / name).string(); }
  size_t files() {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

  fs::path path_;
};

TEST(Validate, PrintsItsSuitesAndNamesWhatItDoesNotKnow) {
  Result smoke = assay("validate --cases --family merge.states");
  EXPECT_EQ(smoke.status, 0);
  EXPECT_EQ(smoke.text.rfind("merge.states seed=1\n", 0), 0u) << smoke.text;
  Result full = assay("validate --cases --family merge.states --tier full");
  EXPECT_EQ(full.text.rfind(smoke.text, 0), 0u) << full.text;
  EXPECT_GT(full.text.size(), 10 * smoke.text.size());
  expect("validate --cases --tier fast", 2, "assay: unknown tier 'fast'\n");
  expect("validate --cases --family merge.state", 2,
         "assay: merge.state: no such family; did you mean merge.states?\n");
}

TEST(CommandLine, MistakesAreNamedAndEndWith2) {
  expect("", 2, "assay: no command given; assay --help lists them\n");
  expect("chek", 2, "assay: unknown command 'chek'; did you mean 'check'?\n");
  expect("--nope", 2, "assay: unknown option '--nope'\n");
  expect("check", 2, "assay: no target given: name the vLLM that the plugin must fit with --target\n");
  expect("check --target x --formt json", 2, "assay: unknown option '--formt'; did you mean '--format'?\n");
  expect("check --target x --targt=y", 2, "assay: unknown option '--targt'; did you mean '--target'?\n");
  expect("check --target x --format jsn", 2, "assay: unknown format 'jsn'; did you mean 'json'?\n");
  expect("check --target x y", 2, "assay: 'y' is one argument too many for check\n");
  expect("check --target x --fail-on never", 2,
         "assay: --fail-on takes error, warning or note, not 'never'; --exit-zero never fails\n");
  expect("check --target x --component fa", 2, "assay: --component takes NAME=SPEC, not 'fa'\n");
  expect("check --target x --component fa=y", 2,
         "assay: --component: components are not analysed yet; leave it out to review the plugin against vLLM alone\n");
  expect("check --target x --plugin-base y", 2,
         "assay: --plugin-base: an earlier plugin is not compared with yet; leave it out\n");
  expect("check --target x --reach some", 2, "assay: --reach takes entry-points or all, not 'some'\n");
  expect("check --target x -j 5000", 2, "assay: --jobs takes at most 1024\n");
  expect("check --target x --config /nowhere.toml", 2,
         "assay: cannot read the configuration /nowhere.toml\n");
  expect("check --target x --output /nowhere/r", 2,
         "assay: cannot write /nowhere/r: No such file or directory\n");
  expect("check --target x --output /", 2, "assay: cannot write /: Is a directory\n");
  expect("cache clea", 2, "assay: unknown cache action 'clea'; did you mean 'clear'?\n");
}

TEST(CommandLine, WhatIdentityIsToImportHasToBeThere) {
  expect("identity json.dumps --import no_such_module", 2,
         "assay: import no_such_module: ModuleNotFoundError: No module named 'no_such_module'\n");
}

TEST(CommandLine, AnUnwritableOutputIsSaidFirst) {
  expect("validate --cases --output /no/such/folder", 2, "assay: cannot write /no/such/folder: No such file or directory\n");
}

TEST_F(Folder, AnInterpreterThatSaysNothingIsEndedByAnInterrupt) {
  fs::permissions(file("sleeper", "#!/bin/sh\necho $$ > '" + at("pid") + "'\nexec sleep 300\n"), fs::perms::owner_all);
  Result result = shell("TMPDIR='" + at("") + "' timeout -s INT 1 \"$assay\" identity json.dumps --python '" + at("sleeper") +
                        "'; for i in $(seq 50); do kill -0 $(cat '" + at("pid") + "') 2>/dev/null || exit 0; sleep 0.1; done; exit 1");
  EXPECT_EQ(result.status, 0) << "the interpreter is still there";
  result = shell("timeout --foreground -s TERM 1 \"$assay\" check --no-cache --plugin '" + at("") + "' --target 'installed:" + at("sleeper") +
                 "'; for i in $(seq 50); do kill -0 $(cat '" + at("pid") + "') 2>/dev/null || exit 0; sleep 0.1; done; exit 1");
  EXPECT_EQ(result.status, 0) << "the interpreter that was asked for vllm is still there";
  EXPECT_EQ(shell("ls -d '" + at("") + "'assay-worker-*").status, 2) << "its folder is still there";
}

TEST(CommandLine, HelpAndVersionEndWith0) {
  for (const char* arguments : {"--help", "check --help", "version", "--version"}) {
    Result result = assay(arguments);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_NE(result.text, "") << arguments;
  }
  EXPECT_EQ(assay("version").text.substr(0, 6), "assay ");
}

TEST(CommandLine, RulesAreListedByTheirFirstWord) {
  Result result = assay("rules");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.text.substr(0, result.text.find(' ')), "missing-module");
  EXPECT_EQ(assay("rules --format json").text.substr(0, 17), "[\n {\n  \"name\": \"m");
  EXPECT_EQ(assay("rules --format full").text, "assay: unknown format 'full'\n");
}

TEST(CommandLine, EveryRuleIsExplained) {
  Result result =
      shell("\"$assay\" rules | while read rule rest; do \"$assay\" explain \"$rule\" | head -1; done");
  EXPECT_EQ(result.text.find("unknown rule"), std::string::npos);
  EXPECT_NE(result.text.find("missing-symbol: error by default, source-inspected\n"), std::string::npos);
  expect("explain missing-symbl", 2, "assay: unknown rule 'missing-symbl'; did you mean 'missing-symbol'?\n");
}

TEST(Writing, AFullDiskEndsWith3) {
  Result result = shell("\"$assay\" rules > /dev/full");
  EXPECT_EQ(result.status, 3);
  result = assay("rules --output /dev/full");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.text, "assay: cannot write /dev/full: No space left on device\n");
}

TEST(Writing, AReaderThatGoesAwayIsNoError) {
  Result result = shell(
      "( \"$assay\" rules; echo \"status $?\" >&2 ) 2>&1 >&- | true; { \"$assay\" rules; echo $? >&2; } | "
      "true");
  EXPECT_NE(result.text.find("0\n"), std::string::npos);
  EXPECT_EQ(result.text.find("internal"), std::string::npos);
}

// Neither where it says so nor where it prints may be taken over by a file of its own.
TEST(Writing, AClosedStreamIsNoCrash) {
  EXPECT_EQ(shell("\"$assay\" chek 2>&-").status, 2);
  EXPECT_EQ(shell("\"$assay\" chek 2>/dev/full").status, 2);
  EXPECT_EQ(shell("\"$assay\" chek <&- >&- 2>&-").status, 2);
  Result result = shell("\"$assay\" rules >&-");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.text, "assay: cannot write to standard output: Bad file descriptor\n");
  EXPECT_EQ(shell("\"$assay\" identity json.dumps <&- >&-").status, 3);
}

TEST_F(Folder, OutputIsThereWholeOrNotAtAll) {
  file("old.json", "old");
  fs::create_symlink("old.json", at("link.json"));
  expect("rules --format json --output " + at("new.json"), 0, "");
  EXPECT_EQ(read("new.json"), assay("rules --format json").text);
  // A size limit stands for a full disk: nothing is left of the new file, and the old one stays.
  Result result = shell("trap '' XFSZ; ulimit -f 0; \"$assay\" rules --output " + at("old.json"));
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.text, "assay: cannot write " + at("old.json") + ": File too large\n");
  EXPECT_EQ(read("old.json"), "old");
  EXPECT_EQ(files(), 3u);
  expect("rules --output " + at("link.json"), 0, "");
  EXPECT_TRUE(fs::is_symlink(at("link.json")));
  EXPECT_EQ(read("old.json"), assay("rules").text);
}

TEST_F(Folder, AnInterruptEndsWith130) {
  // Opening a pipe that nobody writes to waits.
  std::string line = "mkfifo " + at("config") + "; \"$assay\" check --target x --config " + at("config") +
                     " --output " + at("report") + " & sleep 0.3; kill -TERM $!; wait $!";
  Result result = shell(line);
  EXPECT_EQ(result.status, 130);
  EXPECT_EQ(files(), 1u);
}

TEST_F(Folder, ConfigurationOfThePluginIsRead) {
  file("plugin/assay.toml", "[levels]\nmissing-symbl = \"note\"\n");
  expect("check --target x --plugin " + at("plugin"), 2,
         "assay: " + at("plugin/assay.toml") +
             ":2:1: unknown rule 'missing-symbl'; did you mean 'missing-symbol'?\n");
}

TEST_F(Folder, CacheIsShownAndEmptied) {
  file("cache/facts.db", "1234");
  file("cache/other", "x");
  expect("cache --cache-dir " + at("cache"), 0, at("cache") + ": 1 file, 0.0 MB\n");
  expect("cache clear --cache-dir " + at("cache"), 0, "removed 1 file\n");
  EXPECT_TRUE(fs::exists(at("cache/other")));
  expect("cache --cache-dir " + at("none"), 0, at("none") + ": 0 files, 0.0 MB\n");
}

// A plugin that imports something its target does not have.
TEST_F(Folder, FindingsEndWith1) {
  file("target/vllm/__init__.py", "");
  file("target/vllm/ops.py", "def kept(): pass\n");
  file("plugin/demo/__init__.py", "from vllm.ops import gone\n");
  std::string arguments =
      "check --plugin " + at("plugin") + " --target " + at("target") + " --no-cache --format concise";
  Result result = assay(arguments);
  if (result.text.find("not built yet") != std::string::npos) GTEST_SKIP() << "the engine is not there yet";
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.text.find("demo/__init__.py:1:"), std::string::npos);
  EXPECT_NE(result.text.find("error[missing-symbol]"), std::string::npos);
  EXPECT_EQ(assay(arguments + " --exit-zero").status, 0);
  file("plugin/assay.toml", "[levels]\nmissing-symbol = \"warning\"\n");
  EXPECT_EQ(assay(arguments).status, 0);
  EXPECT_EQ(assay(arguments + " --fail-on warning").status, 1);
  Result compared =
      assay("compare " + at("target") + " " + at("target") + " --no-cache --plugin " + at("plugin"));
  EXPECT_EQ(compared.status, 0) << "the base has the same fault";
}

}  // namespace
