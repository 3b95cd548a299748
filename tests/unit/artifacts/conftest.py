"""Shared by the tests of this room: bytes in memory, and an equality that is strict."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infinimix import artifacts


def _dumps(tree: Any, kind: str = "thing") -> bytes:
    file = io.BytesIO()
    artifacts.write(file, kind, tree, library_version="0.1.0")
    return file.getvalue()


def _loads(data: bytes) -> Any:
    return artifacts.read(io.BytesIO(data))[1]


def _assert_same(a: Any, b: Any) -> None:
    """Equal in type, order, dtype, memory order and every bit."""
    assert type(a) is type(b)
    if isinstance(a, dict):
        assert list(a) == list(b)
        _assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            _assert_same(one, other)
    elif isinstance(a, np.ndarray):
        assert (a.dtype, a.shape, a.flags.fnc) == (b.dtype, b.shape, b.flags.fnc)
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, np.generic):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, float):
        assert struct.pack("d", a) == struct.pack("d", b)
    else:
        assert a == b


@pytest.fixture(scope="session")
def dumps() -> Callable[..., bytes]:
    return _dumps


@pytest.fixture(scope="session")
def loads() -> Callable[[bytes], Any]:
    return _loads


@pytest.fixture(scope="session")
def assert_same() -> Callable[[Any, Any], None]:
    return _assert_same
