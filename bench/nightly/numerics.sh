#!/usr/bin/env bash
# bench/nightly/numerics.sh [HONEST] [FAMILY…]: the self test of the numeric gates with HONEST (default: 10000) random
# cases per family and contract, in slices of other seeds so that a stopped run has not been for nothing. Prints one
# line a slice; exits with 1 where a mutant survived, an honest kernel was rejected or a case could not be built.
# Reports with findings stay in build/nightly/.
set -euo pipefail
cd "$(dirname "$0")/../.."

honest=${1:-10000}
shift || true
slice=500
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DASSAY_BENCH=ON >/dev/null
ninja -C build/release numerics_self_test >/dev/null
mkdir -p build/nightly
status=0
for ((seed = 1, done = 0; done < honest; seed++, done += slice)); do
  count=$((honest - done < slice ? honest - done : slice))
  report=build/nightly/self-test-$seed.txt
  if build/release/bench/numerics_self_test --honest "$count" --seed "$seed" "$@" >"$report"; then
    echo "seed $seed: $(grep '^honest cases' "$report")"
    rm "$report"
  else
    status=1
    echo "seed $seed: FINDINGS in $report: $(grep '^honest cases' "$report" || true)"
  fi
done
exit $status
