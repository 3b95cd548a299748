"""Which files have examples to run: not those whose optional library is not installed."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "src"

collect_ignore = [] if find_spec("river") else ["src/infinimix/streaming/river.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples only where there are some: most files, and all tests, have none.

    Each process of pytest-xdist would visit all names of a thousand modules to find that out.
    """
    found = yield
    if file_path.suffix != ".py":
        return found
    if b">>>" not in file_path.read_bytes():
        return [one for one in found if type(one).__name__ != "DoctestModule"]
    if SOURCES in file_path.parents:  # as others do: pytest would make a second module of it
        name = ".".join(file_path.relative_to(SOURCES).with_suffix("").parts)
        import_module(name.removesuffix(".__init__"))
    return found
