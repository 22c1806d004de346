// The records of preflight and startup as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/preflight_text.h"
#include "report/startup_text.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PreflightText, BrokenImportsAndWhatCorresponds) {
  PreflightRecord r;
  r.interpreter = {{"executable", "/v/bin/python"}, {"version", "3.12"}};
  r.variables = {{"HF_TOKEN", true}, {"VIRTUAL_ENV", false}};
  OriginRow broken;
  broken.module = "flash_mla";
  broken.role = "component";
  broken.kind = "extension";
  broken.found = "/v/flash_mla.so";
  broken.fault = "ended by SIGSEGV";
  broken.why = "it needs a symbol\x1b[31m";
  OriginRow absent;
  absent.module = "deep_gemm";
  absent.kind = "absent";
  r.origins = {broken, absent};
  r.local = {{"plugin", ".", "directory", "p", "1", "0123456789abcdef", "clean", "m"}};
  Correspondence c;
  c.role = "plugin";
  c.verdict = "differs";
  c.identical = 3;
  c.changed = {"p/a.py"};
  r.correspondence = {c};
  r.confirmed = "not confirmed";
  const std::string text = preflight_text(r);
  EXPECT_THAT(text, HasSubstr("flash_mla (component): broken\n    would come from /v/flash_mla.so\n    ended by SIGSEGV\n    it needs a symbol\\x1b[31m\n"));
  EXPECT_THAT(text, HasSubstr("  absent: deep_gemm\n"));
  EXPECT_THAT(text, HasSubstr("  plugin: . (directory), commit 0123456789ab, clean\n    beside what is installed: differs\n    3 identical\n    1 changed: p/a.py\n"));
  EXPECT_THAT(text, HasSubstr("HF_TOKEN"));
  EXPECT_THAT(text, Not(HasSubstr("VIRTUAL_ENV")));
  EXPECT_THAT(text, HasSubstr("`assay preflight --confirm` confirms it"));
}

TEST(StartupText, WhatWasLost) {
  StartupRecord r;
  r.steps = {{"general plugins", 1.5, "", ""}};
  Swallowed lost;
  lost.type = "ModuleNotFoundError";
  lost.message = "No module named 'gguf'";
  lost.raised = "p/x.py:9 in <module>";
  lost.caught = "vllm/plugins/__init__.py:69 in load_plugins_by_group";
  lost.whose = "plugin";
  lost.lost = "an entry point of the plugin";
  Swallowed other;
  other.whose = "vllm";
  r.swallowed = {lost, other};
  r.rows = {{"quantization-config", "gguf", "p.Config", "", "", "absent", "KeyError: 'gguf'", ""}};
  r.changes = {{"vllm.m.f", "callable vllm.m.f", "callable p.f", "p.py:1", true, "", {}, {"vllm.n.f"}}};
  r.unstaged = {"p/helper.py"};
  EXPECT_FALSE(r.sound());
  const std::string text = startup_text(r);
  EXPECT_THAT(text, HasSubstr("ModuleNotFoundError: No module named 'gguf'; lost by it: an entry point of the plugin\n    raised at p/x.py:9"));
  EXPECT_THAT(text, HasSubstr("1 more within vLLM itself"));
  EXPECT_THAT(text, HasSubstr("source beside process: 1 absent"));
  EXPECT_THAT(text, HasSubstr("found only by running; still the old one in vllm.n.f"));
  EXPECT_THAT(text, HasSubstr("Only in the working tree, not staged: 1\n  p/helper.py\n"));
  EXPECT_THAT(text, HasSubstr("Start-up on no platform: not clean"));
}

}  // namespace
}  // namespace assay
