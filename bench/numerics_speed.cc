// numerics_speed [decode|prefill|small]: seconds that the oracle with its budgets takes, for
// bench/numerics_torch.py to set beside torch in binary64. One JSON line per measurement; the inputs' making
// isn't counted.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "cases/attention_case.h"
#include "cases/family.h"
#include "cases/sim_attention.h"

namespace {

using namespace assay::num;

// Wall and CPU seconds, the latter of all threads.
struct Spent {
  double wall = 0, cpu = 0;
};

Spent seconds_of(const std::vector<std::string>& lines) {
  Spent total;
  for (const std::string& line : lines) {
    const auto c = parse_case(line);
    if (!c) std::fprintf(stderr, "%s\n", c.error().message.c_str()), std::exit(2);
    const auto made = build_attention_case(*c);
    if (!made) std::fprintf(stderr, "%s\n", made.error().message.c_str()), std::exit(2);
    const auto contracts = attention_contracts((*made)->problem.q.type());
    const std::clock_t cpu = std::clock();
    const auto start = std::chrono::steady_clock::now();
    const auto refs = attention_reference((*made)->problem, contracts[0], {});
    total.wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    total.cpu += static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
    if (!refs) std::exit(2);
  }
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "small";
  std::vector<std::string> lines;
  if (what == "decode") lines = {"attn.paged lens=4096*64 q=1 heads=8/2 dim=128 block=16 unused=zero seed=1"};
  if (what == "prefill") lines = {"attn.varlen lens=2048 q=2048 heads=8/8 dim=128 seed=1"};
  if (what == "small") {
    const char* variants[] = {"",          " window=7,0",  " softcap=5", " sink=on",
                              " alibi=on", " causal=none", " kv=e4m3",   " kv=int8 kvscale=token"};
    for (int i = 0; i < 1000; ++i)
      lines.push_back("attn.paged lens=" + std::to_string(1 + i % 97) + "," + std::to_string(1 + i % 31) +
                      " q=" + std::to_string(1 + i % 3) + "," + std::to_string(1 + i % 2) +
                      " heads=4/2 dim=64" + variants[i % 8] + " seed=" + std::to_string(i));
  }
  const Spent spent = seconds_of(lines);
  std::printf("{\"what\": \"%s\", \"seconds\": %.4f, \"cpu_seconds\": %.4f}\n", what.c_str(), spent.wall,
              spent.cpu);
}
