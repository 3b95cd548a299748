"""Dynamic networks against enumeration: two variables, two slices."""

import os

import numpy as np
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.networks import pair_slices
from tests.oracle.networks import World, marginals


def sequences():
    rng = np.random.default_rng(3)
    X = rng.integers(2, size=(24, 2))
    for t in range(1, 24):
        if rng.random() < 0.7:
            X[t, 1] = X[t - 1, 0]
    return X, np.repeat([0, 1], 12)


# Runs of 4 x 750 sweeps with ten seeds are off by .0108 (root of the mean square) in the worst
# figure, and by .03 at most: a gap of .1 is nine of these.
# `INFINIMIX_SEEDS` sweeps 4 x 3,000 times.
SWEEPS = 3000 if "INFINIMIX_SEEDS" in os.environ else 750


@pytest.mark.parametrize("prior", ["sparse", "blockmodel"])
@pytest.mark.parametrize("within", [False, True])
def test_the_posterior_of_two_slices_is_that_of_the_allowed_graphs(prior, within):
    X, label = sequences()
    table, forbidden = pair_slices(X, label, within)
    names = list(table[0])
    codes = np.array([list(row.values()) for row in table])
    assert codes.shape == (22, 4)
    bonus = np.zeros((4, 4))
    for a, b in forbidden:
        bonus[names.index(a), names.index(b)] = -1e6
    exact, together = marginals(*World(codes, np.full(4, 2)).posterior(prior, bonus=bonus))
    model = BlockmodelBayesNet(
        prior=prior, forbidden=forbidden, n_iter=SWEEPS, n_chains=4, random_state=0
    ).fit(table)
    assert np.abs(model.edge_marginals_ - exact).max() < 0.1
    assert np.abs(model.co_class_marginals_ - together).max() < 0.1
    assert model.edge_marginals_[:, :2].max() == 0


def test_rows_are_paired_within_sequences_only():
    table, forbidden = pair_slices({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}, [0, 1, 0, 1])
    assert [row["a@before"] for row in table] == [1, 2]
    assert [row["b@now"] for row in table] == [7, 8]
    assert ("a@now", "b@now") in forbidden
    assert ("a@before", "a@now") not in forbidden
    with pytest.raises(ValueError, match="no sequence has two rows"):
        pair_slices(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="one label for each of the 2 rows"):
        pair_slices(np.zeros((2, 2)), [0])


def test_polars_tables_keep_their_names_and_rows_without_sequence_are_refused():
    pl = pytest.importorskip("polars")
    table, _ = pair_slices(pl.DataFrame({"a": [0, 1, 0], "b": [1, 1, 0]}))
    assert table.columns == ["a@before", "b@before", "a@now", "b@now"]
    with pytest.raises(ValueError, match="row 1"):
        pair_slices(np.zeros((3, 2), int), sequences=[1.0, np.nan, 1.0])
