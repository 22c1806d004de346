"""numerics_torch.py PROGRAM: the oracle's speed beside torch in binary64, as ratios in one run.

Needs an interpreter with torch (a CPU build is enough); installs nothing. PROGRAM is bench/numerics_speed of a build with
-DASSAY_BENCH=ON. The shapes and types are those of numerics_speed.cc; torch reads the same kind of bytes (bf16, paged
where the case is) and its gather counts, as ours does; ours computes the error budgets as well. Each pair is run `ROUNDS` times
in turn; the ratio is torch's CPU seconds over ours (above 1: ours is faster), which other load on the machine hardly moves; wall
seconds are printed beside it.
"""
import json
import math
import statistics
import subprocess
import sys
import time

import torch

ROUNDS = 3


def attention(q, k, v, scale, mask=None):
    s = (q @ k.transpose(-1, -2)) * scale
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    lse = torch.logsumexp(s, -1)
    return torch.softmax(s, -1) @ v, lse


def decode():
    requests, n, heads, kv, dim, block = 64, 4096, 8, 2, 128, 16
    pages = requests * n // block
    cache = [torch.randn(pages + pages // 3 + 1, block, kv, dim, dtype=torch.bfloat16) for _ in range(2)]
    order = torch.randperm(pages)
    table = (order + order // 3).view(requests, n // block)
    q = torch.randn(requests, heads, dim, dtype=torch.bfloat16)

    def run():
        k, v = (c[table].view(requests, n, kv, dim).transpose(1, 2).double() for c in cache)
        return attention(q.double().view(requests, kv, heads // kv, dim), k, v, 1 / math.sqrt(dim))

    return run


def prefill():
    n, heads, dim = 2048, 8, 128
    q, k, v = (torch.randn(heads, n, dim, dtype=torch.bfloat16) for _ in range(3))
    mask = torch.ones(n, n, dtype=torch.bool).triu(1)
    return lambda: attention(q.double(), k.double(), v.double(), 1 / math.sqrt(dim), mask)


def small():
    heads, kv, dim, block = 4, 2, 64, 16
    cases = []
    for i in range(1000):
        requests = []
        for n, q_len in ((1 + i % 97, 1 + i % 3), (1 + i % 31, 1 + i % 2)):
            pages = (n + block - 1) // block
            cache = [torch.randn(pages + 1, block, kv, dim, dtype=torch.bfloat16) for _ in range(2)]
            requests.append((n, torch.randn(q_len, heads, dim, dtype=torch.bfloat16), cache, torch.randperm(pages)))
        cases.append((i % 8, requests))
    slopes = torch.exp2(-8.0 * torch.arange(1, heads + 1) / heads).double()

    def run():
        for variant, requests in cases:
            for n, q, cache, table in requests:
                k, v = (c[table].view(-1, kv, dim)[:n].double().transpose(0, 1).repeat_interleave(heads // kv, 0) for c in cache)
                q_len = q.shape[0]
                s = (q.double().transpose(0, 1) @ k.transpose(-1, -2)) / math.sqrt(dim)
                position = torch.arange(n - q_len, n)[:, None]
                j = torch.arange(n)[None, :]
                if variant == 2:
                    s = 5 * torch.tanh(s / 5)
                if variant == 4:
                    s = s - slopes[:, None, None] * (position - j).abs()
                hidden = torch.zeros(q_len, n, dtype=torch.bool) if variant == 5 else j > position
                if variant == 1:
                    hidden = hidden | (j < position - 7)
                s = s.masked_fill(hidden, float("-inf"))
                if variant == 3:
                    s = torch.cat([s, torch.zeros(heads, q_len, 1, dtype=torch.float64)], -1)
                torch.logsumexp(s, -1)
                p = torch.softmax(s, -1)
                p[..., :n] @ v

    return run


def main():
    program = sys.argv[1]
    for name, make in (("decode", decode), ("prefill", prefill), ("small", small)):
        run = make()
        run()
        ours, theirs, walls = [], [], []
        for _ in range(ROUNDS):
            line = json.loads(subprocess.run([program, name], check=True, capture_output=True, text=True).stdout)
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            theirs.append(time.process_time() - cpu)
            ours.append(line["cpu_seconds"])
            walls.append((time.perf_counter() - wall, line["seconds"]))
        ratio = statistics.median(theirs) / statistics.median(ours)
        wall = statistics.median(w[0] for w in walls), statistics.median(w[1] for w in walls)
        print(f"{name}: torch {statistics.median(theirs):.3f} s, assay {statistics.median(ours):.3f} s of CPU, "
              f"ratio {ratio:.2f}; wall {wall[0]:.3f} s and {wall[1]:.3f} s")


if __name__ == "__main__":
    main()
