"""Borrowed arguments are the same cells; aligned arrays the same numbers at a round address."""

from sys import getrefcount
from typing import NamedTuple

import numpy as np
import pytest

from infinimix.kernels.blocks import data_address
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.memory import LINE, aligned, borrowed


class Pair(NamedTuple):
    """An array, and a nest with another and a number."""

    a: np.ndarray
    rest: tuple


@part
def double(pair):
    pair = borrowed(pair)
    b, factor = pair.rest
    for i in range(pair.a.shape[0]):
        pair.a[i] *= factor
        b[i, 0] += pair.a[i]


@kernel
def double_twice(a, b):
    """A local array is lent too: its owner is the caller."""
    local = np.ones(a.shape[0])
    for _ in range(2):
        double(Pair(borrowed(a), (borrowed(b), 2.0)))
        double(Pair(local, (b, 3.0)))
    return local


def test_what_is_borrowed_is_written_in_place():
    a, b = np.arange(3.0), np.zeros((3, 2))
    local = double_twice(a, b)
    assert a.tolist() == [0.0, 4.0, 8.0]
    assert local.tolist() == [9.0] * 3
    assert b[:, 0].tolist() == [12.0, 18.0, 24.0]


def test_owners_are_counted_as_before():
    a, b = np.arange(3.0), np.zeros((3, 2))
    before = getrefcount(a), getrefcount(b)
    for _ in range(100):
        local = double_twice(a, b)
    assert (getrefcount(a), getrefcount(b)) == before
    assert local.tolist() == [9.0] * 3  # it is ours, and still there


@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("shape", [(3, 2, 5), (4,), (0, 3)])
def test_an_aligned_array_holds_the_same(first, shape):
    size = int(np.prod(shape))
    array = np.arange(size + first, dtype=float)[first:].reshape(shape)
    found = aligned(array)
    assert data_address(found) % LINE == 0 or not size
    assert found.flags.c_contiguous
    assert found.flags.writeable
    np.testing.assert_array_equal(found, array)
    assert aligned(found) is found or not size
