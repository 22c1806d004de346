#!/usr/bin/env python3
"""No command writes into what it looks at: plugin, target and the interpreter's packages, bytecode caches included.

  read_only.py ASSAY ENVIRONMENT CACHE_DIR

Paths, kinds, sizes and times of everything are taken before and after each command, and hashes of the files: of plugin and target
always, of the environment (70,000 paths) before the first and after the last command.  Exits with 1 if anything differs.
"""
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile


def digest(path, info):
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(info.st_mode):
        return ""
    with open(path, "rb") as file:
        return hashlib.blake2b(file.read()).hexdigest()


def snapshot(folder, hashes):
    """Folders count too: what is written and removed again shows in their time."""
    out = {}
    for base, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            path = os.path.join(base, name)
            info = os.lstat(path)
            out[path] = (stat.S_IFMT(info.st_mode), info.st_size, info.st_mtime_ns, info.st_ino, digest(path, info) if hashes else "")
    return out


def changed(before, after):
    return sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))


def commands(python, plugin, target):
    asked, read = ["--python", python], ["--plugin", plugin]
    yield "check", ["check", *read, "--target", target, *asked]
    yield "check, in place", ["check", *read, "--target", "installed:" + python]
    yield "review", ["review", *read, "--target", target, *asked]
    yield "identity", ["identity", "vllm.LLM", *asked]
    yield "identity of a plugin's", ["identity", "vllm_bnb_plugin.quantization.config.BitsAndBytesConfig", *asked]
    yield "preflight", ["preflight", *read, "--target", target, *asked]
    yield "startup", ["startup", *read, *asked, "--quick"]
    yield "inventory", ["inventory", *read, "--target", target]
    yield "compare", ["compare", target, "installed:" + python, *read]


def committed(source, folder):
    """A git repository of the package: review asks for one."""
    shutil.copytree(source, os.path.join(folder, os.path.basename(source)), ignore=shutil.ignore_patterns("__pycache__"))
    for arguments in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "-qm", "all"]):
        subprocess.run(["git", "-C", folder, *arguments], check=True)


def main():
    assay, environment, cache = (os.path.abspath(p) for p in sys.argv[1:4])
    python = os.path.join(environment, "bin", "python")
    packages = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    faults = []
    with tempfile.TemporaryDirectory(prefix="assay-read-only-") as temporary:
        work = os.path.join(temporary, "tmp")
        os.mkdir(work)
        sides = {}
        for side, package in (("plugin", "vllm_bnb_plugin"), ("target", "vllm")):
            sides[side] = os.path.join(temporary, side)
            os.mkdir(sides[side])
            committed(os.path.join(packages, package), sides[side])
        with open(os.path.join(sides["plugin"], "pyproject.toml"), "w") as out:
            out.write('[project]\nname = "vllm-bnb-plugin"\nversion = "0.0.3"\n[project.entry-points."vllm.general_plugins"]\nbnb = "vllm_bnb_plugin:register"\n')
        whole, last = snapshot(environment, True), snapshot(environment, False)
        own = {side: snapshot(folder, True) for side, folder in sides.items()}
        for name, arguments in commands(python, sides["plugin"], sides["target"]):
            done = subprocess.run([assay, *arguments, "--format", "json", *(["--cache-dir", cache] if "identity" not in name else [])],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": work, "XDG_CACHE_HOME": cache}, timeout=600)
            wrong = []
            if done.returncode not in (0, 1):
                wrong.append(f"exit {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")
            else:
                json.loads(done.stdout)
            now = snapshot(environment, False)
            for side, before, after in [("environment", last, now), *((s, own[s], snapshot(f, True)) for s, f in sides.items())]:
                paths = changed(before, after)
                if paths:
                    wrong.append(f"{side}: {len(paths)} changed, such as {paths[0]}")
            last = now
            left = os.listdir(work)
            if left:
                wrong.append(f"left in the temporary folder: {left}")
            print(f"{name}: {'ok' if not wrong else 'FAILED'}", flush=True)
            faults += [f"{name}: {w}" for w in wrong]
        paths = changed(whole, snapshot(environment, True))
        if paths:
            faults.append(f"environment, by content: {len(paths)} changed, such as {paths[0]}")
        print(f"{len(whole)} paths of the environment, {sum(map(len, own.values()))} of plugin and target")
    for fault in faults:
        print("FAILED", fault)
    sys.exit(1 if faults else 0)


main()
