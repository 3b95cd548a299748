"""Four sums side by side are those that their order says, to the last bit."""

import numpy as np

from infinimix.kernels.compile import exact, kernel
from infinimix.kernels.lanes import (
    LANES,
    lanes_at,
    no_lanes,
    plus,
    plus_products,
    sum_of_lanes,
    where,
)


@exact
def sum_products(x, y, i, j):
    """Return the product of x[i] and y[i, j], four cells at a time."""
    lanes = no_lanes()
    for d in range(0, x.shape[1], LANES):
        lanes = plus_products(lanes, lanes_at(x, (i, d)), lanes_at(y, (i, j, d)))
    return sum_of_lanes(lanes)


@kernel
def dot(x, y, i, j):
    """Return the same from a function that may reorder its own sums."""
    return sum_products(x, y, i, j)


def test_lanes_are_added_up_in_their_order():
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(3, 20)).astype(float), rng.normal(size=(3, 2, 20))
    for i in range(3):
        for j in range(2):
            a, b, c, d = np.add.accumulate((x[i] * y[i, j]).reshape(-1, LANES))[-1]
            assert dot(x, y, i, j) == (a + c) + (b + d)


@exact
def sum_chosen(x, y, i, j):
    """Return the sum of y[i, j] where x[i] is not 0, four cells at a time."""
    lanes = no_lanes()
    for d in range(0, x.shape[1], LANES):
        lanes = plus(lanes, where(lanes_at(x, (i, d)), lanes_at(y, (i, j, d))))
    return sum_of_lanes(lanes)


@kernel
def add_chosen(x, y, i, j):
    """Return the same from a function that may reorder its own sums."""
    return sum_chosen(x, y, i, j)


def test_cells_are_chosen_not_multiplied():
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, size=(3, 20)).astype(float), rng.normal(size=(3, 2, 20))
    y[x.astype(bool)[:, None].repeat(2, axis=1) == 0] = np.inf  # times 0 this would be NaN
    for i in range(3):
        for j in range(2):
            chosen = np.where(x[i] != 0.0, y[i, j], 0.0).reshape(-1, LANES)
            a, b, c, d = np.add.accumulate(chosen)[-1]
            assert add_chosen(x, y, i, j) == (a + c) + (b + d)
