"""What an import really gives, in a process that really imports it."""
import importlib
import os
import sys
import time

from assay_worker import errors


def mapped_libraries():
    """Shared objects in this process, in order of address."""
    out = []
    with open("/proc/self/maps") as lines:
        for line in lines:
            path = line.rstrip("\n").split(" ", 5)[-1].strip()
            if path.startswith("/") and ".so" in os.path.basename(path) and path not in out:
                out.append(path)
    return out


def module_row(module):
    spec = getattr(module, "__spec__", None)
    file = getattr(module, "__file__", None) or ""
    loader = getattr(spec, "loader", None)
    return {"name": module.__name__, "file": os.path.abspath(file) if file else "",
            "places": [os.path.abspath(p) for p in (getattr(module, "__path__", None) or [])],
            "loader": type(loader).__name__ if not isinstance(loader, type) else loader.__name__,
            "version": str(getattr(module, "__version__", "") or "")}


def load(module):
    """Imports it; a fault is part of the answer, since the interpreter goes on."""
    before, start = set(mapped_libraries()), time.perf_counter()
    out = {"module": module}
    try:
        out.update(module_row(importlib.import_module(module)))
    except BaseException as error:
        out["error"] = errors.describe(error)
    out["seconds"] = time.perf_counter() - start
    out["libraries"] = [lib for lib in mapped_libraries() if lib not in before]
    return out


def versions(module):
    """The plain attributes of a module such as torch.version."""
    out = {}
    for name, value in sorted(vars(module).items()):
        if not name.startswith("__") and (value is None or isinstance(value, (str, bool, int))):
            out[name] = value
    return out


def attempt(function):
    try:
        return function()
    except BaseException as error:
        return f"<{type(error).__name__}: {errors.text_of(error)}>"


def builds():
    """torch and triton as they were built, and the device that they see."""
    out = {}
    import torch
    out["torch"] = {"version": str(torch.__version__), "file": torch.__file__,
                    "cxx11_abi": attempt(lambda: torch.compiled_with_cxx11_abi()), **attempt_dict(torch, "version")}
    devices = []
    for kind in ("cuda", "xpu", "npu", "musa", "hpu", "mps"):
        side = getattr(torch, kind, None)
        if side is None or not hasattr(side, "is_available") or attempt(side.is_available) is not True:
            continue
        for index in range(side.device_count() if hasattr(side, "device_count") else 1):
            row = {"kind": kind, "index": index, "name": str(attempt(lambda: side.get_device_name(index)))}
            if hasattr(side, "get_device_capability"):
                row["capability"] = str(attempt(lambda: side.get_device_capability(index)))
            if hasattr(side, "get_device_properties"):
                row["memory"] = attempt(lambda: int(side.get_device_properties(index).total_memory))
            devices.append(row)
    out["devices"] = devices
    out["driver"] = driver()
    return out


def attempt_dict(torch, name):
    module = getattr(torch, name, None)
    return {k: v for k, v in versions(module).items() if k != "__version__"} if module else {}


def driver():
    for path in ("/proc/driver/nvidia/version", "/sys/module/nvidia/version", "/sys/module/metax/version", "/sys/module/amdgpu/version"):
        try:
            with open(path) as file:
                return {"source": path, "text": file.readline().strip()}
        except OSError:
            continue
    return None


def platform():
    """The platform that vLLM chose, with plugins, and the class that it is."""
    from vllm.platforms import current_platform as chosen
    kind = type(chosen)
    return {"class": f"{kind.__module__}.{kind.__qualname__}", "file": getattr(sys.modules.get(kind.__module__), "__file__", "") or "",
            "device_type": str(attempt(lambda: chosen.device_type)), "device_name": str(attempt(lambda: chosen.device_name)),
            "is_out_of_tree": str(attempt(chosen.is_out_of_tree)), "is_cuda_alike": str(attempt(chosen.is_cuda_alike))}
