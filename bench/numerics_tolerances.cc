// numerics_tolerances: why the usual tolerances are not enough. Wrong kernels on plain and structured inputs,
// judged by what tests elsewhere use and by the four gates, as a Markdown table; then, for every family, how
// many mutants each criterion lets pass on the family's smoke cases and on its plain inputs.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "cases/family.h"

namespace {

using namespace assay::num;

struct Built {
  const Family* family;
  std::unique_ptr<Workload> workload;
};

Built build(const std::string& line) {
  const auto c = parse_case(line);
  if (!c) std::fprintf(stderr, "%s\n", c.error().message.c_str()), std::exit(2);
  const Family* f = *find_family(c->family());
  auto w = f->build(*c);
  if (!w) std::fprintf(stderr, "%s\n", w.error().message.c_str()), std::exit(2);
  return {f, std::move(*w)};
}

// What tests elsewhere decide by, on the first output. The FlashAttention rule: the error against the exact
// result at most twice that of an honest kernel of the same type, by the largest element.
struct Usual {
  bool close = true, twice = true, diff = true;
};

Usual usual(const std::vector<Reference>& refs, const std::vector<Actual>& made,
            const std::vector<Actual>& honest) {
  Usual u;
  if (refs[0].value.empty()) return u;  // a set of indices: no such criterion applies
  const Statistics wrong = compare(made[0].value, refs[0].value),
                   right = compare(honest[0].value, refs[0].value);
  u.close = allclose(made[0].value, refs[0].value, 1e-2, 1e-2);
  u.twice = wrong.max_abs <= 2 * right.max_abs + 1e-5;
  u.diff = wrong.calc_diff < 1e-5;
  return u;
}

const char* word(bool passes) { return passes ? "pass" : "caught"; }

void row(const char* title, const std::string& line, const std::string& mutant) {
  const Built b = build(line);
  std::size_t m = 0;
  for (std::size_t i = 0; i < b.family->mutants.size(); ++i)
    if (b.family->mutants[i].name == mutant) m = i + 1;
  const auto refs = *b.workload->reference(0);
  const auto made = b.workload->simulate(0, m), honest = b.workload->simulate(0, 0);
  const Usual u = usual(refs, made, honest);
  const Verdict all = judge(refs, made);
  const Verdict out = judge({refs.data(), 1}, made);
  const Verdict lse = refs.size() > 1 ? judge({refs.data() + 1, 1}, made) : Verdict{};
  const bool lse_passes = lse.gates[0].passed && lse.gates[1].passed && lse.gates[2].passed;
  std::printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", title, word(u.close), word(u.twice),
              word(u.diff), word(out[Gate::kBudget].passed),
              out[Gate::kStatistical].applied ? word(out[Gate::kStatistical].passed) : "-", word(lse_passes),
              all[Gate::kStructured].applied ? word(all[Gate::kStructured].passed) : "-");
}

struct Tally {
  int mutants = 0, close = 0, twice = 0, diff = 0, gates = 0;
};

// How many mutants no case of the list catches.
Tally survivors(const Family& f, const std::vector<std::string>& lines) {
  std::vector<Usual> missed(f.mutants.size());
  std::vector<bool> ours(f.mutants.size(), true), changed(f.mutants.size(), false);
  for (const std::string& line : lines) {
    const Built b = build(line);
    const auto refs = *b.workload->reference(0);
    const auto honest = b.workload->simulate(0, 0);
    for (std::size_t m = 0; m < f.mutants.size(); ++m) {
      const auto made = b.workload->simulate(0, m + 1);
      const Usual u = usual(refs, made, honest);
      missed[m].close &= u.close;
      missed[m].twice &= u.twice;
      missed[m].diff &= u.diff;
      ours[m] = ours[m] && judge(refs, made).passed();
      for (std::size_t t = 0; t < made.size(); ++t)
        for (std::size_t i = 0; i < made[t].value.size(); ++i)
          changed[m] = changed[m] || !(made[t].value[i] == honest[t].value[i]);
    }
  }
  Tally t;
  for (std::size_t m = 0; m < f.mutants.size(); ++m) {
    if (!changed[m]) continue;
    ++t.mutants;
    t.close += missed[m].close;
    t.twice += missed[m].twice;
    t.diff += missed[m].diff;
    t.gates += ours[m];
  }
  return t;
}

}  // namespace

int main() {
  const std::string attn = "attn.varlen lens=4001 q=1 heads=2/1 dim=64";
  std::puts(
      "| wrong kernel, 4001 keys | allclose 1e-2 | FlashAttention 2x | calc_diff<1e-5 | budget r<=1 | row "
      "RMS | LSE gates | structured |");
  std::puts("| --- | --- | --- | --- | --- | --- | --- | --- |");
  row("window one short (randn)", attn + " window=4000,0 seed=1", "window-short");
  row("last key dropped (randn)", attn + " seed=2", "last-key-dropped");
  row("scale +1 % (randn/10 inputs)", attn + " fill=small seed=3", "scale-high");
  row("scale +1 % (peaked scores)", attn + " fill=peaked seed=4", "scale-high");
  row("wrong page, 1 of 251 (peaked)", "attn.paged lens=4001 q=1 heads=2/1 dim=64 fill=peaked seed=5",
      "wrong-page");
  row("window one short (offset values)", attn + " window=3999,0 fill=offset seed=6", "window-short");
  row("window one short (tomography)", attn + " window=3999,0 fill=tomo seed=7", "window-short");
  row("last key dropped (tomography)", attn + " fill=tomo seed=8", "last-key-dropped");
  row("wrong page (needle)", "attn.paged lens=4001 q=4 heads=6/1 dim=64 block=1024 fill=needle seed=9",
      "wrong-page");
  std::puts(
      "\nMutants that survive, of those that change something: on the family's smoke cases, and on its plain "
      "inputs.\n");
  std::puts(
      "| family | smoke: mutants | allclose | 2x | calc_diff | gates | plain: mutants | allclose | 2x | "
      "calc_diff | gates |");
  std::puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const Family& f : families()) {
    const Tally s = survivors(f, f.smoke), p = survivors(f, f.plain);
    std::printf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", f.name.c_str(), s.mutants,
                s.close, s.twice, s.diff, s.gates, p.mutants, p.close, p.twice, p.diff, p.gates);
  }
}
