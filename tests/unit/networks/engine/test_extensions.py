"""Orders that an acyclic graph allows, against all permutations and closed forms."""

from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest

from infinimix.networks.engine.extensions import count_orders


def ways(before):
    before = np.array(before, np.int64)
    return count_orders(before, len(before), np.empty(1 << len(before)))


@pytest.mark.parametrize("density", [0.1, 0.3, 0.6])
def test_orders_are_counted_as_permutations_are(density):
    rng = np.random.default_rng(0)
    for _ in range(10):
        place, n = rng.permutation(6), 6
        before = [
            sum(1 << i for i in range(n) if place[i] < place[c] and rng.random() < density)
            for c in range(n)
        ]
        plain = sum(
            all(before[c] & ~sum(1 << i for i in order[:k]) == 0 for k, c in enumerate(order))
            for order in permutations(range(n))
        )
        assert ways(before) == plain


def test_parts_that_are_not_connected_are_shuffled():
    assert ways([0] * 13) == factorial(13)
    assert ways([0, *(1 << k for k in range(12))]) == 1  # a chain
    chains = [0, 1, 2, 0, 1 << 3, 1 << 4, 0, 1 << 6]  # of 3, 3 and 2
    assert ways(chains) == comb(8, 3) * comb(5, 3)
    assert ways([0b110, 0, 0, 0b110000, 0, 0]) == comb(6, 3) * 2 * 2
