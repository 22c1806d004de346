"""What a callable is: which distribution, file, source and library stand behind a dotted name."""
import ctypes
import functools
import importlib
import importlib.metadata
import inspect
import os
import sys
import types

from assay_worker import origins, tables


def resolve(dotted):
    """The object, and the dotted names of what was imported on the way."""
    if "::" in dotted:
        return operator(dotted), ["torch"]
    parts = dotted.replace(":", ".").split(".")
    value, imported = None, []
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        try:
            value = importlib.import_module(name)
            imported.append(name)
        except ModuleNotFoundError as error:
            if error.name and not (name == error.name or name.startswith(error.name + ".")):
                raise
            break
    if not imported:
        raise ModuleNotFoundError(f"No module named {parts[0]!r}")
    for part in parts[len(imported):]:
        value = getattr(value, part)
    return value, imported


def operator(dotted):
    import torch
    space, _, name = dotted.partition("::")
    return getattr(getattr(torch.ops, space), name.split(".")[0])


def unwrapped(value):
    """What stands behind decorators, the outermost first: [what, name, place]."""
    layers = []
    for _ in range(20):
        layers.append([type(value).__name__, tables.name_of(value) or "", tables.place_of(value)])
        if isinstance(value, (staticmethod, classmethod, types.MethodType)):
            value = value.__func__
        elif isinstance(value, functools.partial):
            value = value.func
        elif "__wrapped__" in getattr(value, "__dict__", {}):
            value = value.__wrapped__
        elif type(value).__name__ in ("JITFunction", "Autotuner", "Heuristics") and hasattr(value, "fn"):
            value = value.fn
        else:
            break
    return value, layers


def source_of(value):
    try:
        lines, first = inspect.getsourcelines(value)
        return {"file": inspect.getsourcefile(value) or "", "first_line": first, "last_line": first + len(lines) - 1, "text": "".join(lines)[:20000]}
    except (OSError, TypeError):
        return None


def signature_of(value):
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return getattr(value, "__text_signature__", None) or ""


def library_at(address):
    """The mapped file that holds an address."""
    with open("/proc/self/maps") as lines:
        for line in lines:
            span, _, rest = line.partition(" ")
            low, _, high = span.partition("-")
            if int(low, 16) <= address < int(high, 16):
                path = rest.rstrip("\n").split(" ", 4)[-1].strip()
                return path if path.startswith("/") else ""
    return ""


def native_library(value):
    """Of a function written in C: the library that its code lies in.  CPython's PyCFunctionObject keeps a PyMethodDef, which
    begins with a name and the function."""
    if not isinstance(value, types.BuiltinFunctionType) or sys.implementation.name != "cpython":
        return ""
    word = ctypes.sizeof(ctypes.c_void_p)
    try:
        method = ctypes.c_void_p.from_address(id(value) + object.__basicsize__).value
        code = ctypes.c_void_p.from_address(method + word).value
        return library_at(code)
    except (ValueError, TypeError):
        return ""


def operators(space, name):
    """Each overload's schema, and where each dispatch key's kernel was registered."""
    import torch
    schemas = [str(s) for s in torch._C._jit_get_schemas_for_operator(f"{space}::{name}")]
    kernels = []
    try:
        for line in torch._C._dispatch_dump(f"{space}::{name}").splitlines():
            key, _, rest = line.partition(": ")
            if "registered at " in rest or "[alias]" in line:
                kernels.append([key.strip(), rest.partition("registered at ")[2].split(" ")[0] or rest])
    except Exception:
        pass
    return {"schemas": schemas, "kernels": kernels, "libraries": registering_libraries(kernels)}


def registering_libraries(kernels):
    """Libraries of this process that hold the text of a place where a kernel was registered: the compiler put it there."""
    texts = {place.rsplit(":", 1)[0].encode() for _, place in kernels if place.startswith(("/", ".")) or ".cpp" in place or ".cu" in place}
    out = []
    for path in origins.mapped_libraries() if texts else ():
        try:
            if os.path.getsize(path) > (2 << 30):
                continue
            with open(path, "rb") as file:
                content = file.read()
        except OSError:
            continue
        if any(text in content for text in texts):
            out.append(path)
    return out


def distribution_of(file):
    """[name, version, metadata] of the distribution whose record names the file; none for what nobody installed."""
    if not file:
        return None
    real = os.path.realpath(file)
    for dist in importlib.metadata.distributions():
        try:
            base = os.path.realpath(str(dist.locate_file("")))
            record = dist.read_text("RECORD") or ""
            if real.startswith(base + os.sep) and "\n" + os.path.relpath(real, base) + "," in "\n" + record:
                return [str(dist.metadata["Name"]), str(dist.metadata["Version"]), str(getattr(dist, "_path", ""))]
        except Exception:
            continue
    return None


def identify(dotted):
    value, imported = resolve(dotted)
    inner, layers = unwrapped(value)
    kind = type(inner).__name__
    out = {"name": dotted, "imported": imported[-1], "kind": kind, "layers": layers, "signature": signature_of(value)}
    file = ""
    if kind in ("OpOverloadPacket", "OpOverload"):
        name = getattr(inner, "_qualified_op_name", None) or str(getattr(inner, "_name", ""))
        space, _, op = name.partition("::")
        out["operator"] = operators(space, op.split(".")[0])
        out["signature"] = ""  # the schemas say it
    source = source_of(inner)
    if source:
        out["source"] = source
        file = source["file"]
    library = native_library(inner)
    if not library:
        module = sys.modules.get(getattr(inner, "__module__", None) or "")
        if not file and module is not None and (getattr(module, "__file__", None) or "").endswith(".so"):
            library = module.__file__
    if library:
        out["library"] = library
    libraries = ([library] if library else []) + out.get("operator", {}).get("libraries", [])
    out["libraries"] = list(dict.fromkeys(libraries))
    out["file"] = os.path.abspath(file) if file else (library or "")
    out["distribution"] = distribution_of(out["file"] or (libraries[0] if libraries else ""))
    out["mapped"] = origins.mapped_libraries()
    if "torch" in sys.modules:
        out["builds"] = origins.builds()
    return out
