"""Which sources the machine code of a kernel can depend on, and a fingerprint of these.

A kernel depends on the files that its code and the types of its arguments come from (`origins`),
on all that these import, and so on: whatever is called by its name, and each constant, comes by an
import. The body of an operation (`dispatch`) does not, so here it is as if the file of a class
imported those that register a body for it; if the class is none of ours (a tuple, an array), or the
body is a default, the file of the operation does. And every kernel depends on all of `kernels`,
which tells numba what to do.

The `__init__` of a package runs before its modules. It counts; what it imports counts only if
something is imported from the package itself.
"""

import hashlib
import os
from pathlib import Path

from infinimix.kernels.sources import SourceFile

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "kernels", "families", "partitions", "inference", "tables", "maxmargin", "networks/engine",
    "papers/m2dpm", "execution",
)  # fmt: skip
ABOVE = "__init__.py", "networks/__init__.py", "papers/__init__.py"  # of packages around rooms
ALL = ""  # stands for all files


def read_sources(package=ROOT):
    """Return the names and bytes of all files that a kernel may depend on."""
    root = os.fspath(package)
    texts = {name: _read(f"{root}/{name}") for name in ABOVE}
    for room in ROOMS:
        for folder, _, names in os.walk(f"{root}/{room}"):
            place = os.path.relpath(folder, root).replace(os.sep, "/")
            for name in names:
                if name.endswith(".py"):
                    texts[f"{place}/{name}"] = _read(f"{folder}/{name}")
    return texts


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def parse(texts):
    """Return what is known of each file."""
    return {name: SourceFile(name, text, texts) for name, text in texts.items()}


def fingerprints(sources):
    """Return for each file a hash of all that its kernels depend on, and one of all files."""
    links = find_links(sources)
    found = {name: _hash(sources, closure(links, name)) for name in sources}
    return {ALL: _hash(sources, sources), **found}


def _hash(sources, names):
    told = "\n".join(f"{name} {sources[name].digest}" for name in sorted(names))
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def find_links(sources):
    """Return for each file those that it needs by itself."""
    common = {name for name in sources if name.startswith("kernels/")}
    links = {name: source.imports | common for name, source in sources.items()}
    for name, source in sources.items():
        for served in source.serves:
            links[served].add(name)
    return links


def closure(links, name):
    """Return all files that a kernel depends on whose code, or an argument, is from this one."""
    found, waiting = set(), [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += links[name]
    return found.union(*[_packages(name) for name in found]) & links.keys()


def _packages(name):
    """Return the files of the packages that a module is in."""
    parts = name.split("/")[:-1]
    return {"/".join([*parts[:depth], "__init__.py"]) for depth in range(len(parts) + 1)}
