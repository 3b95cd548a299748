"""References are counted where something has an owner, and nowhere else."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from infinimix.kernels.compile import INTERPRETED, OPTIONS, kernel, part
from infinimix.kernels.memory import borrowed
from infinimix.kernels.parts import LEAN

pytestmark = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")


class Pair(NamedTuple):
    x: np.ndarray
    y: np.ndarray


@part
def halves(x):
    """Return something new."""
    return x / 2.0


@part
def tail(x):
    """Return a view."""
    return x[1:]


def sum_of_cells(x):
    total = 0.0
    for row in x:
        for cell in row:
            total += cell
    return total


def sum_of_views(x):
    first, pair = borrowed(x)[0], Pair(x[0], x[1])
    return first[0] + pair.x[1:].size + (pair.y, first)[0][0]


def sum_of_an_array(x):
    return np.zeros(3).size + x[0, 0]


def sum_of_a_product(x):
    return (x * x)[0, 0]


def sum_of_chosen(x):
    return x[np.array([0, 1])][0, 0]


def sum_of_halves(x):
    return halves(x)[0, 0]


def sum_of_a_tail(x):
    return tail(x)[0, 0]


def itself(x):
    return x


READERS = [sum_of_cells, sum_of_views]
OWNERS = [sum_of_an_array, sum_of_a_product, sum_of_chosen, sum_of_halves, itself]


def counts(function):
    """Does machine code that other code calls count references?"""
    dispatcher = njit(**{**OPTIONS, **LEAN, "no_cpython_wrapper": True})(function)
    dispatcher.compile("(float64[:, ::1],)")
    (code,) = dispatcher.inspect_llvm().values()
    return "call void @NRT_incref" in code or "call void @NRT_decref" in code


@pytest.mark.skipif(not LEAN, reason="this numba counts everywhere")
@pytest.mark.parametrize("function", READERS)
def test_what_only_reads_counts_nothing(function):
    assert not counts(function)


@pytest.mark.parametrize("function", OWNERS)
def test_what_makes_or_returns_an_array_counts(function):
    assert counts(function)


@pytest.mark.parametrize("function", [*READERS, *OWNERS, sum_of_a_tail])
def test_arrays_have_as_many_holders_after_a_call_as_before(function):
    inner = part(function)
    outer = kernel(_calling(inner))
    x = np.ones((4, 3))
    outer(x)
    held = sys.getrefcount(x)
    for _ in range(20):
        outer(x)
    assert sys.getrefcount(x) == held


def _calling(inner):
    def outer(x):
        return inner(x)

    return outer
