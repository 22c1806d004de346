#include "model/json.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

Location place(std::string tree, std::string file, uint32_t line, uint32_t column, std::string text) {
  Location out;
  out.tree = std::move(tree);
  out.file = std::move(file);
  out.line = line;
  out.column = column;
  out.text = std::move(text);
  return out;
}

Report full_report() {
  Report r;
  r.command = "check";
  r.tool_version = "0.1.0";
  r.inputs = {{"plugin", "demo", "./demo", "directory", "1.0", "abc", ""},
              {"target", "vllm", "vllm.whl", "wheel", "0.26.0", "", "ff00"},
              {"plugin-base", "demo", "./demo@v0", "revision", "", "def", ""},
              {"component", "flash_attn", "installed:python", "installed", "2.8", "", ""}};
  r.platform = "metax";
  r.incomplete = "time limit";
  Finding f;
  f.rule = "missing-symbol";
  f.level = Level::kWarning;
  f.message = "say \"hé\"";
  f.symbol = "vllm.x.Y";
  f.evidence = EvidenceLevel::kRuntimeReproduced;
  f.trigger = "t";
  f.expected = "e";
  f.observed = "o";
  f.repro = {"python -c 'import x'", "ImportError", "log.txt"};
  f.limits = {"l1", "l2"};
  f.attribution = {"regression", "why"};
  f.fingerprint = "0123";
  f.state = FindingState::kMasked;
  f.blocked_by = {"4567"};
  f.location = place("plugin", "a/b.py", 3, 5, "from vllm.x import Y");
  f.location.end_line = 4;
  f.location.end_column = 9;
  f.sites = {{place("plugin", "a/b.py", 8, 1, "Y()"), FindingState::kFixed, "89ab"}};
  f.related = {{place("target", "vllm/x.py", 1, 1, "class Z:"), "vllm.x.Z", "renamed"}};
  f.supports = {"claim-1"};
  f.group = "missing-symbol:vllm.x.Y";
  f.fix = "import Z";
  r.findings = {f};
  r.inventory = {{"custom-op",
                  "silu",
                  "conditional",
                  "if x",
                  {"e1", "e2"},
                  "demo.Silu",
                  "vllm.Silu",
                  "changed",
                  "retain",
                  "untested",
                  EvidenceLevel::kSignatureChecked,
                  place("plugin", "ops.py", 7, 1, "")}};
  r.files = {{"ops.py", "active", "demo/__init__.py:1", {{4, "from .y import z", {"custom-op silu"}}}}};
  r.unknown = {{"getattr(x, name)", "computed name", place("plugin", "ops.py", 9, 1, "")},
               {"rule x", "off", {}}};
  r.stats.files = 12;
  r.stats.bytes = 5'000'000'000;
  r.stats.names_decided = 3;
  r.stats.names_undecided = 1;
  r.stats.calls_bound = 4;
  r.stats.calls_unbound = 2;
  r.stats.cache_hits = 5;
  r.stats.cache_misses = 6;
  r.stats.wall_seconds = 0.75;
  r.stats.seconds = {{"parse", 0.5}, {"bind", 0.25}};
  r.stats.findings_per_rule = {{"missing-symbol", 1}};
  r.stats.seconds_per_rule = {{"missing-symbol", 0.125}};
  return r;
}

std::string error_of(std::string_view text) {
  auto read = report_from_json(text, "old.json");
  return read ? "" : read.error().message;
}

TEST(Json, RoundTripKeepsEveryField) {
  std::string text = report_to_json(full_report());
  auto read = report_from_json(text, "r.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_to_json(*read), text);
  for (const char* kept : {"time limit", "4567", "89ab", "claim-1", "ImportError", "from .y import z",
                           "5000000000", "plugin_base"})
    EXPECT_NE(text.find(kept), std::string::npos) << kept;
}

TEST(Json, ReadsWhatItWrote) {
  Report read = *report_from_json(report_to_json(full_report()), "r.json");
  EXPECT_EQ(read.inputs.size(), 4u);
  EXPECT_EQ(read.inputs[2].role, "plugin-base");
  EXPECT_EQ(read.findings[0].state, FindingState::kMasked);
  EXPECT_EQ(read.findings[0].location.end_column, 9u);
  EXPECT_EQ(read.findings[0].sites[0].state, FindingState::kFixed);
  EXPECT_EQ(read.findings[0].related[0].location.text, "class Z:");
  EXPECT_EQ(read.files[0].losses[0].line, 4u);
  EXPECT_EQ(read.stats.seconds[1].first, "bind");
  EXPECT_EQ(read.unknown[1].location, Location{});
}

TEST(Json, ExactTextOfASmallReport) {
  Report r;
  r.command = "check";
  r.tool_version = "0.1.0";
  r.unknown = {{"f(x)", "computed", {}}};
  const char* expected = R"json({
 "schema": "assay.report/1",
 "tool": {
  "name": "assay",
  "version": "0.1.0"
 },
 "command": "check",
 "inputs": {
  "plugin": null,
  "target": null,
  "base": null,
  "plugin_base": null,
  "components": []
 },
 "platform": "",
 "incomplete": "",
 "findings": [],
 "inventory": [],
 "files": [],
 "claims": [],
 "unknown": [
  {
   "what": "f(x)",
   "reason": "computed",
   "location": null
  }
 ],
 "stats": {
  "files": 0,
  "bytes": 0,
  "names_decided": 0,
  "names_undecided": 0,
  "calls_bound": 0,
  "calls_unbound": 0,
  "cache_hits": 0,
  "cache_misses": 0,
  "wall_seconds": 0.000000,
  "seconds": {},
  "findings_per_rule": {},
  "seconds_per_rule": {}
 }
}
)json";
  EXPECT_EQ(report_to_json(r), expected);
}

TEST(Json, EndLineIsAlwaysThere) {
  Report r = full_report();
  r.findings[0].location.end_line = 0;
  EXPECT_NE(report_to_json(r).find("\"end_line\": 3"), std::string::npos);
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  Report r = full_report();
  r.findings[0].location.text = "x = '\xff'";
  std::string text = report_to_json(r);
  EXPECT_NE(text.find("x = '\xef\xbf\xbd'"), std::string::npos);
  EXPECT_TRUE(report_from_json(text, "r.json"));
}

TEST(Json, UnknownAndMissingFieldsAreTolerated) {
  auto read = report_from_json(
      R"({"schema": "assay.report/1", "later": {"x": 1}, "findings": [{"rule": "r", "symbol": "s", "sites": null, "new": []}]})",
      "r.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->findings[0].symbol, "s");
}

TEST(Json, ErrorsNameTheField) {
  EXPECT_EQ(error_of("{"), "old.json is not valid JSON");
  EXPECT_EQ(error_of("[]"), "old.json is not a report: the text: expected an object, found array");
  EXPECT_EQ(error_of("{}"), "old.json is not a report: schema: expected 'assay.report/1', found ''");
  EXPECT_EQ(error_of(R"({"schema": "assay.report/2"})"),
            "old.json is not a report: schema: expected 'assay.report/1', found 'assay.report/2'");
  EXPECT_EQ(error_of(R"({"schema": "assay.report/1", "findings": {}})"),
            "old.json is not a report: findings: expected an array, found object");
  EXPECT_EQ(error_of(R"({"schema": "assay.report/1", "findings": [{"rule": "r"}]})"),
            "old.json is not a report: findings[0]: a finding needs a rule and a symbol");
  EXPECT_EQ(
      error_of(R"({"schema": "assay.report/1", "findings": [{"rule": "r", "symbol": "s", "level": "bad"}]})"),
      "old.json is not a report: findings[0].level: 'bad' is no level of this format");
  EXPECT_EQ(
      error_of(
          R"({"schema": "assay.report/1", "findings": [{"rule": "r", "symbol": "s", "location": {"line": -1}}]})"),
      "old.json is not a report: findings[0].location.line: expected a whole number, found number");
  EXPECT_EQ(
      error_of(
          R"({"schema": "assay.report/1", "findings": [{"rule": "r", "symbol": "s", "location": {"line": 5000000000}}]})"),
      "old.json is not a report: findings[0].location.line: expected a smaller number, found number");
}

TEST(Json, DeepNestingIsNoCrash) {
  std::string deep =
      R"({"schema": "assay.report/1", "x": )" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_TRUE(report_from_json(deep, "deep.json"));
  EXPECT_EQ(error_of(std::string(100000, '[')), "old.json is not valid JSON");
}

}  // namespace
}  // namespace assay
