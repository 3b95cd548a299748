"""Packs read in compiled code what they hold in Python, and calls go where they should."""

import pickle
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba import types

from infinimix.kernels.compile import kernel
from infinimix.networks.engine.calls import Calls, call_of, through
from infinimix.networks.engine.packs import Several, packed


@packed
class Inner(NamedTuple):
    """One array, one flag."""

    row: np.ndarray
    flag: bool


@packed
class Outer(NamedTuple):
    """All that a pack may hold."""

    inner: Inner
    table: np.ndarray
    size: int
    calls: Calls


call = through(None, types.int64, returns=types.float64)
drop = through(None, returns=None)


@kernel
def add_up(pack, k):
    """Return a sum over all fields."""
    total = 1.0 * pack.size + k + (1000.0 if pack.inner.flag else 0.0)
    for i in range(pack.table.shape[0]):
        for j in range(pack.table.shape[1]):
            total += pack.table[i, j] * pack.inner.row[j]
    return total


@kernel
def mark(pack):
    """Write to an array; return a flag."""
    pack.inner.row[0] = -1.0
    return True


@kernel
def refuse(pack):
    """Raise."""
    if pack.size > 0:
        raise ValueError("refused")


@kernel
def walk(packs, at):
    """Call what a pack among several says, with itself."""
    return call(packs[at].calls[0], (packs[at], 3))


@kernel
def visit(pack):
    """Call all that a pack says."""
    for k in range(len(pack.calls)):
        drop(pack.calls[k], (pack,))


def new_pack(size, *kernels, flag=True):
    inner = Inner(np.arange(3.0), flag)
    pack = Outer(inner, np.arange(6.0).reshape(2, 3), size, Calls())
    extra = (0,) if kernels == (add_up,) else ()
    return pack._replace(calls=Calls(call_of(k, pack, *extra) for k in kernels))


def test_fields_are_those_of_the_tuple():
    pack = new_pack(7)
    assert add_up(pack, 2) == 7 + 2 + 1000 + (pack.table @ pack.inner.row).sum()
    assert add_up(new_pack(7, flag=False), 2) == add_up(pack, 2) - 1000
    assert add_up(pack._replace(size=8), 2) == add_up(pack, 2) + 1


def test_one_of_several_is_called_by_its_address():
    packs = Several(new_pack(size, add_up) for size in (7, 9))
    assert [walk(packs, k) for k in range(2)] == [add_up(pack, 3) for pack in packs]


def test_what_a_call_returns_may_be_dropped_and_what_it_raises_comes_through():
    pack = new_pack(1, mark, mark)
    visit(pack)
    assert pack.inner.row[0] == -1.0
    with pytest.raises(ValueError, match="refused"):
        visit(new_pack(1, mark, refuse))


def test_a_copy_has_arrays_and_addresses_of_its_own():
    packs = Several([new_pack(7, add_up)])
    before = walk(packs, 0)
    again = pickle.loads(pickle.dumps(packs))
    assert type(again) is Several
    assert walk(again, 0) == before
    packs[0].inner.row[:] = 0.0
    assert walk(again, 0) == before != walk(packs, 0)


def test_arrays_that_are_not_contiguous_are_refused():
    with pytest.raises(TypeError, match="table must be a contiguous array"):
        numba.typeof(new_pack(7)._replace(table=np.zeros((3, 2)).T))
