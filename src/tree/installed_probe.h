// The question that installed_tree.cc asks the user's interpreter.
#pragma once

namespace assay {

// argv[1] is a distribution or module name. Prints one line "assay-probe:JSON"; whatever .pth files print
// comes before. importlib finds a top-level module without importing it, through every finder that .pth files
// have set up.
inline constexpr const char* kInstalledProbe = R"py(
import sys
if sys.path and sys.path[0] == '':
    del sys.path[0]
import importlib.metadata, importlib.util, json, os, re

def files_of(dist):
    # dist.files makes an object per file, which takes 0.2 s for vLLM.
    record = dist.read_text('RECORD')
    if record is None:
        return [str(file) for file in dist.files or []]
    return [line.rsplit(',', 2)[0].strip('"') for line in record.splitlines()]

def top_level(dist):
    names = set((dist.read_text('top_level.txt') or '').split())
    for file in files_of(dist):
        first, slash, _ = file.partition('/')
        if first.startswith('__editable__') and file.endswith('.py'):
            finder = sys.modules.get(first[:-3])
            names.update(getattr(finder, 'MAPPING', {}), getattr(finder, 'NAMESPACES', {}))
        elif file.endswith('.pth'):
            names.update(behind_pth(str(dist.locate_file(file))))
        elif file.endswith(('.py', '.pyi', '.so')):
            names.add(first if slash else first.split('.')[0])
    return sorted(n for n in {n.split('.')[0] for n in names} if n.isidentifier())

def behind_pth(path):
    # An editable install that only lengthens sys.path doesn't say which modules it brings.
    names = []
    if not os.path.isfile(path):
        return names
    for line in open(path, encoding='utf-8', errors='replace'):
        folder = os.path.join(os.path.dirname(path), line.strip())
        if line.strip() and not line.startswith(('import ', 'import\t', '#')) and os.path.isdir(folder):
            for item in os.listdir(folder):
                if os.path.isfile(os.path.join(folder, item, '__init__.py')):
                    names.append(item)
    return names

def where(name):
    try:
        spec = importlib.util.find_spec(name)
    except Exception:
        spec = None
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [os.path.abspath(p) for p in spec.submodule_search_locations if os.path.isdir(p)]
    return [os.path.abspath(spec.origin)] if spec.origin and os.path.isfile(spec.origin) else []

def info(dist):
    path = getattr(dist, '_path', None)
    return {'version': str(dist.version), 'metadata': os.path.abspath(str(path)) if path else ''}

wanted = sys.argv[1]
dists = list(importlib.metadata.distributions(name=wanted))
if not dists and importlib.util.find_spec(wanted.split('.')[0]):
    module = wanted.split('.')[0]
    dists = [d for d in importlib.metadata.distributions() if module in top_level(d)]
modules = top_level(dists[0]) if dists else [wanted.split('.')[0]]
print('\nassay-probe:' + json.dumps({
    'executable': sys.executable,
    'version': '.'.join(map(str, sys.version_info[:3])),
    'distributions': [info(d) for d in dists],
    'modules': {name: where(name) for name in modules},
}))
)py";

}  // namespace assay
