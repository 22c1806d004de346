// Data-parallel loops.
#pragma once

#include <cstddef>
#include <functional>

namespace assay {

// What -j defaults to: the processors this process may use (its affinity mask), at least 1.
int default_threads();

// Calls fn(0) … fn(n-1), each once, in any order, on at most `threads` threads of which the caller is one;
// returns when all are done. The index counter is the queue: uneven work balances itself. The first exception
// of fn is thrown again here after the others have ended.
void parallel_for(size_t n, int threads, const std::function<void(size_t)>& fn);

}  // namespace assay
