"""What stands in the modules of a package: names, class attributes, registries.  Described so that two processes can be
compared: no addresses, no identities."""
import enum
import functools
import hashlib
import os
import sys
import types

MOST_ENTRIES = 5000  # of one container
SCRATCH = os.path.dirname(os.environ.get("TMPDIR", "/nowhere/x"))


CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, types.WrapperDescriptorType,
             type(functools.lru_cache(len)))


def name_of(thing):
    """Where it was written: functools.wraps gives a wrapper the name of what it wraps."""
    code = getattr(thing, "__code__", None) if isinstance(thing, types.FunctionType) else None
    if code is not None:
        return f"{thing.__globals__.get('__name__')}.{getattr(code, 'co_qualname', None) or thing.__qualname__}".replace("<locals>.", "")
    return claimed_name(thing)


def claimed_name(thing):
    """The name that it goes by."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if not isinstance(name, str):
        return None
    return f"{module}.{name}".replace("<locals>.", "") if isinstance(module, str) else name


def code_of(thing):
    for _ in range(20):
        if isinstance(thing, (staticmethod, classmethod, types.MethodType)):
            thing = thing.__func__
        elif isinstance(thing, functools.partial):
            thing = thing.func
        else:
            break
    return getattr(thing, "__code__", None)


def place_of(thing):
    """FILE:LINE of a class or function; empty where there is none."""
    code = code_of(thing)
    if code is not None and hasattr(code, "co_filename"):
        return f"{code.co_filename}:{code.co_firstlineno}"
    if isinstance(thing, type):
        file = getattr(sys.modules.get(thing.__module__), "__file__", None)
        line = class_line(thing)
        if file:
            return f"{file}:{line}" if line else file
    return ""


def class_line(kind):
    line = kind.__dict__.get("__firstlineno__")  # 3.13 on
    if isinstance(line, int):
        return line
    try:
        import inspect
        return inspect.getsourcelines(kind)[1]
    except Exception:
        return 0


def plain(value):
    text = repr(value).replace(SCRATCH, "<scratch>")
    return text if len(text) <= 200 else text[:200] + "…"


def describe(value):
    """[what, dotted name or text]"""
    if value is None or isinstance(value, (bool, int, float, str, bytes)) and not isinstance(value, enum.Enum):
        return ["value", plain(value)]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if isinstance(value, type):
        return ["class", name_of(value)]
    if isinstance(value, enum.Enum):
        return ["enum", f"{type(value).__qualname__}.{value.name}"]
    if isinstance(value, property):
        return ["property", name_of(value.fget) or ""]
    if isinstance(value, (staticmethod, classmethod)):
        return [type(value).__name__, name_of(value.__func__) or ""]
    if isinstance(value, CALLABLES):
        return ["callable", name_of(value) or ""]
    # Anything else may run code of its own when it is looked into: only its type is named.
    fields = type(value).__dict__.get("__dataclass_fields__")
    if fields and len(fields) <= 4 and all(isinstance(getattr(value, f, None), str) for f in fields):
        return ["object", f"{name_of(type(value))}({', '.join(getattr(value, f) for f in fields)})"]
    return ["object", name_of(type(value)) or ""]


def key_text(key):
    if isinstance(key, str):
        return key
    described = describe(key)
    return described[1] or described[0]


def contents(value):
    if isinstance(value, dict):
        return [(key_text(k), v) for k, v in list(value.items())[:MOST_ENTRIES]]
    if isinstance(value, (list, tuple)):
        entries = list(value)[:MOST_ENTRIES]
        names = [key_text(v) for v in entries]
        # By what they are where that tells them apart, so that one more in front does not change all.
        return list(zip(names, entries)) if len(set(names)) == len(names) else [(str(i), v) for i, v in enumerate(entries)]
    if isinstance(value, (set, frozenset)):
        return [(key_text(v), v) for v in list(value)[:MOST_ENTRIES]]
    return None


def rows_of(path, value, out, depth):
    described = describe(value)
    if type(value).__module__ != "builtins" and not isinstance(value, dict):
        inner = None
    else:
        inner = contents(value)
    if inner is None or depth == 0:
        out[path] = (described, value)
        return
    out[path] = ([type(value).__name__, ""], value)
    for key, entry in inner:
        rows_of(f"{path}[{key}]", entry, out, depth - 1)


SKIPPED = {"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__", "__annotate__", "__annotate_func__",
           "__annotations_cache__", "__firstlineno__", "__static_attributes__", "__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__",
           "__match_args__", "__hash__", "__slots__", "__subclasshook__", "__conditional_annotations__"}


def table(module):
    """path → (description, value) for what the module holds: its names, the attributes of its own classes, and what containers
    hold two levels deep."""
    out = {}
    for name, value in list(vars(module).items()):
        if name.startswith("__") and name.endswith("__") and name != "__getattr__":
            continue
        path = f"{module.__name__}.{name}"
        if isinstance(value, types.ModuleType) and value.__name__ == path:
            continue  # a submodule that somebody has imported
        rows_of(path, value, out, 2)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for attribute, inner in list(vars(value).items()):
                # What pydantic keeps of a model is made from the fields, with addresses in it.
                if attribute not in SKIPPED and not attribute.startswith("__pydantic"):
                    rows_of(f"{path}.{attribute}", inner, out, 2)
    return out


def modules_below(packages):
    out = {}
    for name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType) and name.split(".")[0] in packages and getattr(module, "__file__", None):
            out[name] = module
    return out


KEPT = {}


def digests(packages):
    """One hash per module, so that only what differs has to be sent.  What they held is kept for `details`."""
    out = {}
    for name, module in modules_below(packages).items():
        if module.__name__ != name:
            continue  # an alias in sys.modules
        KEPT[name] = {path: d for path, (d, _) in table(module).items()}
        text = "\n".join(f"{path} {d[0]} {d[1]}" for path, d in sorted(KEPT[name].items()))
        out[name] = hashlib.sha1(text.encode("utf-8", "replace")).hexdigest()
    return out


def details(modules):
    out = {}
    for name in modules:
        out.update(KEPT.get(name, {}))
    return out


def find(path):
    """The value at a path of `table`, by the longest module that it begins with."""
    head = path.split("[", 1)[0].split(".")
    for end in range(len(head), 0, -1):
        module = sys.modules.get(".".join(head[:end]))
        if isinstance(module, types.ModuleType):
            rows = table(module)
            return rows[path][1] if path in rows else None
    return None


def places(paths):
    return {path: place_of(find(path)) for path in paths}


def holders(paths, packages):
    """Who else holds the very object that stands at each path: `from m import f` binds it once and for all."""
    wanted = {}
    for path in paths:
        value = find(path)
        if isinstance(value, (type, types.FunctionType)):
            wanted.setdefault(id(value), []).append(path)
    out = {path: [] for path in paths}
    for name, module in modules_below(packages).items():
        for attribute, value in list(vars(module).items()):
            for path in wanted.get(id(value), ()):
                if path != f"{name}.{attribute}":
                    out[path].append(f"{name}.{attribute}")
    return out


def same(pairs):
    """For [path, holder]: whether the holder now has what stands at the path."""
    return [find(path) is find(holder) for path, holder in pairs]
