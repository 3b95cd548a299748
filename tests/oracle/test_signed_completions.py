"""Missing cells where effects have signs: drawn tables and whole chains against enumeration."""

import os
from itertools import product

import numpy as np
import pytest

from infinimix.networks.answers.signed import monotone_means
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.learning import monotone_draws
from infinimix.networks.learning.monotone_draws import covers, draw_monotone, lattice
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from tests.oracle.signed_networks import SignedWorld, orders, signed_table

STEPS = 4000 if "INFINIMIX_SEEDS" in os.environ else 250


@pytest.mark.parametrize(("k", "pairs"), [(1, 6), (2, 20), (3, 168), (4, 7581)])
def test_pairs_of_ideals_are_those_of_one_parent_more(k, pairs):
    """Ideals within ideals are monotone functions of one variable more: Dedekind's numbers."""
    found = lattice(k)
    assert len(found.larger) == pairs
    if k < 4:
        assert found.ways[0, -1] == len(orders(k))


def in_order(theta, flip):
    turned = theta[..., np.arange(theta.shape[-1]) ^ flip]
    low, high = covers(theta.shape[-1].bit_length() - 1)
    return (turned[..., low] <= turned[..., high]).all(axis=-1)


@pytest.mark.parametrize(("flip", "tries"), [(2, 0), (3, 8)])
def test_drawn_tables_are_in_order_and_have_the_moments_of_those_that_are(flip, tries, monkeypatch):
    """150 draws: five standard errors of each mean; of a log variance they are 5 * .12 = .6."""
    monkeypatch.setattr(monotone_draws, "TRIES", tries)
    rng = np.random.default_rng(flip)
    ones = np.array([4, 2, 6, 5])[np.arange(4) ^ flip]
    a, b = ones + 0.5, 9 - ones + 0.5
    drawn = np.array([draw_monotone(a, b, flip, rng) for _ in range(150)])
    assert in_order(drawn, flip).all()
    error = drawn.std(axis=0) / np.sqrt(150)
    assert (np.abs(drawn.mean(axis=0) - monotone_means(a, b, flip)) < 5.0 * error).all()
    free = rng.beta(a, b, (20_000, 4))
    kept = free[in_order(free, flip)]
    assert np.abs(np.log(drawn.var(axis=0) / kept.var(axis=0))).max() < 0.6


# 4,000 steps came within .008 of all figures, so that 250 have standard errors of about .03, of
# which .2 is more than six
def test_cells_and_signed_graphs_are_drawn_as_all_completions_weigh():
    X, holes = signed_table(5, 14, 3), np.zeros((14, 3), bool)
    holes[[1, 8], [2, 0]] = True
    settings = {"prior": "blockmodel", "per_partition": False, "alpha": 0.7}
    logs, found, filled = [], [], X.copy()
    fills = list(product(range(2), repeat=2))
    for fill in fills:
        filled[holes] = fill
        world = SignedWorld(filled)
        found.append(world.posterior(**settings)[:3])
        logs.append(world.log_evidence)
    p = np.exp(np.array(logs) - max(logs))
    p /= p.sum()
    exact = [np.tensordot(p, np.array(part), 1) for part in zip(*found, strict=True)]
    problem = Problem(
        X, holes, np.full(3, 2), full_layout(~np.eye(3, dtype=bool), 2), n_iter=STEPS * 2,
        burn_in=0, signed=True, **settings,
    )  # fmt: skip
    chain, seen = make_chain(problem, np.random.SeedSequence(0), False), np.zeros(4)
    chain.advance(20, False)
    for _ in range(STEPS):
        chain.advance(2, True)
        seen[fills.index(tuple(chain.X[holes].tolist()))] += 1.0 / STEPS
    done = chain.record.counters[SWEEPS]
    assert np.abs(seen - p).max() < 0.2
    assert np.abs(chain.record.edges / done - exact[0]).max() < 0.2
    assert np.abs(chain.signs.counts / done - exact[1]).max() < 0.2
    assert np.abs(chain.record.together / done - exact[2]).max() < 0.2
    pairs = chain.completions.pairs
    assert all(not (negative & ~graph).any() for graph, _, negative in pairs)
