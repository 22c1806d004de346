"""Statements of the static half, tried in a process: a module, a name, an attribute, a binding.

Each answer is {verdict: confirmed | withdrawn | undecided, said, files}: `files` are those that the answer rests on, so that
assay can see whether they are the ones it has read.
"""
import ast
import builtins
import importlib
import inspect
import os
import sys
import types

from assay_worker import errors, tables


class Undecided(Exception):
    pass


def answer(verdict, said, modules=()):
    files = []
    for module in modules:
        file = getattr(module, "__file__", None)
        if file:
            files.append([module.__name__, os.path.abspath(file)])
    return {"verdict": verdict, "said": said, "files": files}


def text_of(error):
    return f"{type(error).__name__}: {errors.text_of(error)}"


def missing_itself(error, name):
    """The import failed because that very module, or a package above it, is not there."""
    return isinstance(error, ModuleNotFoundError) and error.name is not None and (name == error.name or name.startswith(error.name + "."))


def load(name):
    try:
        return importlib.import_module(name)
    except BaseException as error:
        if missing_itself(error, name):
            raise
        raise Undecided(f"import {name} stops earlier: {text_of(error)}") from error


def parents(name):
    """The packages above that are there; what they hold decides whether a module is missing."""
    out = []
    parts = name.split(".")
    for end in range(1, len(parts)):
        module = sys.modules.get(".".join(parts[:end]))
        if module is not None:
            out.append(module)
    return out[-1:]


def module(name, **_):
    try:
        found = load(name)
    except ModuleNotFoundError as error:
        return answer("confirmed", f"import {name} raises {text_of(error)}", parents(name))
    return answer("withdrawn", f"import {name} works: {getattr(found, '__file__', None) or 'a namespace package'}", [found])


def split_at_module(dotted):
    """The longest module that the dotted name begins with, and what is left."""
    parts = dotted.replace(":", ".").split(".")
    holder, used = None, 0
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        try:
            holder, used = load(name), end
        except ModuleNotFoundError:
            break
    if holder is None:
        raise Undecided(f"there is no package {parts[0]}")
    return holder, parts[used:]


def only_conditional(module, name):
    """The line of a binding of `name` that some condition decides, when there is no other."""
    try:
        tree = ast.parse(open(module.__file__, encoding="utf-8").read())
    except (OSError, SyntaxError, TypeError, ValueError):
        return 0
    lines = []

    def visit(body, conditional):
        for node in body:
            bound = []
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound = [node.name]
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                bound = [(a.asname or a.name.split(".")[0]) for a in node.names]
            elif isinstance(node, ast.Assign):
                bound = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                bound = [node.target.id]
            if name in bound:
                lines.append((conditional, node.lineno))
            for field in ("body", "orelse", "finalbody"):
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and isinstance(getattr(node, field, None), list):
                    visit(getattr(node, field), conditional or isinstance(node, (ast.If, ast.Try, ast.While, ast.For)))
            for handler in getattr(node, "handlers", []):
                visit(handler.body, True)

    visit(tree.body, False)
    if lines and all(conditional for conditional, _ in lines):
        return lines[0][1]
    return 0


def holders_of(value):
    """Classes whose attributes `value` offers."""
    if isinstance(value, type):
        return [sys.modules[k.__module__] for k in value.__mro__ if k.__module__ in sys.modules and k.__module__ != "builtins"]
    return [value] if isinstance(value, types.ModuleType) else []


def name(dotted, **_):
    """`from M import N`, `M.C.a`: every part of the name in turn."""
    holder, rest = split_at_module(dotted)
    rests_on, value, done = [holder], holder, holder.__name__
    if not rest:
        return answer("withdrawn", f"{dotted} is a module: {getattr(holder, '__file__', None)}", rests_on)
    for part in rest:
        try:
            following = getattr(value, part)
        except AttributeError as error:
            rests_on += holders_of(value)
            # Of a class itself, its metaclass would make attributes up.
            if isinstance(value, type) and any("__getattr__" in k.__dict__ for k in type(value).__mro__):
                raise Undecided(f"{done} makes up attributes on demand") from error
            return answer("confirmed", f"{done} has no attribute '{part}': {text_of(error)}", rests_on)
        except BaseException as error:
            raise Undecided(f"reading {done}.{part} raises {text_of(error)}") from error
        if isinstance(value, types.ModuleType):
            line = only_conditional(value, part)
            if line:
                raise Undecided(f"{done}.{part} is there, but only under a condition (line {line}), which the plugin's platform may decide otherwise")
        rests_on += holders_of(value)
        value, done = following, f"{done}.{part}"
    return answer("withdrawn", f"{dotted} is there: {tables.describe(value)[0]} {tables.place_of(value)}".rstrip(), rests_on)


def dynamic(kind):
    return any("__getattr__" in k.__dict__ or "__getattribute__" in k.__dict__ for k in kind.__mro__ if k is not object)


def assigned(kind, attribute):
    """Where a class, or one above it, assigns self.ATTRIBUTE; None where its source cannot be read."""
    for owner in kind.__mro__:
        if owner.__module__ == "builtins":
            continue
        try:
            source = inspect.getsource(owner)
        except (OSError, TypeError):
            if owner.__module__.split(".")[0] in ("torch", "abc", "typing", "enum", "_ctypes", "ctypes"):
                continue
            return None
        if attribute in source and ("." + attribute in source or f'"{attribute}"' in source or f"'{attribute}'" in source):
            for node in ast.walk(ast.parse(inspect.cleandoc("\n" + source) if source[:1].isspace() else source)):
                stored = isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Store)
                if stored or isinstance(node, ast.Constant) and node.value == attribute:
                    return owner.__qualname__
    return ""


def instance(dotted, **_):
    """An attribute that objects of a class are to have."""
    owner, _, attribute = dotted.rpartition(".")
    holder, rest = split_at_module(owner)
    kind = holder
    for part in rest:
        kind = getattr(kind, part, None)
    if not isinstance(kind, type):
        raise Undecided(f"{owner} is no class in the process")
    modules = holders_of(kind)
    if hasattr(kind, attribute):
        return answer("withdrawn", f"{owner} has '{attribute}'", modules)
    torch = sys.modules.get("torch")
    module_like = torch is not None and hasattr(torch, "nn") and issubclass(kind, torch.nn.Module)
    if dynamic(kind) and not module_like:
        raise Undecided(f"{owner} makes up attributes on demand")
    where = assigned(kind, attribute)
    if where is None:
        raise Undecided(f"the source of a class above {owner} cannot be read")
    if where:
        raise Undecided(f"{where} mentions '{attribute}': whether it runs is not known")
    return answer("confirmed", f"neither {owner} nor a class above it has, or assigns, '{attribute}'", modules)


def global_name(module, name, **_):
    """A bare name in a module of the plugin."""
    try:
        found = load(module)
    except ModuleNotFoundError as error:
        raise Undecided(f"{module} cannot be imported: {text_of(error)}") from error
    if hasattr(builtins, name) or name in vars(found):
        return answer("withdrawn", f"'{name}' is a name of {module}", [found])
    return answer("confirmed", f"after importing {module}, '{name}' is neither a name of it nor a builtin", [found])


def registered(dotted, needs, **_):
    """A class path whose import is said to fail because of `needs`."""
    path = dotted.replace(":", ".")
    try:
        importlib.import_module(path.rpartition(".")[0])
    except BaseException as error:
        last = needs.rpartition(".")[2]
        if needs and (f"'{last}'" in errors.text_of(error) or f"'{needs}'" in errors.text_of(error)):
            return answer("confirmed", f"import {path.rpartition('.')[0]} raises {text_of(error)}")
        if needs:
            try:
                inner = name(needs)
            except Undecided as undecided:
                raise Undecided(f"the import stops earlier: {text_of(error)}; {undecided}") from error
            if inner["verdict"] == "confirmed":
                return {**inner, "said": f"{inner['said']} (the import itself stops earlier: {text_of(error)})"}
        raise Undecided(f"the import stops earlier: {text_of(error)}") from error
    return name(path)


def call_at(text, line, column, callee):
    """The call of `callee` that begins there; else the only one on that line."""
    best, on_line = None, []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and decorator.lineno == line:
                    return decorator
        if not isinstance(node, ast.Call):
            continue
        # Columns count characters in assay, bytes in ast.
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called == callee and line in (node.lineno, node.func.end_lineno):
            on_line.append(node)
        start = len(text.splitlines()[node.lineno - 1].encode()[:node.col_offset].decode(errors="replace")) + 1
        if node.lineno == line and start == column:
            if best is None or (node.end_lineno, node.end_col_offset) > (best.end_lineno, best.end_col_offset):
                best = node
    if best is None and len(on_line) == 1:
        best = on_line[0]
    if best is None:
        raise Undecided("the call was not found in the source")
    return best


def receiver_of(call):
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


class Shape:
    """How a call passes its arguments."""

    def __init__(self, call):
        self.positional = len([a for a in call.args if not isinstance(a, ast.Starred)])
        self.keywords = [k.arg for k in call.keywords if k.arg is not None]
        self.open = self.positional < len(call.args) or len(self.keywords) < len(call.keywords)

    def refused_by(self, signature, more=0):
        """What CPython's binder says; None when it takes the call."""
        bind = signature.bind_partial if self.open else signature.bind
        try:
            bind(*[None] * (self.positional + more), **{k: None for k in self.keywords})
        except TypeError as error:
            return str(error)
        if self.open:
            raise Undecided("the call passes * or ** arguments")
        return None


def callable_at(dotted, call):
    """The callable as the call reaches it, and the modules that it rests on."""
    holder, rest = split_at_module(dotted)
    value, owner = holder, None
    for part in rest:
        owner, value = value, getattr(value, part, None)
        if value is None:
            raise Undecided(f"{dotted} is not in the process")
    modules = [holder] + (holders_of(owner) if isinstance(owner, type) else [])
    if isinstance(owner, type) and isinstance(value, types.FunctionType) and not isinstance(inspect.getattr_static(owner, rest[-1]), staticmethod):
        through_class = receiver_of(call).split(".")[-1] == owner.__name__
        if not through_class:
            return inspect.signature(value.__get__(object.__new__(object), object)), value, modules
    return None, value, modules


def call(dotted, text, line, column, **_):
    node = call_at(text, line, column, dotted.rpartition(".")[2])
    signature, value, modules = callable_at(dotted, node)
    try:
        signature = signature or inspect.signature(value)
    except (TypeError, ValueError) as error:
        raise Undecided(f"{dotted} has no signature: {error}") from error
    kinds = [p.kind for p in signature.parameters.values()]
    if kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
        raise Undecided(f"{dotted} takes anything: a decorator stands before it")
    refused = Shape(node).refused_by(signature)
    if refused:
        return answer("confirmed", f"inspect.signature({dotted}).bind refuses the call: {refused}; it is {signature}"[:600], modules)
    return answer("withdrawn", f"{dotted}{signature} takes the call"[:600], modules)


def function_at(text, line):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.lineno == line or line in [d.lineno for d in node.decorator_list]:
                return node
    raise Undecided("the function was not found in the source")


def override(dotted, text, line, caller, caller_line, caller_column, **_):
    """The method that stands at `line` of the plugin, and a call in the target that reaches it instead of `dotted`."""
    holder, rest = split_at_module(dotted)
    value = holder
    for part in rest:
        value = getattr(value, part, None)
    if value is None:
        raise Undecided(f"{dotted} is not in the process")
    function = function_at(text, line)
    node = call_at(caller, caller_line, caller_column, function.name)
    # CPython's own binder, over the parameters alone.
    arguments = ast.parse("def f(): pass").body[0]
    arguments.args = function.args
    for argument in ast.walk(function.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    none = ast.Constant(None)
    arguments.args.defaults = [none for _ in arguments.args.defaults]
    arguments.args.kw_defaults = [d if d is None else none for d in arguments.args.kw_defaults]
    space = {}
    exec(compile(ast.fix_missing_locations(ast.Module([arguments], [])), "<override>", "exec"), space)
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
    refused = Shape(node).refused_by(inspect.signature(space["f"]), 0 if static else 1)
    modules = [holder]
    if refused:
        return answer("confirmed", f"the override refuses `{ast.unparse(node)[:200]}`: {refused}", modules)
    return answer("withdrawn", f"the override takes `{ast.unparse(node)[:200]}`", modules)


QUESTIONS = {"module": module, "name": name, "instance": instance, "global": global_name, "registered": registered, "call": call,
             "override": override}


def ask(kind, **question):
    try:
        return QUESTIONS[kind](**question)
    except Undecided as reason:
        return answer("undecided", str(reason))
    except SyntaxError as error:
        return answer("undecided", f"the source cannot be parsed here: {error}")
