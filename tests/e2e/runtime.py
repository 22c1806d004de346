#!/usr/bin/env python3
"""The runtime half on a real environment (scripts/real-env): vLLM for the CPU and two published plugins.

  runtime.py ASSAY ENVIRONMENT CACHE_DIR

Prints one line a case, and the seconds that all took; exits with 1 if a case fails.
"""
import concurrent.futures
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

GGUF, BNB = "pypi:vllm-gguf-plugin==0.0.5", "pypi:vllm-bnb-plugin==0.0.3"


def snapshot(folder):
    """Every file with its size and time: bytecode caches too."""
    out = {}
    for base, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(base, name)
            try:
                info = os.lstat(path)
            except OSError:
                continue
            out[path] = (info.st_size, info.st_mtime_ns)
    return out


class Runner:
    def __init__(self, assay, environment, cache):
        self.assay, self.environment, self.cache = assay, environment, cache
        self.python = os.path.join(environment, "bin", "python")
        self.temporary = tempfile.mkdtemp(prefix="assay-e2e-")

    def run(self, *arguments, path=""):
        variables = {**os.environ, "TMPDIR": self.temporary, "PYTHONPATH": path}
        command = [self.assay, *arguments, "--python", self.python, "--format", "json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=variables, timeout=600)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-800:]}")
        return done.returncode, json.loads(done.stdout)

    def startup(self, plugin, *more, path=""):
        return self.run("startup", "--plugin", plugin, "--cache-dir", self.cache, *more, path=path)


def row(record, kind, key):
    return next((r for r in record["rows"] if r["kind"] == kind and r["key"] == key), None)


def expect(faults, condition, what):
    if not condition:
        faults.append(what)


def without_gguf(runner):
    faults = []
    code, record = runner.startup(GGUF, "--quick")
    lost = [s for s in record["swallowed"] if s["lost"]]
    expect(faults, code == 1, f"exit {code}")
    expect(faults, len(lost) == 1, f"{len(lost)} exceptions that lost an entry point")
    if lost:
        expect(faults, (lost[0]["type"], lost[0]["message"]) == ("ModuleNotFoundError", "No module named 'gguf'"), str(lost[0]))
        expect(faults, lost[0]["raised"].endswith("vllm_gguf_plugin/gguf_utils.py:9 in <module>"), lost[0]["raised"])
        expect(faults, "load_plugins_by_group" in lost[0]["caught"], lost[0]["caught"])
        chain = [os.path.basename(f.split(":")[0]) for f in lost[0]["frames"] if "vllm_gguf_plugin" in f]
        expect(faults, chain == ["__init__.py", "config_parser.py", "gguf_utils.py"], f"chain {chain}")
    expect(faults, row(record, "quantization-config", "gguf")["verdict"] == "absent", "gguf is registered")
    return faults


def with_gguf(runner):
    faults = []
    code, record = runner.startup(GGUF, "--quick", path=os.path.join(runner.environment, "gguf"))
    expect(faults, code == 0 and record["verdict"] == "clean", f"exit {code}, {record['verdict']}")
    found = row(record, "quantization-config", "gguf")
    expect(faults, found["verdict"] == "agrees" and found["effective"] == "vllm_gguf_plugin.quantization.config.GGUFConfig", str(found))
    expect(faults, not [m for m in record["modules"] if m["proof"] != "same" and m["file"]], "a module has another content")
    return faults


def bitsandbytes(runner):
    faults = []
    code, record = runner.startup(BNB, "--quick")
    found = row(record, "quantization-config", "bitsandbytes")
    expect(faults, code == 0, f"exit {code}")
    expect(faults, found["effective"] == "vllm_bnb_plugin.quantization.config.BitsAndBytesConfig", str(found))
    expect(faults, "vllm_bnb_plugin/quantization/config.py:" in found["place"], found["place"])
    return faults


def whole(runner):
    """Beside a start without the plugin, and in a spawned child."""
    faults = []
    code, record = runner.startup(BNB)
    expect(faults, code == 0 and not record["child_fault"], f"exit {code}, {record['child_fault']}")
    changed = {c["path"]: c for c in record["changes"]}
    table = changed.get("vllm.model_executor.layers.quantization._CUSTOMIZED_METHOD_TO_QUANT_CONFIG[bitsandbytes]")
    patched = changed.get("vllm.engine.arg_utils.EngineArgs.create_model_config")
    expect(faults, table and table["owner"] == "plugin" and table["declared"], f"table {table}")
    expect(faults, patched and patched["before"] and patched["declared"].startswith("patch "), f"patch {patched}")
    expect(faults, not [r for r in record["rows"] if r["in_child"]], "the child gives something else")
    expect(faults, not [p for p in changed if "gguf" in p], "gguf stands in a table of vLLM")
    return faults


def timed(runner, chosen):
    faults = []
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        cases = {pool.submit(case, runner): case.__name__ for case in chosen}
        for done in concurrent.futures.as_completed(cases):
            found = done.result()
            print(f"{cases[done]}: {'ok' if not found else 'FAILED'}")
            faults += [f"{cases[done]}: {f}" for f in found]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{time.monotonic() - start:.1f} s, {used:.1f} s of processor time")
    return faults


def main():
    assay, environment, cache = (os.path.abspath(p) for p in sys.argv[1:4])
    runner = Runner(assay, environment, cache)
    before = snapshot(environment)
    faults = timed(runner, (without_gguf, with_gguf, bitsandbytes)) + timed(runner, (whole,))
    after = snapshot(environment)
    changed = sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))
    if changed:
        faults.append(f"{len(changed)} files of the environment were written, such as {changed[0]}")
    left = os.listdir(runner.temporary)
    if left:
        faults.append(f"left behind in the temporary folder: {left}")
    os.rmdir(runner.temporary)
    for fault in faults:
        print("FAILED", fault)
    sys.exit(1 if faults else 0)


main()
