"""Simulation-based calibration of moves over graphs whose effects have signs, and of their cells.

As in `test_network_calibration`. A table is drawn until it rises or falls in every parent as the
signs say, which is the prior of tables given signs. Beside the log score, what must not change in
the mean is the sum over effects of sign times covariance in the rows.
"""

import os
from functools import cache

import numpy as np
import pytest

from infinimix.networks.engine.blocks import new_prior, new_state
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.constants import Constants
from infinimix.networks.engine.graph_moves import visit_pairs
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.scores import discrete_data
from infinimix.networks.engine.signed_moves import draw_shares, move_signed_classes, note_signs
from infinimix.networks.engine.signed_scores import new_signed_cache
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from tests.oracle.signed_networks import SignedWorld
from tests.plain import plain, typed_once
from tests.statistical.calibration import ALARM, changed, check_counts, draw_rows, log_score

N, ROWS, CARDS = 3, 14, np.full(3, 2)
LONG = "INFINIMIX_SEEDS" in os.environ
MOVED, RUN = (2000, 800) if LONG else (250, 80)  # simulations of each kind
LAYOUT = full_layout(~np.eye(N, dtype=bool), 2)
CONSTANTS = Constants.empty(N)


@cache
def states_of():
    """All graphs with signs and classes, and their prior probabilities."""
    world = SignedWorld(np.zeros((0, N), int))
    *_, (states, w) = world.posterior("blockmodel", alpha=1.5, per_partition=True)
    return states, w


def draw_table(negative):
    """How tables of binary children are drawn, given the signs of all effects."""

    def draw(c, parents, rng):
        minus = negative[parents, c]
        while True:
            p = rng.beta(0.5, 0.5, (2,) * len(parents))
            steps = [np.diff(p, axis=k) * (-1) ** s for k, s in enumerate(minus)]
            if all((step >= 0).all() for step in steps):
                return np.stack([1 - p, p], axis=-1)

    return draw


def draw_worlds(n, rng):
    states, w = states_of()
    for k in rng.choice(len(w), n, p=w):
        A, negative, z = states[k]
        yield A, negative, z, draw_rows(A, CARDS, ROWS, rng, draw_table(negative))


def agreement(A, negative, X):
    """The sum over effects of their sign times the covariance of the two columns."""
    centred = X - X.mean(axis=0)
    return float(((A - 2 * negative) * (centred.T @ centred)).sum())


class Judge:
    """What was found in all simulations."""

    def __init__(self):
        self.graphs, self.scores, self.signs = [], [], []

    def add(self, before, after):
        """Graph, negative effects and rows, as they were drawn and as they are now."""
        self.graphs.append(after[:2])
        self.scores.append(
            log_score(after[0], after[2], CARDS) - log_score(before[0], before[2], CARDS)
        )
        self.signs.append(agreement(*after) - agreement(*before))

    def check(self):
        states, w = states_of()
        for count in (lambda A, s: A.sum(), lambda A, s: s.sum(), lambda A, s: A[0].sum()):
            check_counts([count(A, s) for A, s, _ in states], w, [count(*g) for g in self.graphs])
        assert changed(self.scores) > ALARM
        assert changed(self.signs) > ALARM


def set_signs(cache, A, negative, z):
    """Let the cache count the effects of these signs."""
    for i in range(N):
        for sign, own in enumerate((A - negative, negative)):
            cache.signs.effects[sign, i] = own[i].sum()
    for a in range(N + 1):
        cache.signs.tally[:, a] = cache.signs.effects[:, np.array(z) == a].sum(axis=1)


def test_moves_over_signed_graphs_keep_graphs_and_rows_together(seed):
    rng, judge = np.random.default_rng(seed), Judge()
    visit, move, note = map(typed_once, (visit_pairs, move_signed_classes, note_signs))
    share_out = plain(draw_shares)
    for A, negative, z, X in draw_worlds(MOVED, rng):
        data, now = discrete_data(X, CARDS), np.zeros((N, 1), np.uint64)
        prior = new_prior(N, "blockmodel", True, (1.5, 1.0, 1.0), constants=CONSTANTS)
        cache = new_signed_cache(data, LAYOUT, N + 1)
        model, state = (
            new_model(data, LAYOUT, prior, cache),
            new_state(prior, LAYOUT, A, np.array(z)),
        )
        set_signs(cache, A, negative, z)
        share_out(model, state, rng)
        for _ in range(2):
            visit(model, state, 1.0, rng)
            move(model, state, rng)
        note(model, state, now, rng)
        after = to_adjacency(state.pa).astype(int), to_adjacency(now).astype(int)
        judge.add((A, negative, X), (*after, X))
    judge.check()


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_chains_over_signed_graphs_keep_graphs_and_rows_together(share, seed):
    rng, judge = np.random.default_rng([seed, int(100 * share)]), Judge()
    for k, (A, negative, _, X) in enumerate(draw_worlds(RUN, rng)):
        holes = rng.random(X.shape) < share
        problem = Problem(
            np.where(holes, 0, X), holes, CARDS, LAYOUT, prior="blockmodel", alpha=1.5, n_iter=10,
            burn_in=0, signed=True,
        )  # fmt: skip
        chain = make_chain(problem, np.random.SeedSequence([seed, k]), apart=True)
        for _ in range(12):
            chain.advance(3, False)
        now = np.zeros((N, 1), np.uint64)
        note_signs(chain.model, chain.states[0], now, rng)
        after = chain.adjacency().astype(int), to_adjacency(now).astype(int)
        judge.add((A, negative, X), (*after, chain.X))
    judge.check()
