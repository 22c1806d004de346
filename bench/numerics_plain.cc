// numerics_plain "LINE" [MUTANT[,MUTANT…]] [SEEDS]: which plain inputs hide a fault. Tries the case line with
// one seed after another, in every contract, and prints the first on which each mutant (default: all) changes
// something that allclose(1e-2, 1e-2) doesn't see. For whoever adds a mutant and needs the input that shows
// that it is a hard one.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/text.h"
#include "cases/self_test.h"

int main(int argc, char** argv) {
  using namespace assay::num;
  if (argc < 2) {
    std::fputs("usage: numerics_plain LINE [MUTANTS] [SEEDS]\n", stderr);
    return 2;
  }
  const std::string only = argc > 2 ? argv[2] : "";
  const long seeds = argc > 3 ? std::atol(argv[3]) : 200;
  const auto line = parse_case(argv[1]);
  if (!line) {
    std::fprintf(stderr, "%s\n", line.error().message.c_str());
    return 2;
  }
  const Family& f = **find_family(line->family());
  std::vector<bool> found(f.mutants.size(), false);
  for (std::size_t m = 0; m < f.mutants.size(); ++m) {
    bool wanted = only.empty() && !f.mutants[m].exact_class;
    for (const auto word : assay::split(only, ',')) wanted = wanted || word == f.mutants[m].name;
    found[m] = !wanted;
  }
  for (long seed = 0; seed < seeds; ++seed) {
    Case c = *line;
    c.set_integer("seed", seed);
    const auto w = f.build(c);
    if (!w) {
      std::fprintf(stderr, "%s\n", w.error().message.c_str());
      return 2;
    }
    for (std::size_t k = 0; k < f.contracts.size(); ++k) {
      std::vector<Actual> honest;
      for (std::size_t m = 0; m < f.mutants.size(); ++m) {
        if (found[m]) continue;
        if (honest.empty()) honest = (*w)->simulate(k, 0);
        const auto made = (*w)->simulate(k, m + 1);
        if (same_outputs(honest, made) || !plain_test_passes(honest, made)) continue;
        found[m] = true;
        std::printf("%s [%s] %s\n", f.mutants[m].name.c_str(), f.contracts[k].c_str(), c.print().c_str());
        std::fflush(stdout);
      }
      if (argc <= 4) break;  // any fourth argument: all contracts, not the first alone
    }
  }
}
