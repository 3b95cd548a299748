"""A table in parts that only tasks see is learned as the whole one is."""

from itertools import pairwise

import numpy as np
import pytest

from infinimix import execution
from infinimix.families.priors import Layout
from infinimix.inference.ensemble import bank as banks
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.inference.ensemble.parts import Parts

N = 500
rng = np.random.default_rng(0)
CODES = rng.integers(3, size=N)
X = (
    (rng.random((N, 2)) < 0.3 + 0.2 * CODES[:, None]).astype(np.int8),
    rng.normal(size=(N, 2)) + CODES[:, None],
)
LAYOUT = Layout({"binary": ("a", "b"), "real": ("c", "d")}, np.zeros(0, np.int64))


def make(alpha, prior):
    settings = Settings(alpha, prior, 3, 2, "optimal", None)
    return Bank(settings, LAYOUT, np.random.SeedSequence(1))


def parts_of(cuts):
    ends = [0, *cuts, N]
    placed = [
        execution.Placed((*(block[a:b] for block in X), CODES[a:b].astype(np.int32)))
        for a, b in pairwise(ends)
    ]
    counts = [np.bincount(part.value[-1], minlength=3) for part in placed]
    return Parts(placed, np.stack(counts))


@pytest.mark.parametrize("most", [20_000, 60])
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(("alpha", "prior"), [("learn", "learn"), (1.0, "reference")])
def test_parts_are_learned_as_the_whole(monkeypatch, alpha, prior, check, most):
    monkeypatch.setattr(banks, "MOST_CHECKED", most)
    whole, apart = make(alpha, prior), make(alpha, prior)
    rows, log_density = whole.fit(X, CODES, 3, execution.map, check=check)
    parts = parts_of([90, 100, 333])
    with execution.placing() as place:
        held, found = apart.fit_parts(parts, execution.map, place, check=check)
    np.testing.assert_array_equal(parts.sample.rows[held], rows)
    np.testing.assert_array_equal(found, log_density)
    np.testing.assert_array_equal(apart.log_densities(X), whole.log_densities(X))
    np.testing.assert_array_equal(apart.labelled, whole.labelled)
    assert apart.n_rows == whole.n_rows == N


def test_the_sample_is_of_the_rows_that_were_drawn():
    parts = parts_of([90, 100, 333])
    rows = np.array([0, 89, 90, 99, 100, 450])
    sample = parts._take(rows, execution.map)
    for block, expected in zip(sample.X, X, strict=True):
        np.testing.assert_array_equal(block, expected[rows])
    np.testing.assert_array_equal(sample.codes, CODES[rows])
    for row, place in zip(rows, sample.places, strict=True):
        assert row == np.flatnonzero(CODES[row] == CODES)[place]
