"""Simulation-based calibration of networks of categories and numbers, with missing cells.

A graph from the prior, parameters and rows given it, some cells removed; then a chain. A graph from
the posterior of such rows is again a draw from the prior, here uniform over the twelve graphs in
which numbers are no parents of the category. Wrong scores, completions or priors of parameters
would favour some of them.
"""

import os
from itertools import product

import numpy as np
import pytest
from scipy import stats

from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from tests.oracle.mixed_networks import ALONE, GROUPED, SCALE, SHAPE, SLOPE, barred

CARDS = np.array([2, 0, 0])
ROWS, STEPS = 12, 20
# Six runs for each of the twelve graphs: nine times of ten the test by chi-square notices shares
# that are off by .77 of themselves (root of the mean square). Alarms are as rare as with more runs
# (1.5e-4 of two million simulated tables, for ten runs each 1.4e-4). 240 runs notice .43.
N_RUNS = 240 if "INFINIMIX_SEEDS" in os.environ else 72
ALARM = 1e-4  # probability that the test fails although all is right, for each seed


def all_graphs():
    for first, second, between in product(range(2), range(2), range(3)):
        A = np.zeros((3, 3), int)
        A[0, 1], A[0, 2] = first, second
        A[1, 2], A[2, 1] = between == 1, between == 2
        yield A


def draw_rows(A, rng):
    """Parameters from the prior, rows given them."""
    X = np.zeros((ROWS, 3))
    X[:, 0] = rng.random(ROWS) < rng.beta(0.5, 0.5)
    for c in (2, 1) if A[2, 1] else (1, 2):
        real = [p for p in (1, 2) if A[p, c]]
        for value in range(2) if A[0, c] else (None,):
            rows = X[:, 0] == value if A[0, c] else np.ones(ROWS, bool)
            v = SCALE / rng.standard_gamma(SHAPE + 0.5 * len(real))
            a = rng.normal(0.0, np.sqrt(v / (GROUPED if A[0, c] else ALONE)))
            b = rng.normal(0.0, np.sqrt(v / SLOPE), len(real))
            X[rows, c] = a + X[rows][:, real] @ b + rng.normal(0.0, np.sqrt(v), rows.sum())
    return X


@pytest.mark.parametrize("share", [0.0, 0.15])
def test_graphs_of_simulated_rows_follow_the_prior(seed, share):
    rng, every = np.random.default_rng([seed, int(100 * share)]), list(all_graphs())
    allowed = ~np.eye(3, dtype=bool) & ~barred(CARDS)
    counts = np.zeros(len(every))
    for run in range(N_RUNS):
        A = every[rng.integers(len(every))]
        X, missing = draw_rows(A, rng), rng.random((ROWS, 3)) < share
        problem = Problem(
            np.where(missing, 0.0, X), missing, CARDS, full_layout(allowed), prior="uniform",
            bonus=np.where(allowed, 0.0, -np.inf), n_iter=10,
        )  # fmt: skip
        chain = make_chain(problem, np.random.SeedSequence([seed, run]), apart=True)
        for _ in range(STEPS if share else 1):
            chain.advance(3 if share else 20, False)
        counts[[np.array_equal(B, chain.adjacency()) for B in every].index(True)] += 1
    assert stats.chisquare(counts).pvalue > ALARM
