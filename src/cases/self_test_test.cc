#include "cases/self_test.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "cases/attention_case.h"
#include "cases/cause.h"
#include "cases/shrink.h"

namespace assay::num {
namespace {

class EveryFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryFamily, KillsItsMutantsAndNoHonestKernel) {
  SelfTestOptions options;
  options.families = {GetParam()};
  const bool attention = GetParam().starts_with("attn") || GetParam().starts_with("mla");
#ifdef __SANITIZE_ADDRESS__  // ten times slower
  options.honest_cases = attention ? 2 : 30;
  options.guess_cases = attention ? 0 : 1;
#else
  options.honest_cases = attention ? 12 : 120;  // 500 and long contexts: the release build's self test, below
  options.guess_cases = 1;
#endif
  options.plain = false;
  options.longest = attention ? 256 : 4096;
  const auto r = self_test(options);
  ASSERT_TRUE(r);
  EXPECT_TRUE(r->survivors.empty()) << self_test_text(*r);
  EXPECT_TRUE(r->alarms.empty()) << self_test_text(*r);
  EXPECT_TRUE(r->errors.empty()) << self_test_text(*r);
  EXPECT_EQ(r->killed, r->mutants);
  EXPECT_GT(r->mutants, 3);
  EXPECT_LE(r->guesses_wrong * 20, r->guesses_right + r->guesses_wrong + r->guesses_unknown);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Family& f : families()) all.push_back(f.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily, ::testing::ValuesIn(names()), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(SelfTest, JsonHasTheFieldsOthersReadAndUnknownFamiliesAreNamed) {
  SelfTestOptions options;
  options.families = {"batch.split"};
  options.honest_cases = 3;
  const auto r = self_test(options);
  ASSERT_TRUE(r);
  const auto j = nlohmann::json::parse(self_test_json(*r));
  EXPECT_EQ(j["schema"], "assay.selftest/1");
  EXPECT_EQ(j["mutants"], 7);
  EXPECT_EQ(j["killed"], 7);
  EXPECT_TRUE(j["survivors"].empty());
  EXPECT_EQ(j["false_alarms"], 0);
  EXPECT_EQ(j["honest_cases"], 7);  // three random ones and four of the smoke set
  options.families = {"attn.pagde"};
  EXPECT_EQ(self_test(options).error().message, "attn.pagde: no such family; did you mean attn.paged?");
}

std::string bytes_of(const std::string& line) {
  const auto c = parse_case(line);
  const auto f = find_family(c->family());
  const auto w = (*f)->build(*c);
  Hasher h;
  for (const Input& i : (*w)->inputs())
    h.add({reinterpret_cast<const char*>(i.bytes.data()), i.bytes.size()});
  return h.hex();
}

TEST(Cases, TheSameLineMakesTheSameBytesAndAnotherSeedOthers) {
  for (const Family& f : families()) {
    if (f.name == "batch.split") continue;  // its inputs are the line itself
    const Case c(f.schema);
    const std::string line = c.print();
    EXPECT_EQ(bytes_of(line), bytes_of(line)) << line;
    EXPECT_NE(bytes_of(line), bytes_of(line + " seed=7")) << line;
  }
  // For ever: a change here breaks every recorded repro.
  EXPECT_EQ(bytes_of("attn.paged lens=33,7 q=2,1 seed=5"), "6c6421cbc5acb7fb4141618c27276f94");
}

TEST(Cases, PoisonLiesWhereNoKernelMayRead) {
  const auto c =
      build_attention_case(*parse_case("attn.paged lens=5 block=4 heads=1 dim=8 layout=gaps seed=1"));
  ASSERT_TRUE(c);
  const TensorView& k = (*c)->problem.kv.k;
  std::int64_t finite = 0, held = static_cast<std::int64_t>(k.bytes().size()) / 2;
  for (std::int64_t i = 0; i < held; ++i) finite += std::isfinite(k.load(i));
  EXPECT_EQ(finite, 5 * 8);
}

TEST(Shrink, FindsASmallCaseThatStillFails) {
  const auto c = parse_case("attn.paged lens=40,17,90 q=5,3,2 heads=8/2 window=7,0 softcap=5 seed=9");
  int calls = 0;
  const Case small = shrink(*c, [&](const Case& x) {
    ++calls;
    return x.list("q").size() == x.list("lens").size() && x.list("lens").size() >= 1 &&
           x.list("lens")[0] > 16 && x.real("softcap") > 0;
  });
  EXPECT_EQ(small.list("lens")[0], 17);
  EXPECT_TRUE(small.list("window").empty());
  EXPECT_LE(calls, 200);
  EXPECT_GT(small.real("softcap"), 0);
}

TEST(Suite, TheFullTierHoldsTheSmokeTierReportsAndLongCases) {
  for (const Family& f : families()) {
    const auto smoke = suite(f, Tier::kSmoke), full = suite(f, Tier::kFull);
    ASSERT_GE(full.size(), smoke.size() + 8) << f.name;
    for (std::size_t i = 0; i < smoke.size(); ++i) EXPECT_EQ(full[i], smoke[i]);
    for (const Case& c : full) {
      const auto again = parse_case(c.print());
      ASSERT_TRUE(again) << c.print();
      EXPECT_EQ(*again, c);
    }
  }
  const auto paged = suite(**find_family("attn.paged"), Tier::kFull);
  EXPECT_TRUE(std::any_of(paged.begin(), paged.end(), [](const Case& c) {
    return !c.list("lens").empty() && c.list("lens")[0] == 131072;
  }));
  EXPECT_EQ(parse_tier("fast"), std::nullopt);
}

// What is called earlier has the same weights and other activations.
TEST(BufferMutants, ReturnWhatAnEarlierCallLeft) {
  const Family& f = **find_family("quant.w8a8");
  const auto w = f.build(*parse_case("quant.w8a8 m=4 n=8 seed=3"));
  const auto earlier = f.build(*parse_case("quant.w8a8 m=4 n=8 call=1 seed=3"));
  const std::size_t previous = f.mutants.size() - 1, stale = f.mutants.size();
  ASSERT_EQ(f.mutants[previous - 1].name, "previous-output");
  ASSERT_EQ(f.mutants[stale - 1].name, "stale-buffer");
  const auto honest = (*w)->simulate(0, 0), before = (*earlier)->simulate(0, 0);
  EXPECT_TRUE(same_outputs((*w)->simulate(0, previous), before));
  const auto half = (*w)->simulate(0, stale);
  for (std::size_t i = 0; i < half[0].value.size(); ++i)
    EXPECT_EQ(half[0].value[i], (i < half[0].value.size() / 2 ? honest : before)[0].value[i]);
}

// Long dot products on 14-bit accumulators, in a contract that promises no more: not a pass.
TEST(SelfTest, WhatIsTooInaccurateToJudgeIsNoPass) {
  const Family& f = **find_family("attn.varlen");
  const auto fp8 = static_cast<std::size_t>(std::find(f.contracts.begin(), f.contracts.end(), "fp8-sums") -
                                            f.contracts.begin());
  const auto verdict = [&](const std::string& line, std::size_t contract) {
    const auto w = f.build(*parse_case(line));
    return judge(*(*w)->reference(contract), (*w)->simulate(contract, 0));
  };
  const Verdict vague = verdict("attn.varlen lens=64 heads=1 dim=2048 fill=peaked seed=1", fp8);
  EXPECT_TRUE(vague.passed());
  EXPECT_TRUE(vague.undecided());
  EXPECT_EQ(vague.summary().rfind("too inaccurate to judge: ", 0), 0u) << vague.summary();
  EXPECT_FALSE(verdict("attn.varlen lens=64 heads=1 dim=64 seed=1", fp8).undecided());
  EXPECT_FALSE(verdict("attn.varlen lens=64 heads=1 dim=2048 fill=peaked seed=1", 0).undecided());
}

TEST(Cause, NamesTheFaultOrSaysUnknown) {
  const auto f = find_family("attn.paged");
  const auto c = parse_case("attn.paged lens=64,5 q=3,5 heads=4/2 window=7,0 seed=3");
  const auto w = (*f)->build(*c);
  const auto refs = (*w)->reference(0);
  const auto& mutants = (*f)->mutants;
  for (std::size_t m = 0; m < mutants.size(); ++m) {
    if (mutants[m].name != "window-short" && mutants[m].name != "scale-high") continue;
    const Guess g = guess_cause(**f, **w, 0, *refs, (*w)->simulate(0, m + 1));
    EXPECT_EQ(g.looks_like, mutants[m].looks_like);
  }
  auto noise = (*w)->simulate(0, 0);
  for (std::size_t i = 0; i < noise[0].value.size(); ++i) noise[0].value[i] += i % 3;
  EXPECT_EQ(guess_cause(**f, **w, 0, *refs, noise).looks_like, "unknown");
}

TEST(Cause, AKernelOfALooserContractIsRecognised) {
  const auto f = find_family("attn.paged");
  const auto c = parse_case("attn.paged lens=300,200 q=2 heads=4/2 dim=64 fill=peaked seed=3");
  const auto w = (*f)->build(*c);
  const auto& names = (*f)->contracts;
  const auto index = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  // A kernel that rounds scores, declared as one that does not.
  const auto made = (*w)->simulate(index("rounded-scores"), 0);
  EXPECT_FALSE(judge(*(*w)->reference(index("tiled")), made).passed());
  const auto accepting = accepting_contracts(**f, **w, index("tiled"), made);
  EXPECT_NE(std::find(accepting.begin(), accepting.end(), index("rounded-scores")), accepting.end());
}

}  // namespace
}  // namespace assay::num
