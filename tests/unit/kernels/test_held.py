"""What is held is the same cells, for one number; what is foretold is not changed."""

import pickle
from typing import NamedTuple

import numpy as np
import pytest

from infinimix.kernels.compile import INTERPRETED, entry, kernel
from infinimix.kernels.held import HeldArrays, hold
from infinimix.kernels.memory import borrowed, foretell


class Pair(NamedTuple):
    """An array, and a nest with two others."""

    a: np.ndarray
    rest: tuple


def make():
    return Pair(np.arange(3.0), (np.ones((3, 2), np.float32), np.arange(3)))


@kernel
def add_up(pair, factor):
    """Write in one array what the others hold."""
    a, (b, c) = borrowed(pair)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            a[i] += factor * b[i, j] * c[i]
    return a.shape[0] * b.shape[1]


@pytest.mark.parametrize("given", [hold, lambda pair: pair], ids=["held", "plain"])
def test_cells_are_read_and_written_in_place(given):
    pair = make()
    assert add_up(given(pair), 2.0) == 6
    np.testing.assert_array_equal(pair.a, [0.0, 5.0, 10.0])


def test_what_is_done_to_the_cells_is_seen():
    pair = make()
    held = hold(pair)
    add_up(held, 1.0)
    pair.rest[0][:] = 0.0
    before = pair.a.copy()
    add_up(held, 1.0)
    np.testing.assert_array_equal(pair.a, before)


def test_machine_code_for_one_tuple_takes_another():
    first, second = make(), Pair(np.zeros(50), (np.ones((50, 7), np.float32), np.arange(50)))
    run = entry(add_up, hold(first), 1.0)
    assert run(hold(second), 1.0) == 350
    np.testing.assert_array_equal(second.a, 7.0 * np.arange(50))


def test_numbers_and_nothing_may_be_among_the_arrays():
    @kernel
    def scale(given):
        a, (_, factor), b = borrowed(given)
        for i in range(a.shape[0]):
            a[i] = factor * b[i]

    a, b = np.zeros(3), np.arange(3.0)
    scale(hold((a, (None, 2.5), b)))
    assert a.tolist() == [0.0, 2.5, 5.0]


def test_an_array_alone_can_be_held():
    @kernel
    def double(array):
        cells = borrowed(array)
        for i in range(cells.shape[0]):
            cells[i] *= 2

    array = np.arange(4)
    double(hold(array))
    assert array.tolist() == [0, 2, 4, 6]


@pytest.mark.skipif(INTERPRETED, reason="nothing is held where nothing is compiled")
def test_what_is_held_lives_and_is_held_anew_elsewhere():
    held = hold(make())
    assert type(held) is HeldArrays
    assert add_up(held, 1.0) == 6  # the tuple has no other owner
    copied = pickle.loads(pickle.dumps(held))
    assert int(copied) != int(held)
    add_up(copied, 1.0)
    np.testing.assert_array_equal(copied.members.a, held.members.a + 2.0 * np.arange(3))


def test_what_is_foretold_is_not_changed():
    @kernel
    def read(table, line):
        foretell(table, 2, 1, 5)
        foretell(line, 0, 0, 7)
        foretell(line, 0, 3, 3)
        return table[2, 1] + line[0]

    table, line = np.arange(40.0).reshape(4, 10), np.arange(7)
    assert read(table, line) == 21.0
    np.testing.assert_array_equal(table.ravel(), np.arange(40.0))
