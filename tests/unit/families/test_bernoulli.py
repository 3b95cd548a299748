"""Binary rows with holes are scored alone as in company, whatever the number of columns."""

import numpy as np
import pytest

from infinimix.families import seam
from infinimix.families.bernoulli import BetaBernoulli
from infinimix.families.product import refresh_all
from tests.contract.groups import scores_of, scores_of_two

SLOTS = 6


def groups_of(width, rng):
    """Return a family and groups with counts of anything."""
    family = BetaBernoulli(rng.uniform(0.5, 2.0, (2, width)))
    stats = seam.empty(family, SLOTS)
    stats.n[:] = rng.integers(0, 30, stats.n.shape)
    refresh_all(family, stats, SLOTS)
    return family, stats


@pytest.mark.parametrize("width", [1, 3, 4, 6, 37, 100, 300, 600])
def test_a_row_with_holes_has_the_same_bits_alone_and_in_a_pair(width):
    rng = np.random.default_rng(width)
    family, stats = groups_of(width, rng)
    X = rng.integers(-1, 2, (8, width)).astype(np.int8)
    X[:, rng.integers(width)] = -1
    for i in range(7):
        live = rng.permutation(SLOTS)[: 1 + i % SLOTS]
        alone, paired = np.ones((2, SLOTS)), np.ones((2, SLOTS))
        assert scores_of_two(family, stats, X, i, i + 1, live, *paired) == 1
        for row, out in zip((i, i + 1), alone, strict=True):
            for k in live:
                scores_of(family, stats, X, row, np.array([k]), out)
        assert np.array_equal(alone, paired)
        log_zero, odds = stats.t[live, 0], stats.t[live, 1]
        expected = 1.0 + log_zero @ (X[i] >= 0) + odds @ (X[i] == 1)
        assert np.allclose(alone[0, live], expected, rtol=1e-12)
