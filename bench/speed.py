#!/usr/bin/env python3
"""Wall time and peak memory of assay beside ty, pyrefly, pyright and griffe, in one run on one machine.

  speed.py --assay build/release/assay --plugin DIR --target DIR [--runs 5] [--tools ty,pyrefly,pyright,griffe]

DIR is an unpacked plugin, and a folder that holds vllm/.  The other tools are installed with pip into build/bench/venv.
Every tool gets the same files from a warm page cache; the median of the runs counts.  Figures are ratios to ty.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def timed(command, cwd, env=None):
    """Seconds and peak resident megabytes of one run."""
    start = time.perf_counter()
    child = subprocess.Popen(command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"failed, so not measured: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


def measure(name, command, cwd, runs, before=None, env=None):
    times, memory = [], []
    for _ in range(runs):
        if before:
            before()
        seconds, megabytes = timed(command, cwd, env)
        times.append(seconds)
        memory.append(megabytes)
    return name, statistics.median(times), max(memory)


def install(tools):
    venv = ROOT / "build" / "bench" / "venv"
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    missing = [t for t in tools if not (venv / "bin" / t).exists()]
    if missing:
        subprocess.run([str(venv / "bin" / "python"), "-m", "pip", "install", "-q", *missing], check=True)
    return venv / "bin"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default=str(ROOT / "build/release/assay"))
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--platform", default="")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tools", default="ty,pyrefly,pyright,griffe")
    args = parser.parse_args()
    tools = [t for t in args.tools.split(",") if t]
    bin_dir = install(tools)
    work = pathlib.Path(tempfile.mkdtemp(prefix="assay-bench"))
    plugin = work / "plugin"
    shutil.copytree(args.plugin, plugin, symlinks=True)
    (plugin / "pyproject.toml").unlink(missing_ok=True)  # its tool sections are not meant for these tools
    target = str(pathlib.Path(args.target).resolve())
    package = next(p.parent.name for p in sorted(plugin.glob("*/__init__.py")) if p.parent.name not in ("tests", "examples"))
    (plugin / "pyrightconfig.json").write_text(json.dumps({"include": [package], "extraPaths": [target, str(plugin)], "pythonVersion": "3.12"}))
    cache = work / "cache"

    def cold():
        shutil.rmtree(cache, ignore_errors=True)

    assay = [os.path.abspath(args.assay), "check", "--plugin", args.plugin, "--target", args.target, "--format", "json",
             "--output", str(work / "report.json"), "--exit-zero", "--cache-dir", str(cache)]
    if args.platform:
        assay += ["--platform", args.platform]
    rows = [measure("assay, cold", assay, str(ROOT), args.runs, before=cold),
            measure("assay, warm", assay, str(ROOT), args.runs)]
    commands = {
        "ty": ["ty", "check", "--output-format", "concise", "--extra-search-path", target, str(plugin / package)],
        "pyrefly": ["pyrefly", "check", "--output-format", "json", "--search-path", target, "--search-path", str(plugin), str(plugin / package)],
        "pyright": ["pyright", "--outputjson", "-p", str(plugin)],
        "griffe": ["griffe", "dump", package, "vllm", "-s", str(plugin), "-s", target, "-o", os.devnull],
    }
    for tool in tools:
        command = [str(bin_dir / commands[tool][0])] + commands[tool][1:]
        try:
            rows.append(measure(tool, command, str(plugin), 1 if tool in ("pyright", "griffe") else args.runs))
        except SystemExit as failure:
            print(failure)
    base = next((seconds for name, seconds, _ in rows if name == "ty"), rows[0][1])
    print(f"{'tool':<14}{'seconds':>9}{'ratio to ty':>13}{'peak MB':>9}")
    for name, seconds, megabytes in rows:
        print(f"{name:<14}{seconds:>9.3f}{seconds / base:>12.2f}x{megabytes:>9.0f}")
    shutil.rmtree(work)


main()
