#!/usr/bin/env bash
# bench/nightly/differential.sh: what reading says beside a real process, for every module of the vLLM that
# scripts/real-env installs (made when it is not there: 2 minutes, 2 GB). Half a minute; prints every difference, and
# exits with 1 when names agree less than 99.8 %, more than 3 % are undecided, or more than 1 % of the signatures differ.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 scripts/real-env build/real-env
cmake -S . -B build/release -G Ninja -DCMAKE_BUILD_TYPE=Release -DASSAY_TESTS=ON >/dev/null
ninja -C build/release differential >/dev/null
exec build/release/tests/differential build/real-env/bin/python "$@"
