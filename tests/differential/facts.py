# Run by the worker: what a module really holds, for tests/differential/differential.cc.  `module` is given, `result` is the answer.
import enum
import importlib
import inspect
import types

KINDS = {inspect.Parameter.POSITIONAL_ONLY: 0, inspect.Parameter.POSITIONAL_OR_KEYWORD: 1, inspect.Parameter.VAR_POSITIONAL: 2,
         inspect.Parameter.KEYWORD_ONLY: 3, inspect.Parameter.VAR_KEYWORD: 4}


def parameters(thing):
    try:
        signature = inspect.signature(thing)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return [[p.name, KINDS[p.kind], p.default is not inspect.Parameter.empty] for p in signature.parameters.values()]


def signatures(found):
    out = {}
    for name, value in list(vars(found).items()):
        if getattr(value, "__module__", None) != found.__name__ or getattr(value, "__qualname__", None) != name:
            continue
        if isinstance(value, types.FunctionType):
            out[name] = parameters(value)
        elif isinstance(value, type):
            out[name] = parameters(value)
            for attribute, inner in list(vars(value).items()):
                plain = inner.__func__ if isinstance(inner, (staticmethod, classmethod)) else inner
                # What decorators, dataclasses and enums generate stands in no source.
                if isinstance(plain, types.FunctionType) and plain.__qualname__ == f"{name}.{attribute}" and plain.__module__ == found.__name__ \
                        and plain.__code__.co_filename == getattr(found, "__file__", None):
                    out[f"{name}.{attribute}"] = parameters(getattr(value, attribute))
    return out


def has(module, name):
    try:
        found = importlib.import_module(module)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    try:
        getattr(found, name)
        return True
    except AttributeError:
        pass
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    try:
        importlib.import_module(module + "." + name)
        return True
    except ModuleNotFoundError as error:
        return False if error.name == module + "." + name else f"{type(error).__name__}: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


if what == "module":
    try:
        found = importlib.import_module(module)
        result = {"names": [n for n in vars(found) if not (n.startswith("__") and n.endswith("__"))], "signatures": signatures(found)}
    except BaseException as error:
        result = {"fault": f"{type(error).__name__}: {error}"}
else:
    result = [has(m, n) for m, n in pairs]
