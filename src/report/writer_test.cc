// Each writer against a golden file in testdata/; UPDATE_GOLDEN=1 writes them anew.
#include "report/writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace assay {
namespace {

Location at(std::string tree, std::string file, uint32_t line, uint32_t column, uint32_t end,
            std::string text) {
  return {std::move(tree), std::move(file), line, column, 0, end, std::move(text)};
}

Finding moved_symbol() {
  Finding f;
  f.rule = "missing-symbol";
  f.message = "`vllm.attention.ops` has no `flash_mla`; it moved to `vllm.v1.attention.ops`";
  f.symbol = "vllm.attention.ops.flash_mla";
  f.location = at("plugin", "demo/attention.py", 12, 32, 41, "from vllm.attention.ops import flash_mla");
  f.expected = "a name of `vllm.attention.ops`";
  f.observed = "no such name in vllm 0.26.0";
  f.trigger = "demo.register() imports demo.attention";
  f.sites = {{at("plugin", "demo/attention.py", 40, 5, 0, ""), FindingState::kIntroduced, ""},
             {at("plugin", "demo/other.py", 3, 0, 0, ""), FindingState::kFixed, ""}};
  f.related = {{at("target", "vllm/v1/attention/ops.py", 107, 5, 14, "def flash_mla(q, k):"),
                "vllm.v1.attention.ops.flash_mla", "stands here now"}};
  f.group = "missing-symbol:vllm.attention.ops.flash_mla";
  f.fix = "import it from `vllm.v1.attention.ops`";
  return f;
}

Finding same_cause_elsewhere() {
  Finding f = moved_symbol();
  f.location = at("plugin", "demo/mla.py", 2, 32, 41, "from vllm.attention.ops import flash_mla");
  f.sites.clear();
  f.related.clear();
  f.trigger.clear();
  return f;
}

Finding wrong_call() {
  Finding f;
  f.rule = "call-unknown-argument";
  f.level = Level::kWarning;
  f.message = "`build` takes no argument `__fast__`";
  f.symbol = "vllm.v1.Builder.build";
  f.evidence = EvidenceLevel::kRuntimeReproduced;
  f.location = at("plugin", "demo/attention.py", 7, 2, 0, "\tbuild(a | b, __fast__=True)  # 注释");
  f.limits = {"the graph mode was not run"};
  f.repro = {"python -c 'import demo'", "TypeError: <lambda>", ""};
  f.attribution = {"regression", "the base has the argument"};
  f.related = {{at("flash_attn", "flash_attn/api.py", 3, 0, 0, ""), "flash_attn.build", ""}};
  return f;
}

Finding broken_file() {
  Finding f;
  f.rule = "syntax-error";
  f.level = Level::kNote;
  f.message = "invalid syntax";
  f.symbol = "demo.old";
  f.location = at("plugin", "demo/old.py", 0, 0, 0, "");
  return f;
}

Report sample(std::string command) {
  Report r;
  r.command = std::move(command);
  r.tool_version = "0.1.0";
  r.inputs = {{"plugin", "demo", ".", "directory", "1.2", "", ""},
              {"target", "vllm", "vllm.whl", "wheel", "0.26.0", "", ""},
              {"component", "flash_attn", "fa", "directory", "", "0123456789abcdef", ""}};
  r.findings = {wrong_call(), moved_symbol(), same_cause_elsewhere(), broken_file()};
  r.files = {{"demo/__init__.py",
              "active",
              "entry point demo:register",
              {{4, "from . import ops", {"custom-op a", "custom-op b"}}}},
             {"demo/huge.py", "skipped", "larger than 64 MB", {}},
             {"demo/old.py", "inactive", "nothing imports it", {}}};
  for (uint32_t line = 1; line <= 4; ++line)
    r.unknown.push_back(
        {"getattr(x, name)", "the name is computed", at("plugin", "demo/dyn.py", line, 1, 0, "")});
  r.unknown.push_back({"flash_mla", "component not given", {}});
  r.stats.files = 7;
  r.stats.wall_seconds = 0.414;
  return r;
}

Report inventory() {
  Report r = sample("inventory");
  r.inventory = {{"attention-backend",
                  "FLASH_ATTN",
                  "active",
                  "",
                  {"demo:register", "demo/__init__.py:4"},
                  "demo.Flash",
                  "vllm.v1.Flash",
                  "changed",
                  "",
                  "",
                  EvidenceLevel::kSourceInspected,
                  at("plugin", "demo/attention.py", 20, 1, 0, "")},
                 {"custom-op",
                  "silu",
                  "dead",
                  "current_platform.is_cuda() | x",
                  {},
                  "demo.ops.Silu",
                  "",
                  "",
                  "",
                  "",
                  EvidenceLevel::kSourceInspected,
                  at("plugin", "demo/ops.py", 3, 1, 0, "")},
                 {"custom-op",
                  "gelu_and_mul",
                  "active",
                  "",
                  {},
                  "demo.ops.Gelu",
                  "vllm.Gelu",
                  "identical",
                  "",
                  "",
                  EvidenceLevel::kSourceInspected,
                  at("plugin", "demo/ops.py", 9, 1, 0, "")}};
  return r;
}

Report comparison() {
  Report r = sample("compare");
  r.findings[0].state = FindingState::kFixed;
  r.findings[3].state = FindingState::kUnchanged;
  r.inputs.push_back({"base", "vllm", "old", "revision", "", "fedcba9876543210", ""});
  return r;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void expect_golden(const std::string& name, const std::string& text) {
  std::string path = std::string(ASSAY_SOURCE_DIR) + "/src/report/testdata/" + name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(text, read_file(path)) << "differs from " << path;
}

TEST(Writers, ConciseCheck) { expect_golden("check.concise", write_concise(sample("check"), {})); }
TEST(Writers, FullCheck) { expect_golden("check.full", write_full(sample("check"), {})); }
TEST(Writers, FullCheckInColour) {
  expect_golden("check.colour", write_full(sample("check"), {.colour = true, .stats = false}));
}
TEST(Writers, MarkdownCheck) { expect_golden("check.md", write_markdown(sample("check"), {})); }
TEST(Writers, ConciseInventory) { expect_golden("inventory.concise", write_concise(inventory(), {})); }
TEST(Writers, FullInventory) { expect_golden("inventory.full", write_full(inventory(), {})); }
TEST(Writers, MarkdownInventory) { expect_golden("inventory.md", write_markdown(inventory(), {})); }
TEST(Writers, ConciseCompare) { expect_golden("compare.concise", write_concise(comparison(), {})); }
TEST(Writers, FullCompare) { expect_golden("compare.full", write_full(comparison(), {})); }
TEST(Writers, MarkdownCompare) { expect_golden("compare.md", write_markdown(comparison(), {})); }

TEST(Writers, NothingFound) {
  Report r;
  r.command = "check";
  EXPECT_EQ(write_concise(r, {}),
            "Not analysed: nothing was left out\n0 errors, 0 warnings, 0 notes; 0 files parsed\n");
}

TEST(Writers, AnInputWithoutANameIsCalledAsTheUserCalledIt) {
  Report r;
  r.command = "inventory";
  r.inputs = {{"plugin", "", "./demo@v1", "revision", "", "abc", ""},
              {"target", "", "../vllm", "directory", "", "", ""}};
  EXPECT_EQ(write_full(r, {}),
            "No registration was found.\n\nNot analysed: nothing was left out\n\n./demo@v1 against ../vllm\n"
            "0 registrations in 0 files; 0 files parsed\n");
}

TEST(Writers, AnIncompleteRunSaysSo) {
  Report r;
  r.command = "check";
  r.incomplete = "time limit of 10 s";
  for (const Format& format : all_formats())
    EXPECT_NE(format.write(r, {}).find("time limit of 10 s"), std::string::npos) << format.name;
}

TEST(Writers, Statistics) {
  Report r = sample("check");
  r.findings.clear();
  r.files.clear();
  r.unknown.clear();
  r.stats.bytes = 3'450'000;
  r.stats.names_decided = 98;
  r.stats.names_undecided = 2;
  r.stats.cache_hits = 5;
  r.stats.seconds = {{"read", 0.0123}, {"bind", 12.5}};
  r.stats.findings_per_rule = {{"missing-symbol", 12}};
  r.stats.seconds_per_rule = {{"calls", 0.25}, {"imports", 0.5}};
  expect_golden("stats.concise", write_concise(r, {.colour = false, .stats = true}));
}

TEST(Writers, HostileTextCannotDriveATerminal) {
  Report r = sample("check");
  r.findings.resize(1);
  r.findings[0].message = "a\x1b[2Jb\n::error::c";
  r.findings[0].location.file = "x\x1b]0;y.py";
  r.findings[0].location.text = "z = '\x1b[31m\xff'";
  for (const Format& format : all_formats()) {
    std::string text = format.write(r, {});
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << format.name;
    EXPECT_EQ(text.find("\n::error"), std::string::npos) << format.name;
  }
}

TEST(Writers, APullRequestTakesTheMarkdown) {
  Report r = sample("check");
  r.findings.assign(500, moved_symbol());
  std::string text = write_markdown(r, {});
  EXPECT_LT(text.size(), 65'000u);
  EXPECT_NE(text.find(" of 500 findings are shown"), std::string::npos);
}

TEST(Writers, FormatsAreFoundByName) {
  EXPECT_EQ(find_format("markdown")->write, write_markdown);
  EXPECT_EQ(find_format("yaml"), nullptr);
}

}  // namespace
}  // namespace assay
