"""Names of a package that are imported when they are used.

numba, scikit-learn and SciPy take a second to load. A package that names what needs them, instead
of importing it, opens at once: `import infinimix` and a command that refuses a file load none.
Inside a function the same is a plain `import` line; its comment says what would be slow.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any


def late_names(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Parameters
    ----------
    package : str
        Its name.
    modules : mapping
        The names that each module holds, those of modules relative to the package (`.column`). A
        name must not be that of a module of the package, which would take its place as soon as
        it is imported.
    """
    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with uncollected():
            return getattr(import_module(homes[name], package), name)

    return find


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the garbage collector rest: what an import makes is no garbage.

    Python would walk all of it again and again, a twentieth of the time to a first answer.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
