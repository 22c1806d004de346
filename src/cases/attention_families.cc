#include "cases/attention_families.h"

#include <algorithm>
#include <cmath>

#include "cases/sim_attention.h"
#include "cases/simple_workload.h"

namespace assay::num {
namespace {

using Bugs = std::vector<AttentionBug>;

class AttentionWorkload : public Workload {
 public:
  AttentionWorkload(std::shared_ptr<const AttentionCase> c, Bugs bugs)
      : case_(std::move(c)),
        bugs_(std::move(bugs)),
        contracts_(attention_contracts(case_->problem.q.type())) {
    add_arguments();
  }

  std::vector<Input> inputs() const override {
    const AttentionProblem& p = case_->problem;
    const auto input = [](const char* name, const TensorView& t) {
      return Input{name, t.type(), t.shape(), t.strides(), t.offset(), t.bytes()};
    };
    std::vector<Input> all = {input("q", p.q), input("k", p.kv.k), input("v", p.kv.v)};
    const auto optional = [&](const char* name, const TensorView& t) {
      if (!t.shape().empty()) all.push_back(input(name, t));
    };
    optional("k_token_scale", p.kv.k_scale.token);
    optional("v_token_scale", p.kv.v_scale.token);
    optional("k_group_scale", p.kv.k_scale.group);
    optional("v_group_scale", p.kv.v_scale.group);
    for (Input& argument : arguments_.list()) all.push_back(argument);
    return all;
  }

  Expected<std::vector<Reference>> reference(std::size_t contract) const override {
    auto refs = attention_reference(case_->problem, contracts_[contract], inputs_for(contract));
    if (refs) refs->push_back(guard(contract));
    return refs;
  }

  Expected<std::vector<std::vector<Reference>>> references(std::size_t contracts) const override {
    std::vector<AttentionInputs> inputs;
    for (std::size_t k = 0; k < contracts; ++k) inputs.push_back(inputs_for(k));
    auto all = attention_references(case_->problem, {contracts_.data(), contracts}, inputs);
    for (std::size_t k = 0; all && k < contracts; ++k) (*all)[k].push_back(guard(k));
    return all;
  }

  std::vector<Actual> simulate(std::size_t contract, std::size_t mutant, bool fine) const override {
    AttentionContract k = contracts_[contract];
    if (fine) {
      k.scores = k.values = kChain;
      k.p = k.partial = k.out = DType::kF32;
      k.p_truncated = k.sum_from_rounded_p = k.q_scaled_rounded = k.k_rounded = k.fresh_register = false;
      k.v_type = DType::kF64;
      k.score_roundings = 0;
      k.tanh = Tanh::kExact;
    }
    return simulate_attention(*case_, k, mutant == 0 ? AttentionBug::kNone : bugs_[mutant - 1]);
  }

 private:
  AttentionInputs inputs_for(std::size_t contract) const {
    const AttentionContract& k = contracts_[contract];
    AttentionInputs inputs;
    inputs.iid_values = case_->iid_values;
    inputs.lse = case_->lse;
    const bool sixteen_bits = dtype_bits(k.out) == 16;
    if (case_->out == Structured::kBits && sixteen_bits && !k.p_truncated) inputs.out = Structured::kBits;
    if (case_->out == Structured::kCounts && k.p != DType::kE4m3fn) inputs.out = Structured::kCounts;
    return inputs;
  }

  // Rows behind the last one, which no kernel may write.
  Reference guard(std::size_t contract) const {
    const std::int64_t heads = case_->problem.q.shape()[1];
    return exact_reference("guard", contracts_[contract].out, {4, heads}, {"row past the end", "head"},
                           std::vector<double>(static_cast<std::size_t>(4 * heads), 0.5));
  }

  // What a call needs beside the tensors of the case. Empty lists are arguments that are not given.
  void add_arguments() {
    const AttentionProblem& p = case_->problem;
    const auto add = [&](const char* name, DType type, auto list) {
      if (!list.empty())
        arguments_.add(name, type, {static_cast<std::int64_t>(list.size())},
                       [&](std::int64_t i) { return static_cast<double>(list[i]); });
    };
    add("q_lens", DType::kI32, p.q_lens);
    add("kv_lens", DType::kI32, p.kv_lens);
    add("alibi_slopes", DType::kF32, p.alibi);
    add("sinks", DType::kF32, p.sink);
    add("causal", DType::kU8, p.causal);
    add("k_head_scale", DType::kF32, p.kv.k_scale.head);
    add("v_head_scale", DType::kF32, p.kv.v_scale.head);
    add("scale_softcap_k_v", DType::kF32,
        std::vector<double>{p.scale, p.softcap, p.kv.k_scale.tensor, p.kv.v_scale.tensor});
    std::size_t width = 0, listed = 0;
    for (const auto& pages : p.kv.table) width = std::max(width, pages.size());
    for (const auto& list : p.selected) listed = std::max(listed, list.size());
    const auto padded = [](const auto& rows, std::size_t w) {
      return [&rows, w](std::int64_t i) {
        const auto& row = rows[static_cast<std::size_t>(i) / w];
        const std::size_t at = static_cast<std::size_t>(i) % w;
        return at < row.size() ? static_cast<double>(row[at]) : -1.0;
      };
    };
    const auto rows = [](const auto& list, std::size_t w) {
      return Shape{static_cast<std::int64_t>(list.size()), static_cast<std::int64_t>(w)};
    };
    if (width > 0)
      arguments_.add("block_table", DType::kI32, rows(p.kv.table, width), padded(p.kv.table, width));
    if (listed > 0)
      arguments_.add("indices", DType::kI64, rows(p.selected, listed), padded(p.selected, listed));
  }

  std::shared_ptr<const AttentionCase> case_;
  InputSet arguments_;
  Bugs bugs_;
  std::vector<AttentionContract> contracts_;
};

Family make(const std::string& name, const std::string& layout, const std::string& heads,
            const std::string& dim, bool AttentionBugRow::*has) {
  Family f;
  f.name = name;
  f.component = "attention";
  f.schema = attention_schema(name, layout, heads, dim);
  for (const AttentionContract& c : attention_contracts(DType::kBf16)) f.contracts.push_back(c.name);
  Bugs bugs;
  for (const AttentionBugRow& row : attention_bugs()) {
    if (!(row.*has)) continue;
    bugs.push_back(row.bug);
    f.mutants.push_back(row.mutant);
  }
  f.build = [bugs](const Case& line) -> Expected<std::unique_ptr<Workload>> {
    auto c = build_attention_case(line);
    if (!c) return tl::unexpected(c.error());
    return std::make_unique<AttentionWorkload>(*c, bugs);
  };
  return f;
}

std::string join(const std::vector<std::int64_t>& list) {
  std::string text;
  for (std::int64_t x : list) text += (text.empty() ? "" : ",") + std::to_string(x);
  return text.empty() ? "-" : text;
}

// Lengths: mostly around page and tile edges, sometimes none, sometimes as long as allowed.
void random_lengths(Case& c, Draw& draw, std::int64_t longest) {
  const std::int64_t requests = draw.between(1, 3);
  std::vector<std::int64_t> lens, q;
  const bool is_long = longest > kLong;
  for (std::int64_t r = 0; r < requests; ++r) {
    const std::int64_t edge = draw.pick({1, 15, 16, 17, 63, 64, 65, 127, 128, 129, 200, 257});
    std::int64_t n = draw.chance(0.1) ? 0 : edge;
    if (is_long && r == 0) n = draw.between(std::min<std::int64_t>(32768, longest), longest);
    lens.push_back(n);
    q.push_back(is_long ? 1 : draw.chance(0.1) ? 0 : draw.between(1, 5));
  }
  set_key(c, "lens", join(lens));
  set_key(c, "q", join(q));
  if (is_long) set_key(c, "heads", "1");
}

Case random_dense(const Schema& schema, Draw& draw, std::int64_t longest, bool paged) {
  Case c(schema);
  set_key(c, "dtype", draw.pick({"bf16", "bf16", "f16", "f32"}));
  set_key(c, "heads", draw.pick({"1", "4/2", "6/2", "3/1", "8/8"}));
  set_key(c, "dim", draw.pick({"64", "64", "128", "32", "96/64", "64/80"}));
  random_lengths(c, draw, longest);
  set_key(c, "causal", draw.pick({"br", "br", "none", "ul", "mixed"}));
  if (draw.chance(0.35))
    set_key(c, "window",
            std::to_string(draw.pick({0, 1, 7, 31, 127})) + "," + (draw.chance(0.7) ? "0" : "3"));
  if (draw.chance(0.2)) set_key(c, "softcap", draw.pick({"1", "5", "50"}));
  if (draw.chance(0.2)) set_key(c, "alibi", "on");
  if (draw.chance(0.25)) set_key(c, "sink", draw.pick({"on", "big", "off-some"}));
  set_key(c, "fill",
          draw.pick({"randn", "randn", "unit", "small", "peaked", "peaked", "offset", "channel", "huge"}));
  if (paged) {
    set_key(c, "layout", draw.pick({"nhd", "hnd", "interleaved", "slab", "gaps", "kvcache"}));
    set_key(c, "block", draw.pick({"1", "16", "32", "128"}));
    if (draw.chance(0.3)) set_key(c, "kv", draw.pick({"e4m3", "e5m2", "int8", "e4m3fnuz"}));
    if (draw.chance(0.5)) set_key(c, "kvscale", draw.pick({"head", "token"}));
    if (draw.chance(0.08)) {
      set_key(c, "kv", draw.pick({"nvfp4", "mxfp4"}));
      set_key(c, "kvscale", "tensor");
      set_key(c, "dim", "64");
    }
  }
  if (c.word("dtype") == "f16" && c.word("fill") == "huge")
    set_key(c, "fill", "peaked");  // would overflow f16
  set_key(c, "seed", std::to_string(draw.between(0, 999999)));
  return c;
}

Case random_mla(const Schema& schema, Draw& draw, std::int64_t longest, bool sparse) {
  Case c(schema);
  set_key(c, "heads", draw.pick({"4/1", "16/1", "3/1"}));
  set_key(c, "dim", draw.pick({"96/64", "80/64", "144/128"}));
  random_lengths(c, draw, longest);
  if (c.first("heads") == 1 && c.second("heads") != 1) set_key(c, "heads", "1");
  if (!sparse && draw.chance(0.3)) set_key(c, "causal", "none");
  if (!sparse && draw.chance(0.3)) set_key(c, "kv", "e4m3");
  set_key(c, "fill", draw.pick({"randn", "randn", "peaked", "channel", "small"}));
  if (sparse) {
    set_key(c, "causal", "none");
    set_key(c, "topk", draw.pick({"1", "16", "64", "300"}));
    if (draw.chance(0.2)) set_key(c, "holes", "off");
  }
  set_key(c, "seed", std::to_string(draw.between(0, 999999)));
  return c;
}

// Lines that every dense family shares; each says which faults it is there for.
std::vector<std::string> dense_smoke(const std::string& f) {
  return {
      f + " lens=40,17,0,33 q=5,3,2,1 heads=6/2 dim=64 seed=1",       // corners, ragged batch, heads, LSE
      f + " lens=64,65,1 q=4,1,2 heads=4/2 dim=64 fill=tomo seed=2",  // counts every visible key
      f + " lens=64,65,40 q=4,1,2 heads=4/2 dim=64 window=7,0 fill=tomo seed=3",       // window edges
      f + " lens=6,9,5 q=4,9,1 heads=3/1 dim=64 window=2,0 fill=tomo sink=on seed=4",  // rows that share
                                                                                       // tiles
      f + " lens=100,37 q=3,2 heads=4/2 dim=64 fill=peaked seed=5",                    // scale
      f + " lens=100,37 q=3,2 heads=4/2 dim=64 fill=peaked softcap=5 seed=6",          // softcap
      f + " lens=50,37 q=3,2 heads=4/2 dim=64 alibi=on seed=7",                        // ALiBi
      f + " lens=50,1,0 q=3,2,1 heads=4/2 dim=64 sink=on seed=8",      // sinks, rows with a sink only
      f + " lens=300,129 q=2,1 heads=4/2 dim=64 fill=needle seed=9",   // pages and edges, bit for bit
      f + " lens=40,33 q=2,1 heads=4/2 dim=96/64 fill=randn seed=10",  // QK and V dims differ
      f + " lens=1*9,2 heads=4/2 dim=64 fill=peaked scale=4 seed=11",  // rows whose scores are all far below
                                                                       // zero
  };
}

std::vector<std::string> paged_smoke(const std::string& f) {
  auto lines = dense_smoke(f);
  for (const char* layout : {"hnd", "interleaved", "slab", "gaps"})
    lines.push_back(f + " lens=70,33 q=2,1 heads=4/2 dim=64 fill=needle layout=" + layout + " seed=12");
  lines.push_back(f + " lens=200 q=1 heads=2/1 dim=64 block=1 fill=tomo pages=high seed=13");
  lines.push_back(f + " lens=200 q=1 heads=3/1 dim=64 block=16 fill=tomo pages=far seed=14");
  lines.push_back(f + " lens=60,33 heads=4/2 dim=64 kv=e4m3 fill=peaked seed=15");
  lines.push_back(f + " lens=60,33 heads=4/2 dim=64 kv=int8 kvscale=token fill=peaked seed=16");
  lines.push_back(f + " lens=60,33 heads=4/2 dim=64 kv=e4m3 kvscale=head fill=peaked seed=17");
  lines.push_back(f + " lens=60,33 heads=4/2 dim=64 kv=e4m3fnuz fill=randn seed=18");
  lines.push_back(f + " lens=60,33 heads=4/2 dim=64 kv=nvfp4 fill=randn seed=19");
  lines.push_back(f + " lens=60,33 heads=4/2 dim=64 kv=mxfp4 fill=randn seed=20");
  return lines;
}

// Contexts of 131,072 keys: every one of them visible, every one of the last 8,192, one in particular.
std::vector<std::string> longest_lines(const std::string& f) {
  return {f + " lens=131072 heads=1 dim=64 fill=peaked seed=40",
          f + " lens=131072 heads=1 dim=64 fill=offset seed=41",
          f + " lens=131072 heads=1 dim=64 window=4095,0 fill=tomo seed=42",
          f + " lens=100000 heads=1 dim=64 fill=tomo seed=43",
          f + " lens=131072 heads=3/1 dim=64 fill=needle seed=44"};
}

// Inputs as tests elsewhere use them: standard normal, values scaled so that outputs have unit variance; or a
// mean per channel, which is what real values look like.
std::vector<std::string> plain_lines(const std::string& f) {
  return {f + " lens=4000 q=1 heads=1 dim=64 fill=unit seed=32",
          f + " lens=2000,700 q=2,3 heads=4/2 dim=96/64 fill=channel seed=33",
          f + " lens=2000,700 q=2,3 heads=4/2 dim=64 window=600,0 fill=channel seed=34",
          f + " lens=700,2000 q=2,3 heads=4/2 dim=64 softcap=50 fill=channel seed=35",
          f + " lens=2000,700 q=2,3 heads=4/2 dim=64 alibi=on fill=channel seed=36",
          f + " lens=4000,3000 q=2,3 heads=4/2 dim=64 sink=on fill=channel seed=37",
          f + " lens=1000 q=2 heads=4/2 dim=64 sink=last fill=channel seed=38",
          f + " lens=20000 heads=1 dim=1/2 fill=offset seed=0"};
}

}  // namespace

std::vector<Family> attention_families() {
  std::vector<Family> all;
  Family varlen = make("attn.varlen", "varlen", "8/2", "64", &AttentionBugRow::dense);
  varlen.smoke = dense_smoke(varlen.name);
  varlen.plain = plain_lines(varlen.name);
  varlen.longest = longest_lines(varlen.name);
  varlen.random = [](const Schema& s, Draw& d, std::int64_t n) { return random_dense(s, d, n, false); };
  Family paged = make("attn.paged", "nhd", "8/2", "64", &AttentionBugRow::paged);
  paged.smoke = paged_smoke(paged.name);
  paged.plain = plain_lines(paged.name);
  paged.longest = longest_lines(paged.name);
  for (const char* extra :
       {" kv=e4m3 kvbase=1.004", " kv=int8 kvscale=token kvspread=0.002",
        " kv=e4m3 kvscale=head kvspread=0.002", " kv=e4m3fnuz", " pages=high block=1 unused=zero"})
    paged.plain.push_back("attn.paged lens=2000,700 q=2,3 heads=4/2 dim=64 fill=channel" +
                          std::string(extra) + " seed=35");
  for (const char* line :
       {" lens=500 heads=4/2 kv=e4m3fnuz", " lens=4000 heads=1 kv=nvfp4 kvspread=0.25",
        " lens=8000 heads=1 pages=far unused=zero", " lens=2003 heads=1 block=2000 layout=slab unused=zero"})
    paged.plain.push_back("attn.paged dim=64 fill=channel" + std::string(line));
  paged.random = [](const Schema& s, Draw& d, std::int64_t n) { return random_dense(s, d, n, true); };
  Family dense = make("mla.dense", "mla", "16/1", "96/64", &AttentionBugRow::mla);
  const std::string m = dense.name;
  dense.smoke = {m + " lens=40,17,0,33 q=5,3,2,1 heads=4/1 seed=1",
                 m + " lens=64,65,1 q=4,1,2 heads=4/1 fill=tomo seed=2",
                 m + " lens=100,37 q=3,2 heads=4/1 fill=peaked seed=3",
                 m + " lens=100,37 q=1 heads=4/1 kv=e4m3 fill=peaked seed=4",
                 m + " lens=200 q=1 heads=2/1 block=1 pages=high fill=peaked seed=5",
                 m + " lens=1*9,2 heads=4/1 fill=peaked scale=4 seed=6"};
  dense.plain = {m + " lens=700,2000 q=2,3 heads=4/1 fill=channel seed=33",
                 m + " lens=2000,700 q=2,3 heads=4/1 fill=channel kv=e4m3 kvbase=1.004 seed=33",
                 m + " lens=2000,700 heads=4/1 fill=channel block=1 pages=high unused=zero seed=33",
                 m + " lens=1000 q=2 heads=2/1 sink=last fill=channel"};
  dense.longest = {m + " lens=131072 heads=2/1 fill=peaked seed=40",
                   m + " lens=100000 heads=1 fill=tomo seed=41"};
  dense.random = [](const Schema& s, Draw& d, std::int64_t n) { return random_mla(s, d, n, false); };
  Family sparse = make("mla.sparse", "mla", "16/1", "96/64", &AttentionBugRow::sparse);
  const std::string sp = sparse.name;
  sparse.smoke = {sp + " lens=100,90,0 q=2,2,1 heads=4/1 causal=none topk=32 seed=1",
                  sp + " lens=100,90 q=2,2 heads=4/1 causal=none topk=32 fill=tomo seed=2",
                  sp + " lens=100,90 q=2,2 heads=4/1 causal=none topk=32 fill=peaked seed=3",
                  sp + " lens=1*9,2 heads=4/1 causal=none topk=2 holes=off fill=peaked scale=4 seed=6"};
  sparse.plain = {sp + " lens=2000,700 q=2,3 heads=4/1 causal=none topk=512 fill=channel seed=33",
                  sp + " lens=1000 q=2 heads=2/1 causal=none topk=300 sink=last fill=channel",
                  sp + " lens=2000 heads=4/1 causal=none topk=512 fill=channel"};
  sparse.longest = {sp + " lens=131072 heads=2/1 causal=none topk=2048 fill=peaked seed=40"};
  sparse.random = [](const Schema& s, Draw& d, std::int64_t n) { return random_mla(s, d, n, true); };
  Family kvcache = make("attn.kvcache", "kvcache", "8/2", "64", &AttentionBugRow::dense);
  kvcache.smoke = dense_smoke(kvcache.name);
  kvcache.plain = plain_lines(kvcache.name);
  kvcache.longest = longest_lines(kvcache.name);
  kvcache.random = varlen.random;
  for (Family* f : {&varlen, &paged, &kvcache, &dense, &sparse}) all.push_back(std::move(*f));
  return all;
}

}  // namespace assay::num
