"""A script that runs code and says of each kernel which files numba compiled for it.

It knows nothing of how dependencies are found: it looks on while numba asks for one function after
the other. `python -m tests.unit.kernels.watching CODE` prints a line of JSON for each kernel that
was saved: its name, the files that it is said to depend on, and those that numba compiled.
"""

import json
import sys
import threading
from collections import defaultdict
from pathlib import Path

from numba.core import sigutils
from numba.core.dispatcher import Dispatcher
from numba.core.typing.templates import _IntrinsicTemplate, _OverloadFunctionTemplate

from infinimix.kernels import cache, dependencies
from infinimix.kernels.origins import origins
from infinimix.kernels.sources import find_file

CALLED = defaultdict(set)  # by function and types: the same of all that it calls
USED = defaultdict(set)  # by function and types: the files of intrinsics and overloads
SAVED = []
HERE = threading.local()
TEXTS = dependencies.read_sources()
LINKS = dependencies.find_links(dependencies.parse(TEXTS))


def watch_compiling():
    """Note who calls whom: numba asks for a function again each time, compiled or not."""
    compile_it = Dispatcher.compile

    def compile(self, sig):
        node = self.py_func, sigutils.normalize_signature(sig)[0]
        stack = HERE.__dict__.setdefault("stack", [])
        CALLED[stack[-1] if stack else None].add(node)
        stack.append(node)
        try:
            return compile_it(self, sig)
        finally:
            stack.pop()

    Dispatcher.compile = compile


def watch_template(template, attribute):
    """Note which functions decide what is compiled for a call."""
    generic = template.generic

    def noted(self, args, kws):
        if getattr(HERE, "stack", None):
            USED[HERE.stack[-1]].add(getattr(self, attribute).__code__.co_filename)
        return generic(self, args, kws)

    template.generic = noted


def watch_saving():
    """Note which kernels are kept on disk."""
    save = cache.KernelCache._save_overload

    def saved(self, sig, data):
        SAVED.append((self._py_func, sig))
        return save(self, sig, data)

    cache.KernelCache._save_overload = saved


def compiled_for(node):
    """Return the files of the package from which code went into a kernel."""
    found, seen, waiting = set(), set(), [node]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            found |= {node[0].__code__.co_filename, *USED[node]}
            waiting += CALLED[node]
    places = [Path(file) for file in found]
    inside = [place for place in places if dependencies.ROOT in place.parents]
    return {place.relative_to(dependencies.ROOT).as_posix() for place in inside}


def said_of(node):
    """Return the files that a kernel is said to depend on."""
    files = [find_file(module, TEXTS) for module in origins(*node)]
    return set().union(*[dependencies.closure(LINKS, file) for file in files if file])


if __name__ == "__main__":
    watch_compiling()
    watch_template(_IntrinsicTemplate, "_definition_func")
    watch_template(_OverloadFunctionTemplate, "_overload_func")
    watch_saving()
    exec(sys.argv[1], {"__name__": "watched"})
    for node in SAVED:
        print(json.dumps([node[0].__qualname__, *map(sorted, (said_of(node), compiled_for(node)))]))
