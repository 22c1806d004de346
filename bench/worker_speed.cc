// What a question to the worker costs: an empty call, and a tensor of 1 GB handed over.
#include <benchmark/benchmark.h>

#include <cstring>

#include "runtime/worker.h"

namespace assay {
namespace {

std::unique_ptr<Worker> started(benchmark::State& state) {
  auto worker = Worker::start({});
  if (!worker) state.SkipWithError(worker.error().message.c_str());
  return worker ? std::move(*worker) : nullptr;
}

void EmptyCall(benchmark::State& state) {
  auto worker = started(state);
  if (!worker) return;
  for (auto _ : state) benchmark::DoNotOptimize(worker->call("server.ping"));
}
BENCHMARK(EmptyCall)->Unit(benchmark::kMicrosecond);

// Time of the call that makes the block known, with the worker reading its last byte; filling it is not counted.
void OneGigabyte(benchmark::State& state) {
  auto worker = started(state);
  if (!worker) return;
  constexpr size_t kSize = 1'000'000'000;
  Expected<std::shared_ptr<SharedBlock>> block;
  for (auto _ : state) {
    state.PauseTiming();
    if (block) block->reset();
    (void)worker->call("server.ping");  // gives the last block up
    block = SharedBlock::make(kSize);
    if (!block) return state.SkipWithError(block.error().message.c_str());
    std::memset((*block)->data(), 3, kSize);
    state.ResumeTiming();
    auto answer = worker->call("server.run", {{"source", "result = blocks['x'].bytes()[999999999]"}}, {{"x", *block}});
    if (!answer || answer->value != 3) return state.SkipWithError("not the byte that was written");
  }
}
BENCHMARK(OneGigabyte)->Unit(benchmark::kMicrosecond)->Iterations(5);

}  // namespace
}  // namespace assay

BENCHMARK_MAIN();
