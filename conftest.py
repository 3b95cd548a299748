"""Which files have examples to run: not those whose optional library is not installed."""

from importlib.util import find_spec

import pytest

collect_ignore = [] if find_spec("river") else ["src/infinimix/streaming/river.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples only where there are some: most files, and all tests, have none.

    Each process of pytest-xdist would visit all names of a thousand modules to find that out.
    """
    found = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return found
    return [one for one in found if type(one).__name__ != "DoctestModule"]
