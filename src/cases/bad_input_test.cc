// Lines and inputs that no kernel could be asked to work on: an error that names the field, never a crash.
#include <gtest/gtest.h>

#include <algorithm>

#include "cases/attention_case.h"
#include "cases/family.h"
#include "cases/simple_workload.h"

namespace assay::num {
namespace {

// What the grammar or the family says about a line; "built" where nothing is wrong with it.
std::string why(const std::string& line) {
  const auto c = parse_case(line);
  if (!c) return c.error().message;
  const auto w = (*find_family(c->family()))->build(*c);
  return w ? std::string("built") : w.error().message;
}

bool names_a_key(const Family& f, const std::string& message) {
  return std::any_of(f.schema.keys.begin(), f.schema.keys.end(),
                     [&](const KeySpec& key) { return message.find(key.name) != std::string::npos; });
}

TEST(BadInput, ImpossibleShapesNameTheirField) {
  EXPECT_EQ(why("attn.paged heads=3/2"), "heads=3/2: query heads must be a multiple of key heads");
  EXPECT_EQ(why("attn.paged heads=33/2"), "heads=33/2: query heads must be a multiple of key heads");
  EXPECT_EQ(why("attn.paged lens=1,2 q=1,2,3"), "q: 3 entries for 2 requests in lens");
  EXPECT_EQ(why("attn.paged window=3"), "window: two entries, left and right, are needed");
  EXPECT_EQ(why("attn.paged fill=needle softcap=5"), "fill=needle: no softcap, alibi or topk");
  EXPECT_EQ(why("attn.paged kv=nvfp4 dim=24"), "dim: nvfp4 needs a multiple of 16");
  EXPECT_EQ(why("attn.varlen pages=far"), "pages=far: a varlen tensor has no pages");
  EXPECT_EQ(why("ops.router topk=17"), "topk: more than experts");
  EXPECT_EQ(why("ops.rotary rot=3"), "rot: an even number up to dim is needed");
  EXPECT_EQ(why("quant.wna16 k=12"), "k, n: multiples of 8 are needed");
}

TEST(BadInput, SizesThatOverflowNameTheirFieldBeforeAnythingIsMade) {
  EXPECT_EQ(why("attn.paged lens=268435456*64"), "lens: more than 2^31 cache elements");
  EXPECT_EQ(why("attn.paged q=16777216"), "q: more than 2^31 query or output elements");
  EXPECT_EQ(why("cp.attention lens=16777216"), "lens, dim: more than 2^28 elements");
  EXPECT_EQ(why("cp.attention q=1048576 heads=1024"), "q, heads, dim: more than 2^28 elements");
  EXPECT_EQ(why("merge.states rows=1048576 dim=4096"), "states, rows, dim: more than 2^28 elements");
  EXPECT_EQ(why("quant.wna16 m=0 k=1048576 n=1048576"), "k, n: more than 2^28 elements");
  EXPECT_EQ(why("quant.moe experts=1024 hidden=65536"), "experts, inter, hidden: more than 2^26 elements");
  EXPECT_EQ(why("indexer.logits next=0 lens=16777216"), "lens, dim: more than 2^28 elements");
  EXPECT_EQ(why("batch.split q=1048576*1000"), "q: more than 2^28 elements");
  EXPECT_EQ(why("ops.activation rows=262144 dim=262144"), "rows, dim: more than 2^28 elements");
  // Every size at its largest, in every family.
  for (const Family& f : families()) {
    Case c(f.schema);
    for (const KeySpec& key : f.schema.keys) {
      const auto most = std::to_string(static_cast<std::int64_t>(key.high));
      std::string text = key.name == "bits" ? "4" : most;
      if (key.kind == KeyKind::kList) text += "*1000";
      const bool is_size = (key.kind == KeyKind::kInt || key.kind == KeyKind::kList) && key.name != "seed" &&
                           key.name != "call" && key.name != "window";
      ASSERT_TRUE(!is_size || c.set(key.name, text)) << key.name;
    }
    const auto w = f.build(c);
    ASSERT_FALSE(w) << f.name;
    EXPECT_TRUE(names_a_key(f, w.error().message)) << f.name << ": " << w.error().message;
  }
}

TEST(BadInput, ValuesThatAreNoneAreRefusedByTheirKey) {
  for (const Family& f : families())
    for (const KeySpec& key : f.schema.keys)
      for (const char* text :
           {"", "x", "1e400", "nan", "99999999999999999999", "-99", "1,,2", "1*", "*3", "1/2/3"}) {
        const std::string line = f.name + " " + key.name + "=" + text;
        const auto c = parse_case(line);
        if (key.kind == KeyKind::kWord || !c) {
          ASSERT_FALSE(c) << line;
          EXPECT_EQ(c.error().message.rfind(key.name, 0), 0u) << c.error().message;
        }
      }
}

TEST(BadInput, NothingAtAllIsACase) {
  EXPECT_EQ(why("attn.paged lens=0 q=0"), "built");
  EXPECT_EQ(why("attn.paged lens=- q=-"), "built");
  EXPECT_EQ(why("attn.kvcache lens=-"), "built");
  // Every size that may be zero, in every family; an honest kernel then passes, where there is a case at all.
  for (const Family& f : families()) {
    Case c(f.schema);
    for (const KeySpec& key : f.schema.keys) {
      const bool may_be_zero = key.kind == KeyKind::kInt && key.low == 0 && key.name != "seed";
      ASSERT_TRUE(!may_be_zero || c.set(key.name, "0")) << key.name;
      ASSERT_TRUE(key.kind != KeyKind::kList || c.set(key.name, "-")) << key.name;
    }
    const auto w = f.build(c);
    if (!w) {
      EXPECT_TRUE(names_a_key(f, w.error().message)) << f.name << ": " << w.error().message;
      continue;
    }
    for (std::size_t k = 0; k < f.contracts.size(); ++k) {
      const auto refs = (*w)->reference(k);
      ASSERT_TRUE(refs) << c.print();
      const Verdict v = judge(*refs, (*w)->simulate(k, 0));
      EXPECT_TRUE(v.passed()) << c.print() << " " << v.summary();
    }
  }
}

TEST(BadInput, NanThatARowSeesIsNamedPoisonThatNoneSeesIsNot) {
  const auto c =
      build_attention_case(*parse_case("attn.paged lens=20,9 q=1,2 heads=4/2 dim=16 block=4 seed=1"));
  ASSERT_TRUE(c);
  AttentionProblem p = (*c)->problem;
  EXPECT_TRUE(attend(p));  // all that lies behind the last keys is NaN
  p.kv.k.set({p.kv.table[1][2], 0, 1, 3}, std::nan(""));
  const auto result = attend(p);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "k[request 1][position 8][head 1][dim 3]: no finite number");
}

}  // namespace
}  // namespace assay::num
