#include "review/config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "review/glob.h"

namespace assay {
namespace {

Config good(std::string_view text) {
  auto config = parse_config(text, "assay.toml");
  EXPECT_TRUE(config) << config.error().message;
  return config ? *config : Config{};
}

std::string error_of(std::string_view text) {
  auto config = parse_config(text, "assay.toml");
  return config ? "" : config.error().message;
}

Finding finding(std::string rule, Level level, std::string file) {
  Finding f;
  f.rule = std::move(rule);
  f.symbol = "s";
  f.level = level;
  f.location = {"plugin", std::move(file), 1, 1, 0, 0, ""};
  return f;
}

TEST(Config, ReadsEverything) {
  Config config = good(R"(
platform = "metax"
fail-on = "warning"
exclude = ["tests", "**/gen_*.py"]
[levels]
removed-hook = "error"
undefined-name = "off"
[[path]]
glob = "demo/legacy/**"
levels = { missing-symbol = "note" }
)");
  EXPECT_EQ(config.name, "assay.toml");
  EXPECT_EQ(config.platform, "metax");
  EXPECT_EQ(config.fail_on, Level::kWarning);
  EXPECT_EQ(config.exclude, (std::vector<std::string>{"tests", "**/gen_*.py"}));
  EXPECT_EQ(config.levels.at("removed-hook"), Level::kError);
  EXPECT_EQ(config.levels.at("undefined-name"), std::nullopt);
  ASSERT_EQ(config.paths.size(), 1u);
  EXPECT_EQ(config.paths[0].globs, std::vector<std::string>{"demo/legacy/**"});
  EXPECT_EQ(config.paths[0].levels.at("missing-symbol"), Level::kNote);
}

TEST(Config, ErrorsNameThePlaceAndWhatWasMeant) {
  EXPECT_EQ(error_of("[level]\n"), "assay.toml:1:2: unknown key 'level'; did you mean 'levels'?");
  EXPECT_EQ(error_of("\nzzz = 1\n"), "assay.toml:2:1: unknown key 'zzz'");
  EXPECT_EQ(error_of("[levels]\nmissing-symbl = \"note\"\n"),
            "assay.toml:2:1: unknown rule 'missing-symbl'; did you mean 'missing-symbol'?");
  EXPECT_EQ(error_of("[levels]\nmissing-symbol = \"fatal\"\n"),
            "assay.toml:2:18: 'missing-symbol' takes error, warning, note or off, not 'fatal'");
  EXPECT_EQ(error_of("[levels]\nmissing-symbol = false\n"),
            "assay.toml:2:18: 'missing-symbol' takes a string");
  EXPECT_EQ(error_of("levels = 3\n"), "assay.toml:1:10: 'levels' takes a table");
  EXPECT_EQ(error_of("fail-on = \"off\"\n"),
            "assay.toml:1:11: 'fail-on' takes error, warning or note, not 'off'");
  EXPECT_EQ(error_of("exclude = 1\n"), "assay.toml:1:11: 'exclude' takes a string or an array of strings");
  EXPECT_EQ(error_of("exclude = [1]\n"), "assay.toml:1:12: 'exclude' takes a string");
  EXPECT_EQ(error_of("[path]\nglob = \"x\"\n"), "assay.toml:1:1: 'path' is written as [[path]]");
  EXPECT_EQ(error_of("[[path]]\nlevels = {}\n"), "assay.toml:1:1: a [[path]] needs a 'glob'");
  EXPECT_EQ(error_of("[[path]]\nglobs = \"x\"\n"),
            "assay.toml:2:1: unknown key 'globs'; did you mean 'glob'?");
}

TEST(Config, WhatIsNoTomlIsAnErrorWithItsPlace) {
  EXPECT_EQ(error_of("a = \n").substr(0, 17), "assay.toml:1:5: E");
  EXPECT_NE(error_of("a = \"\xff\"\n"), "");
  EXPECT_NE(error_of(std::string(5000, '[')), "");
}

TEST(Config, IsLookedForBesideThePlugin) {
  auto folder = std::filesystem::temp_directory_path() / ("assay-config-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  EXPECT_EQ(load_config("", folder.string())->name, "");
  std::ofstream(folder / "assay.toml") << "platform = \"a\"\n";
  std::ofstream(folder / "other.toml") << "platform = \"b\"\n";
  EXPECT_EQ(load_config("", folder.string())->platform, "a");
  EXPECT_EQ(load_config("", folder.string() + "/assay.toml")->platform, "")
      << "no folder: an archive, for instance";
  EXPECT_EQ(load_config((folder / "other.toml").string(), folder.string())->platform, "b");
  EXPECT_EQ(load_config("/nowhere/assay.toml", "").error().message,
            "cannot read the configuration /nowhere/assay.toml");
  EXPECT_EQ(load_config("/tmp", "").error().message, "the configuration /tmp is a directory");
  std::filesystem::remove_all(folder);
}

TEST(Levels, LaterAndNarrowerWins) {
  Config config = good(R"(
[levels]
missing-symbol = "warning"
[[path]]
glob = "a"
levels = { missing-symbol = "note" }
[[path]]
glob = "a/b.py"
levels = { missing-symbol = "error" }
)");
  Report report;
  report.findings = {
      finding("missing-symbol", Level::kError, "x.py"), finding("missing-symbol", Level::kError, "a/c.py"),
      finding("missing-symbol", Level::kError, "a/b.py"), finding("return-arity", Level::kError, "a/b.py")};
  apply_levels(report, config);
  EXPECT_EQ(report.findings[0].level, Level::kWarning);
  EXPECT_EQ(report.findings[1].level, Level::kNote);
  EXPECT_EQ(report.findings[2].level, Level::kError);
  EXPECT_EQ(report.findings[3].level, Level::kError);
}

TEST(Levels, WhatNothingReachesIsNotRaised) {
  Config config = good("[levels]\nmissing-symbol = \"error\"\nremoved-hook = \"error\"\n");
  Report report;
  report.findings = {finding("missing-symbol", Level::kNote, "x.py"),
                     finding("removed-hook", Level::kWarning, "x.py")};
  apply_levels(report, config);
  EXPECT_EQ(report.findings[0].level, Level::kNote);
  EXPECT_EQ(report.findings[1].level, Level::kError);
}

TEST(Levels, OffIsToldAsNotAnalysed) {
  Config config = good(
      "[levels]\nmissing-symbol = \"off\"\n[[path]]\nglob = \"a\"\nlevels = { return-arity = \"off\" }\n");
  Report report;
  report.findings = {finding("missing-symbol", Level::kError, "x.py"),
                     finding("return-arity", Level::kError, "x.py")};
  apply_levels(report, config);
  ASSERT_EQ(report.findings.size(), 1u);
  ASSERT_EQ(report.unknown.size(), 2u);
  EXPECT_EQ(report.unknown[0].what, "missing-symbol");
  EXPECT_EQ(report.unknown[0].reason, "rule turned off in assay.toml");
  EXPECT_EQ(report.unknown[1].what, "return-arity in a");
}

TEST(Failures, OpenFindingsFromTheLevelOn) {
  Report report;
  report.command = "check";
  report.findings = {finding("missing-symbol", Level::kWarning, "x.py")};
  EXPECT_FALSE(has_failures(report, Level::kError));
  EXPECT_TRUE(has_failures(report, Level::kWarning));
  EXPECT_TRUE(has_failures(report, Level::kNote));
  report.findings[0].state = FindingState::kUnchanged;
  EXPECT_TRUE(has_failures(report, Level::kNote));
  report.command = "compare";
  EXPECT_FALSE(has_failures(report, Level::kNote)) << "only what the new target breaks";
  for (FindingState closed : {FindingState::kFixed, FindingState::kSuppressed}) {
    report.findings[0].state = closed;
    EXPECT_FALSE(has_failures(report, Level::kNote));
  }
}

TEST(Glob, WithinAndAcrossFolders) {
  EXPECT_TRUE(glob_match("a/*.py", "a/x.py"));
  EXPECT_FALSE(glob_match("a/*.py", "a/b/x.py"));
  EXPECT_TRUE(glob_match("a/**/x.py", "a/x.py"));
  EXPECT_TRUE(glob_match("a/**/x.py", "a/b/c/x.py"));
  EXPECT_TRUE(glob_match("**/x_?.py", "b/x_1.py"));
  EXPECT_TRUE(glob_match("a", "a/b/x.py"));
  EXPECT_TRUE(glob_match("./a/", "a/x.py"));
  EXPECT_TRUE(glob_match("a/**", "a/x.py"));
  EXPECT_TRUE(glob_match("**", "x.py"));
  EXPECT_FALSE(glob_match("a", "ab/x.py"));
  EXPECT_FALSE(glob_match("x.py", "a/x.py"));
  EXPECT_FALSE(glob_match("", "x.py"));
  EXPECT_TRUE(glob_match("a/[xy].py", "a/y.py"));
}

TEST(Glob, ManyStarsAreNoTrouble) {
  std::string pattern, path;
  for (int i = 0; i < 200; ++i) pattern += "**/", path += "a/";
  EXPECT_FALSE(glob_match(pattern + "x", path + "y"));
}

}  // namespace
}  // namespace assay
