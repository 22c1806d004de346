"""What is installed, as the interpreter itself sees it.  Standard library only; nothing is imported.

No value of an environment variable leaves this file, and no URL with what may be a secret.
"""
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import site
import sys
import sysconfig
import urllib.parse

# Only whether they are set is recorded.
NAMES = (
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "MACA_PATH", "MACA_VISIBLE_DEVICES", "ROCM_PATH", "HIP_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES", "VLLM_PLUGINS", "VLLM_TARGET_DEVICE", "VLLM_USE_V1", "VLLM_ATTENTION_BACKEND",
    "VLLM_WORKER_MULTIPROC_METHOD", "VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_CONFIGURE_LOGGING", "TRITON_INTERPRET",
    "TORCH_COMPILE_DISABLE", "TORCHDYNAMO_DISABLE", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "HF_HOME", "HF_TOKEN",
)
PREFIXES = ("VLLM_", "TORCH", "TRITON_", "NCCL_", "CUDA_", "MACA_", "MCCL_", "ASCEND_", "HCCL_", "XPU_", "MUSA_")


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def safe_url(url):
    """Scheme, host and path: a user, a password, a query or a fragment may be a secret."""
    try:
        parts = urllib.parse.urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "<a URL that cannot be read>"
    if parts.scheme == "file":
        return "file://" + parts.path
    secret = parts.username is not None or parts.password is not None
    host = ("***@" if secret else "") + (parts.hostname or "") + port
    return f"{parts.scheme}://{host}{parts.path}" + ("?***" if parts.query else "")


def cfg_of(prefix):
    path = os.path.join(prefix, "pyvenv.cfg")
    out = {}
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, equals, value = line.partition("=")
                if equals and key.strip() in ("home", "version", "version_info", "include-system-site-packages", "uv", "implementation"):
                    out[key.strip()] = value.strip()
    except OSError:
        return None
    return {"path": path, **out}


def kind_of(entry):
    if entry == "":
        return "current folder"
    if os.path.isdir(entry):
        return "folder"
    return "archive" if os.path.isfile(entry) else "missing"


def interpreter():
    real = os.path.realpath(sys.executable) if sys.executable else ""
    try:
        user_site = site.getusersitepackages()
    except Exception:
        user_site = ""
    path = []
    for entry in sys.path:
        path.append({"entry": entry, "kind": kind_of(entry), "user": bool(user_site) and entry == user_site})
    return {
        "executable": sys.executable, "real_executable": real, "version": platform.python_version(),
        "implementation": sys.implementation.name, "abi": sysconfig.get_config_var("SOABI") or "", "platform": sysconfig.get_platform(),
        "prefix": sys.prefix, "base_prefix": sys.base_prefix, "venv": cfg_of(sys.prefix),
        "user_site": {"enabled": bool(site.ENABLE_USER_SITE), "folder": user_site},
        "safe_path": bool(getattr(sys.flags, "safe_path", False)), "isolated": bool(sys.flags.isolated),
        "folder": os.getcwd(), "path": path, "finders": finders(), "machine": platform.machine(), "libc": " ".join(platform.libc_ver()),
    }


def finders():
    """Import finders beside Python's own: editable installs and redirects."""
    out = []
    for finder in sys.meta_path:
        kind = finder if isinstance(finder, type) else type(finder)
        if kind.__module__.startswith(("_frozen_importlib", "importlib")) or "assay" in str(getattr(finder, "__qualname__", "")):
            continue
        if kind.__qualname__ == "Finder" and kind.__module__ == "__main__":
            continue  # the one that brought this module
        out.append(f"{kind.__module__}.{kind.__qualname__}")
    return out


def variables():
    """Names alone.  A name that is on no list could itself tell something, so it isn't given."""
    rows = [{"name": n, "set": n in os.environ} for n in NAMES]
    known = set(NAMES)
    for name in sorted(os.environ):
        if name not in known and name.startswith(PREFIXES) and re.fullmatch(r"[A-Z0-9_]+", name):
            rows.append({"name": name, "set": True})
    return rows


def read(dist, name):
    try:
        return dist.read_text(name)
    except Exception:
        return None


def files_of(dist):
    record = read(dist, "RECORD")
    if record is None:
        listing = read(dist, "installed-files.txt") or read(dist, "SOURCES.txt") or ""
        return [line.strip() for line in listing.splitlines() if line.strip()]
    return [line.rsplit(",", 2)[0].strip('"') for line in record.splitlines() if line.strip()]


def editable_modules(dist, files):
    """Top-level modules that an editable install brings without holding them, with their folders."""
    out = {}
    base = str(dist.locate_file(""))
    for name in files:
        path = os.path.join(base, name)
        if name.startswith("__editable__") and name.endswith(".py"):
            finder = sys.modules.get(name[:-3])
            mapping = dict(getattr(finder, "MAPPING", {}) or {})
            out.update({k: str(v) for k, v in mapping.items() if "." not in k})
        elif name.endswith(".pth") and os.path.isfile(path):
            for line in open(path, encoding="utf-8", errors="replace"):
                folder = os.path.join(base, line.strip())
                if not line.strip() or line.startswith(("import ", "import\t", "#")) or not os.path.isdir(folder):
                    continue
                for item in sorted(os.listdir(folder)):
                    if os.path.isfile(os.path.join(folder, item, "__init__.py")):
                        out[item] = os.path.join(folder, item)
    return out


def top_level(dist, files, editable):
    names = set((read(dist, "top_level.txt") or "").split()) | set(editable)
    for name in files:
        first, slash, _ = name.partition("/")
        if name.startswith("__editable__"):
            continue
        if name.endswith((".py", ".pyi", ".so")):
            names.add(first if slash else first.split(".")[0])
    return sorted(n for n in names if n.isidentifier())


def provenance(dist):
    text = read(dist, "direct_url.json")
    if not text:
        return None
    try:
        data = json.loads(text)
    except ValueError:
        return {"fault": "direct_url.json cannot be read"}
    out = {"url": safe_url(str(data.get("url", ""))), "editable": bool(data.get("dir_info", {}).get("editable"))}
    vcs = data.get("vcs_info") or {}
    if vcs.get("commit_id"):
        out["commit"] = str(vcs["commit_id"])
    if data.get("dir_info") is not None and not out["editable"]:
        out["note"] = "a wheel built from that folder, which may have changed since"
    return out


def describe(dist):
    metadata = getattr(dist, "_path", None)
    files = files_of(dist)
    editable = editable_modules(dist, files)
    meta = dist.metadata
    requires = [r for r in (meta.get_all("Requires-Dist") or []) if re.match(r"(torch|triton|vllm)\b", r, re.I)]
    return {
        "name": str(meta["Name"] or ""), "version": str(meta["Version"] or ""), "metadata": os.path.abspath(str(metadata)) if metadata else "",
        "base": os.path.abspath(str(dist.locate_file(""))), "installer": (read(dist, "INSTALLER") or "").strip(),
        "editable": bool(editable) or bool((provenance(dist) or {}).get("editable")), "editable_modules": editable,
        "provenance": provenance(dist), "modules": top_level(dist, files, editable), "files": len(files), "requires": requires,
        "libraries": sorted(f for f in files if re.search(r"\.so(\.[0-9.]+)?$", f)),
    }


def find(module):
    """Where an import would go, through every finder, without importing."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception as error:
        return {"module": module, "kind": "broken", "fault": f"{type(error).__name__}: {error}"}
    if spec is None:
        return {"module": module, "kind": "absent"}
    places = [os.path.abspath(p) for p in spec.submodule_search_locations or []]
    origin = spec.origin or ""
    kind = "namespace" if spec.origin is None and places else "extension" if origin.endswith(".so") else "source"
    if origin in ("built-in", "frozen"):
        kind = "built-in"
    out = {"module": module, "kind": kind, "file": origin if kind in ("source", "extension") else "", "places": places}
    here = os.path.join(os.getcwd(), module)
    if (os.path.isfile(here + ".py") or os.path.isdir(here)) and not any(os.path.samefile(here, p) for p in places if os.path.isdir(p)):
        out["shadowed_by"] = here  # what `python -m` and `python -c`, which put the current folder first, would take
    return out


def survey(modules, names):
    """All candidates for these top-level modules and distribution names, not only the first of each."""
    wanted = {normal(n) for n in names}
    out, seen = [], set()
    for dist in importlib.metadata.distributions():
        try:
            row = None
            name = normal(str(dist.metadata["Name"] or ""))
            key = str(getattr(dist, "_path", id(dist)))
            if key in seen:
                continue
            seen.add(key)
            if name in wanted:
                row = describe(dist)
            elif any((read(dist, "RECORD") or read(dist, "top_level.txt") or "").find(m) >= 0 for m in modules):
                row = describe(dist)
                if not set(row["modules"]) & set(modules):
                    row = None
        except Exception as error:
            row = {"name": str(getattr(dist, "_path", "")), "fault": f"{type(error).__name__}: {error}"}
        if row:
            out.append(row)
    return {"distributions": out, "found": [find(m) for m in modules]}


def plugins(groups):
    """Every entry point of these groups, and whose it is."""
    out = []
    for dist in importlib.metadata.distributions():
        try:
            for entry in dist.entry_points:
                if entry.group in groups:
                    out.append({"group": entry.group, "name": entry.name, "value": entry.value, "distribution": str(dist.metadata["Name"] or ""),
                                "metadata": str(getattr(dist, "_path", ""))})
        except Exception:
            continue
    return out
