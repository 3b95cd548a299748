"""Edges that are ruled out count as gaps in the prior of blocks: chains against enumeration."""

import numpy as np
import pytest

from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import World, marginals, table

CARDS = np.array([2, 3, 2, 2])
BARRED = np.zeros((4, 4), bool)
BARRED[[0, 1, 3], [1, 2, 0]] = True


# 30,000 sweeps with autocorrelation times below 4: standard errors below .5 / sqrt(7,500) = .006;
# a gap of .03 in one of 22 figures has a probability below 22 x 6e-7
@pytest.mark.parametrize("prior", ["sparse", "blockmodel", "ordered"])
def test_graphs_without_some_edges_have_the_posterior_of_the_enumeration(prior, seed):
    X = table(seed, 25, CARDS)
    options = {"prior": prior, "per_partition": False, "alpha": 0.7, "beta": (1.0, 2.0)}
    bonus = np.where(BARRED, -1e9, 0.0)  # a weight of 0 in the enumeration
    edges, together = marginals(*World(X, CARDS).posterior(**options, bonus=bonus))
    allowed = ~np.eye(4, dtype=bool) & ~BARRED
    given = Problem(
        X, np.zeros(X.shape, bool), CARDS, full_layout(allowed), n_iter=30_000, burn_in=300,
        bonus=np.where(allowed, 0.0, -np.inf), **options,
    )  # fmt: skip
    record = make_chain(given, np.random.SeedSequence(seed), apart=False).run()
    assert not record.edges[BARRED].any()
    assert np.abs(record.edges / record.counters[SWEEPS] - edges).max() < 0.03
    assert np.abs(record.together / record.counters[SWEEPS] - together).max() < 0.03
