"""vLLM's own start-up with its plugins, watched: what is loaded, what is swallowed, what stands where afterwards."""
import gc
import importlib
import importlib.util
import os
import sys
import time

from assay_worker import errors, swallowed, tables

# What brings plugins in, in the order of a normal start.  A step whose module a vLLM does not have is left out.
STEPS = (
    ("import vllm", "vllm", None),
    ("platform plugin", "vllm.platforms", "current_platform"),
    ("general plugins", "vllm.plugins", "load_general_plugins"),
)


def folders_of(packages):
    out = []
    for package in packages:
        try:
            spec = importlib.util.find_spec(package)
        except Exception:
            spec = None
        for place in (spec.submodule_search_locations or []) if spec else []:
            out.append(os.path.join(os.path.abspath(place), ""))
    return out


def do(step):
    name, module, attribute = step
    start = time.perf_counter()
    out = {"name": name}
    try:
        value = getattr(importlib.import_module(module), attribute) if attribute else importlib.import_module(module)
        if attribute == "current_platform":
            out["result"] = f"{type(value).__module__}.{type(value).__qualname__}"
        elif attribute:
            value()
    except BaseException as error:
        out["error"] = errors.describe(error)
    out["seconds"] = time.perf_counter() - start
    return out


def start(watched, plugins, trace):
    """`watched`: packages whose frames are traced; `plugins`: those whose modules are listed."""
    steps = []
    torch = {"name": "import torch", "seconds": 0.0}
    begin = time.perf_counter()
    try:
        importlib.import_module("torch")
    except BaseException as error:
        torch["error"] = errors.describe(error)
    torch["seconds"] = time.perf_counter() - begin
    steps.append(torch)
    tracer = swallowed.Tracer(folders_of(watched)) if trace else None
    if tracer:
        tracer.start()
        # A start makes millions of objects that stay: looking through them every 700 takes a quarter of the time.
        thresholds = gc.get_threshold()
        gc.set_threshold(200_000, *thresholds[1:])
    try:
        for step in STEPS:
            steps.append(do(step))
    finally:
        if tracer:
            tracer.stop()
            gc.set_threshold(*thresholds)
    return {"steps": steps, "swallowed": tracer.rows() if tracer else [], "swallowed_dropped": tracer.dropped if tracer else 0,
            "tracer_faults": tracer.faults if tracer else [],
            "modules": loaded(plugins), "vllm_modules": names_below(["vllm"])}


def loaded(packages):
    out = []
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] in packages and module is not None:
            out.append({"name": name, "file": os.path.abspath(getattr(module, "__file__", None) or "") if getattr(module, "__file__", None) else ""})
    return out


def import_all(modules):
    """Modules that the other process has: those that cannot be imported here are named."""
    faults = {}
    for name in modules:
        if name in sys.modules:
            continue
        try:
            importlib.import_module(name)
        except BaseException as error:
            faults[name] = f"{type(error).__name__}: {errors.text_of(error)}"
    return faults


def names_below(packages):
    return sorted(tables.modules_below(set(packages)))


def resolve(dotted):
    """The object of a dotted name; None where there is none that a process could find by it."""
    import pkgutil
    try:
        return pkgutil.resolve_name(dotted.replace(":", "."))
    except Exception:
        return None


def held_by(value, names, depth=6):
    """Which of these functions a wrapper holds in its closure: it calls them, most likely."""
    if depth == 0 or value is None:
        return None
    value = getattr(value, "__func__", value)
    inner = [getattr(value, "__wrapped__", None)]
    for cell in getattr(value, "__closure__", None) or ():
        try:
            inner.append(cell.cell_contents)
        except ValueError:
            continue
    for held in inner:
        if not callable(held) or isinstance(held, type):
            continue
        if tables.name_of(getattr(held, "__func__", held)) in names:
            return tables.name_of(getattr(held, "__func__", held))
        found = held_by(held, names, depth - 1)
        if found:
            return found
    return None


def looked_up(value, expected):
    described = tables.describe(value)
    out = {"what": described[0], "name": described[1] or "", "place": tables.place_of(value)}
    claimed = tables.claimed_name(value) if isinstance(value, tables.CALLABLES) else None
    if claimed and claimed != out["name"]:
        out["claims"] = claimed
    names = [e.replace(":", ".") for e in expected]
    for name in names:
        if value is not None and resolve(name) is value:
            out["same"] = name
    wrapped = held_by(value, names)
    if wrapped:
        out["wraps"] = wrapped
    schema = getattr(value, "_schema", None)
    if schema is not None:
        out.update(what="op", name=str(schema))
    return out


def look_up(rows):
    """Each row {kind, key, modules, expression}: what the started process gives for the key."""
    out = []
    for row in rows:
        module = None
        for name in row["modules"]:
            try:
                module = importlib.import_module(name)
                break
            except Exception:
                continue
        if module is None:
            out.append({"fault": "none of " + ", ".join(row["modules"]) + " can be imported"})
            continue
        try:
            out.append(looked_up(evaluate(row["expression"], vars(module), row["key"]), row["expected"]))
        except BaseException as error:
            out.append({"absent": f"{type(error).__name__}: {errors.text_of(error)}"})
    return out


def evaluate(expression, space, key):
    # A copy, so that `key` is seen inside comprehensions and nothing is left in the module.
    names = dict(space)
    names["key"] = key
    return eval(compile(expression.replace("\n", " "), "<lookup>", "eval"), names)


CHILD = """
import sys, types
sys.dont_write_bytecode = True
package = types.ModuleType('assay_worker')
package.__path__ = []
package.SOURCES = sources
sys.modules['assay_worker'] = package
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, module = name.partition('.')
        if package != 'assay_worker' or module not in sources:
            return None
        from importlib.machinery import ModuleSpec
        return ModuleSpec(name, Finder, origin='assay_worker/' + module + '.py')
    @staticmethod
    def create_module(spec):
        return None
    @staticmethod
    def exec_module(module):
        exec(compile(sources[module.__spec__.name.partition('.')[2]], module.__spec__.origin, 'exec'), module.__dict__)
sys.meta_path.insert(0, Finder)
from assay_worker import startup
result = startup.start([], plugins, False)
result['lookups'] = startup.look_up(rows)
connection.send(result)
connection.close()
"""


def in_child(plugins, rows, limit):
    """The same start in a child that `multiprocessing` spawns, as engines and workers are."""
    import builtins
    import multiprocessing
    import assay_worker
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    space = {"sources": assay_worker.SOURCES, "plugins": plugins, "rows": rows, "connection": there}
    child = context.Process(target=builtins.exec, args=(CHILD, space))
    child.start()
    there.close()
    try:
        if not here.poll(limit):
            child.kill()
            return {"fault": "did not come back within the time limit"}
        return here.recv()
    except EOFError:
        child.join(10)
        return {"fault": f"ended with exit code {child.exitcode}"}
    finally:
        child.join(10)
        here.close()
