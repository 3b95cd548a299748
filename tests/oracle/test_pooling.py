"""Chains that share orders and candidates after the burn-in, against the enumeration of all graphs.

`test_layers` checks the jumps alone, along lists of orders that were fixed from the start. Here
whole chains make the list, and sweep on with it: a list that changed while sweeps count, or
candidates that did, would favour the graphs that chains had visited.
"""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.learning import layered_chains, pooling
from infinimix.networks.learning.layered_chains import LayeredChain
from infinimix.networks.learning.pooling import burn_in_together, share_orders
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import World, marginals, table

CARDS = np.array([2, 3, 2, 2])
LONG = "INFINIMIX_SEEDS" in os.environ
# three chains of 400 sweeps, of 4,000 in the long form. With autocorrelation times below 10 that is
# a standard error of .5 / sqrt(120) = .046 or .014 for the least certain figure, and NEAR is five
# of these: a false alarm in one of 24 figures has a probability below 24 x 6e-7
N_ITER, NEAR = (4000, 0.07) if LONG else (400, 0.23)


KINDS = [("sparse", 3, 6), ("blockmodel", 2, 6), ("blockmodel", 3, 512)][: 3 if LONG else 2]


@pytest.mark.parametrize(("prior", "candidates", "most"), KINDS)
def test_chains_that_share_have_the_posterior_of_the_enumeration(
    prior, candidates, most, seed, monkeypatch
):
    """With two candidates of three, the others are parents that jumps keep."""
    monkeypatch.setattr(layered_chains, "CANDIDATES", candidates)
    monkeypatch.setattr(pooling, "MOST_ORDERS", most)
    X = table(seed + 1, 25, CARDS)
    settings = {"prior": prior, "alpha": 0.7, "per_partition": prior == "blockmodel"}
    problem = Problem(
        X, np.zeros(X.shape, bool), CARDS, full_layout(~np.eye(4, dtype=bool)), n_iter=N_ITER,
        burn_in=60, **settings,
    )  # fmt: skip
    seeds = np.random.SeedSequence(seed).spawn(3)
    chains = [LayeredChain(problem, s, apart=k > 0) for k, s in enumerate(seeds)]
    model = SimpleNamespace(n_jobs=None, n_iter=N_ITER, n_chains=3, verbose=False)
    chains = burn_in_together(model, chains)
    listed = chains[0].layering.orders.rank.copy()
    assert len(listed) <= most
    records = [chain.run() for chain in chains]
    assert np.array_equal(chains[0].layering.orders.rank, listed)
    edges, together = marginals(*World(X, CARDS).posterior(**settings))
    for name, exact in (("edges", edges), ("together", together)):
        found = sum(getattr(r, name) for r in records) / sum(r.counters[SWEEPS] for r in records)
        assert np.abs(found - exact).max() < NEAR
    share_orders(chains)  # as between rounds of n_iter="auto"
    assert len(chains[0].layering.orders.rank) <= most
