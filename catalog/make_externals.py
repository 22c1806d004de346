#!/usr/bin/env python3
"""Prints catalog/externals.toml: what a plugin's classes inherit from outside the trees that assay reads.

    python3 catalog/make_externals.py > catalog/externals.toml      (an interpreter that has torch)

Members are read from the live classes: the class dictionary, annotations, and what the methods assign to `self`.
Those that a listed base or `object` already has are left out.
"""
import ast
import builtins
import importlib
import inspect
import sys
import textwrap

# Builtins of 3.10 to 3.14, whichever interpreter prints this.
MORE_BUILTINS = """BaseExceptionGroup ExceptionGroup EncodingWarning PythonFinalizationError aiter anext
__file__ __name__ __doc__ __package__ __spec__ __loader__ __path__ __dict__ __cached__ __annotations__
__builtins__ __debug__ __build_class__ __import__ WindowsError reveal_type""".split()
LESS_BUILTINS = {"copyright", "credits", "license", "exit", "quit", "_"} - {"exit", "quit"}

STANDARD = """
abc: ABC ABCMeta
argparse: Action ArgumentParser ArgumentDefaultsHelpFormatter HelpFormatter Namespace RawDescriptionHelpFormatter
    RawTextHelpFormatter ArgumentError _ArgumentGroup
ast: NodeVisitor NodeTransformer AST
asyncio: Event Future Lock Protocol Queue Task
collections: ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque
collections.abc: AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine Generator
    Hashable ItemsView Iterable Iterator KeysView Mapping MutableMapping MutableSequence MutableSet Reversible Sequence
    Set Sized ValuesView
concurrent.futures: Executor Future ProcessPoolExecutor ThreadPoolExecutor
contextlib: AbstractAsyncContextManager AbstractContextManager AsyncExitStack ContextDecorator ExitStack nullcontext
dataclasses: Field InitVar
datetime: date datetime timedelta tzinfo
enum: Enum EnumMeta EnumType Flag IntEnum IntFlag ReprEnum StrEnum auto
functools: cached_property partial partialmethod
importlib.abc: Finder InspectLoader Loader MetaPathFinder PathEntryFinder SourceLoader
importlib.machinery: ModuleSpec PathFinder SourceFileLoader
io: BufferedIOBase BytesIO IOBase RawIOBase StringIO TextIOBase TextIOWrapper
json: JSONDecoder JSONEncoder
logging: Filter Formatter Handler Logger LoggerAdapter LogRecord StreamHandler
pathlib: Path PosixPath PurePath
pickle: Pickler Unpickler
queue: Empty Full LifoQueue PriorityQueue Queue
random: Random
multiprocessing.process: BaseProcess
subprocess: CalledProcessError TimeoutExpired
threading: Condition Event Thread Timer local
types: FunctionType MethodType ModuleType SimpleNamespace
"""

TORCH = """
torch: Generator Size Tensor device dtype
torch.autograd: Function
torch.autograd.function: FunctionCtx
torch.cuda: CUDAGraph Event Stream
torch.fx: GraphModule Interpreter Transformer
torch.library: Library
torch.nn: Buffer Parameter UninitializedParameter
torch.overrides: TorchFunctionMode
torch.utils._python_dispatch: TorchDispatchMode
torch.utils.data: DataLoader Dataset IterableDataset Sampler
torch._inductor.custom_graph_pass: CustomGraphPass CustomPartitionerFn
torch._inductor.pattern_matcher: PatternMatcherPass
torch._inductor.compile_fx: _InProcessFxCompile
"""

LAYERS = """
AdaptiveAvgPool1d AdaptiveAvgPool2d AvgPool1d AvgPool2d BatchNorm1d BatchNorm2d Conv1d Conv2d Conv3d ConvTranspose1d
ConvTranspose2d CrossEntropyLoss Dropout ELU Embedding EmbeddingBag Flatten GELU GLU GroupNorm Hardswish Identity
LSTM LayerNorm LeakyReLU Linear MaxPool2d Mish ModuleDict ModuleList MultiheadAttention PReLU ParameterDict
ParameterList PixelShuffle RMSNorm ReLU ReLU6 Sequential SiLU Sigmoid Softmax Softplus Tanh TransformerEncoder
TransformerEncoderLayer Unfold Upsample ZeroPad2d
"""

# typing's forms are no classes, but are written as bases.
TYPING = {
    "typing.Any": "", "typing.Generic": "", "typing.Protocol": "_is_protocol",
    "typing.NamedTuple": "_asdict _fields _field_defaults _make _replace count index __getnewargs__",
    "typing.TypedDict": " ".join(sorted(n for n in vars(dict) if n not in vars(object))),
    "typing.SupportsInt": "__int__", "typing.SupportsFloat": "__float__",
}
TYPING_BASES = {"typing.NamedTuple": "builtins.tuple", "typing.TypedDict": "builtins.dict"}
for _name in ("Any", "Generic", "Protocol", "NamedTuple", "TypedDict"):
    TYPING["typing_extensions." + _name] = TYPING["typing." + _name]
    if "typing." + _name in TYPING_BASES:
        TYPING_BASES["typing_extensions." + _name] = TYPING_BASES["typing." + _name]
for _name in ("Mapping", "MutableMapping", "Sequence", "Iterator", "Iterable", "Callable", "Hashable"):
    TYPING["typing." + _name] = ""
    TYPING_BASES["typing." + _name] = "collections.abc." + _name
for _name, _class in (("Dict", "dict"), ("List", "list"), ("Tuple", "tuple"), ("Set", "set"), ("Type", "type")):
    TYPING["typing." + _name] = ""
    TYPING_BASES["typing." + _name] = "builtins." + _class

TRANSPARENT = """
# torch
no_grad inference_mode enable_grad set_grad_enabled record_function compile disable ignore export unused
dynamo_disable allow_in_graph jit_script script custom_fwd custom_bwd
# standard library
cache lru_cache wraps override final abstractmethod unique total_ordering runtime_checkable dataclass_transform
no_type_check deprecated
# a call gives a context manager, with the arguments of the generator
contextmanager asynccontextmanager
# widely used around vLLM: these hand on a function of the same signature
instrument instrument_fn trace traced nvtx_annotate annotate profile retry
"""


def listed(text):
    module = None
    for word in text.split():
        if word.endswith(":"):
            module = word[:-1]
        else:
            yield module, word


def self_attributes(cls):
    """Names that the class's own methods assign to their first parameter."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return set()
    out = set()
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    for function in body:
        if not isinstance(function, ast.FunctionDef) or not function.args.args:
            continue
        first = function.args.args[0].arg
        for node in ast.walk(function):
            stores = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
            if stores and isinstance(node.value, ast.Name) and node.value.id == first:
                out.add(node.attr)
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            if called and node.func.attr in ("register_parameter", "register_buffer", "__setattr__") and node.args:
                if isinstance(node.args[0], ast.Constant):
                    out.add(node.args[0].value)
    return out


NOISE = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__abstractmethods__", "_abc_impl",
         "__slots__", "__parameters__", "__orig_bases__", "__match_args__", "__firstlineno__", "__static_attributes__",
         "__constants__", "__annotations_cache__", "__annotate_func__"}


def own_members(cls):
    names = set(vars(cls)) | set(getattr(cls, "__annotations__", {})) | self_attributes(cls)
    return {n for n in names if isinstance(n, str) and n.isidentifier() and n not in NOISE}


class Output:
    def __init__(self):
        self.names = {}    # class -> dotted name
        self.classes = {}  # dotted name -> (bases, members)
        self.aliases = {}

    def name_of(self, cls):
        return self.names.get(cls) or f"{'builtins' if cls.__module__ == 'builtins' else cls.__module__}.{cls.__qualname__}"

    def plan(self, dotted, cls):
        if cls in self.names:
            self.aliases[dotted] = self.names[cls]
            return
        self.names[cls] = dotted
        real = f"{cls.__module__}.{cls.__qualname__}"
        if real != dotted and cls.__module__ not in ("builtins", "_io", "_thread", "_ctypes", "_pickle", "_queue", "_random"):
            self.aliases[real] = dotted

    def close(self):
        """Bases that nobody listed are listed too, so that every method resolution order is complete."""
        work = list(self.names)
        while work:
            for base in work.pop().__bases__:
                if base not in self.names and base.__module__ != "typing":
                    self.names[base] = self.name_of(base)
                    work.append(base)

    def collect(self):
        object_members = own_members(object)
        for cls, dotted in self.names.items():
            bases = [b for b in cls.__bases__ if b is not object]
            inherited = set().union(*[own_members(b) for c in bases for b in c.__mro__]) | object_members
            members = own_members(cls) - (inherited if cls is not object else set())
            if dotted == "torch.nn.Module":
                members |= {"__call__", "call_super_init", "dump_patches", "training"}
            self.classes[dotted] = ([self.name_of(b) for b in bases], sorted(members))


def main():
    out = Output()
    for name, value in sorted(vars(builtins).items()):
        if isinstance(value, type) and f"builtins.{value.__name__}" == f"builtins.{name}":
            out.plan("builtins." + name, value)
    for name, target in (("IOError", "OSError"), ("EnvironmentError", "OSError")):
        out.aliases["builtins." + name] = "builtins." + target
    for module, name in listed(STANDARD):
        out.plan(f"{module}.{name}", getattr(importlib.import_module(module), name, None) or exit(f"no {module}.{name}"))
    torch_version = "without torch"
    if "--no-torch" not in sys.argv:
        torch = importlib.import_module("torch")
        torch_version = "torch " + torch.__version__.split("+")[0]
        out.plan("torch.nn.Module", torch.nn.Module)
        for module, name in listed(TORCH):
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type):
                out.plan(f"{module}.{name}", found)
        for name in LAYERS.split():
            out.plan("torch.nn." + name, getattr(torch.nn, name))
    out.close()
    out.collect()
    for name, members in TYPING.items():
        bases = [TYPING_BASES[name]] if name in TYPING_BASES else []
        inherited = set(out.classes[bases[0]][1]) if bases else set()
        out.classes[name] = (bases, [m for m in members.split() if m not in inherited])
    for name in list(out.aliases):
        if name in out.classes:
            del out.aliases[name]

    print("# Made by catalog/make_externals.py from Python", sys.version.split()[0], "and", torch_version + ". Do not edit.")
    print("# A class: its bases, a bar, the members it adds. An alias: another name of a listed class.")
    names = (set(dir(builtins)) | set(MORE_BUILTINS)) - LESS_BUILTINS
    print("\n[externals]")
    print("builtins = '''")
    print(textwrap.fill(" ".join(sorted(names)), 118) + "'''")
    print("transparent_decorators = '''")
    lines = [l for l in TRANSPARENT.split("\n") if l and not l.startswith("#")]
    print(textwrap.fill(" ".join(sorted(set(" ".join(lines).split()))), 118) + "'''")
    print("standard_library = '''")
    print(textwrap.fill(" ".join(sorted(n for n in sys.stdlib_module_names if not n.startswith("_"))), 118) + "'''")
    print("\n[externals.classes]")
    for name, (bases, members) in sorted(out.classes.items()):
        print(f'"{name}" = "{" ".join(bases)}|{" ".join(members)}"')
    print("\n[externals.aliases]")
    for name, target in sorted(out.aliases.items()):
        print(f'"{name}" = "{target}"')


main()
