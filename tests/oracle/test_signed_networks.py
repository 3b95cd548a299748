"""Effects with signs against enumeration: tables, scores, single moves and whole chains."""

import os
from itertools import product

import numpy as np
import pytest

from infinimix import BlockmodelBayesNet
from infinimix.kernels.compile import entry
from infinimix.networks.answers.signed import monotone_means
from infinimix.networks.engine.blocks import new_prior, new_state
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.constants import Constants
from infinimix.networks.engine.graph_moves import visit_pairs
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.hyper import SWEEPS
from infinimix.networks.engine.monotone import (
    count_bins,
    fill_masses,
    list_steps,
    log_monotone,
    log_monotone_in_logs,
    log_share,
)
from infinimix.networks.engine.scores import discrete_data
from infinimix.networks.engine.signed_moves import draw_shares, move_signed_classes, note_signs
from infinimix.networks.engine.signed_scores import new_signed_cache, signed_score
from infinimix.networks.learning.ordered_chains import make_chain
from infinimix.networks.learning.problem import Problem
from tests.oracle.networks import log_discrete
from tests.oracle.signed_networks import (
    SignedWorld,
    log_signed,
    monotone_probability,
    share,
    signed_table,
)
from tests.oracle.test_network_moves import canonical, check_counts
from tests.plain import plain

LONG = "INFINIMIX_SEEDS" in os.environ
DRAWS, VISITS = (4000, 12_000) if LONG else (1500, 4000)


def ours(a, b, compute=log_monotone):
    k = len(a).bit_length() - 1
    bins = count_bins((a + b).max())
    masses, room = np.zeros((2, bins, len(a))), np.zeros((3, 168))
    for u in range(len(a)):
        fill_masses(a[u], b[u], bins, u, masses)
    return compute(masses, bins, 0, list_steps(k), room)


@pytest.mark.parametrize("gamma", [0.25, 0.5, 2.0])
@pytest.mark.parametrize("n", [0, 3, 25, 150])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_probability_of_a_monotone_table_is_that_of_all_linear_extensions(k, n, gamma):
    """Bins are half as wide as densities: the logarithm is off by .03 at most, mostly by .005."""
    rng = np.random.default_rng(100 * k + n)
    rows = rng.poisson(n, 1 << k)
    theta = 0.15 + 0.2 * np.array([u.bit_count() for u in range(1 << k)])
    ones = rng.binomial(rows, theta)
    a, b = ones + gamma, rows - ones + gamma
    exact = np.log(monotone_probability(a, b))
    assert abs(ours(a, b) - exact) < 0.03
    assert np.isclose(ours(a, b, log_monotone_in_logs), ours(a, b))
    assert np.isclose(log_share(k), np.log(share(k)))


def test_tables_that_are_far_from_monotone_have_finite_logarithms():
    """An exclusive or of 4,000 rows: exp of the answer is 0, and it falls as rows are added."""
    found = []
    for n in (1000.0, 2000.0):
        ones = np.array([0.02, 0.98, 0.98, 0.02]) * n
        found.append(ours(ones + 0.5, n - ones + 0.5))
    assert np.isfinite(found).all()
    assert 1.8 * found[0] > found[1] > 2.2 * found[0]
    assert found[0] < -800.0


def test_scores_are_sums_over_signs():
    X, N = signed_table(5, 30, 4), 4
    data, layout = discrete_data(X, np.full(N, 2)), full_layout(~np.eye(N, dtype=bool), 3)
    cache = new_signed_cache(data, layout, N + 1)
    cache.signs.positive[:] = phi = np.array([0.9, 0.2, 0.5, 0.7])
    for c in range(N):
        for mask in range(8):
            parents = tuple(int(i) for k, i in enumerate(layout.cand[c]) if mask >> k & 1)
            terms = [
                log_signed(X, c, parents, s, 0.5)
                + sum(np.log(1 - phi[p] if minus else phi[p])
                      for p, minus in zip(parents, s, strict=True))
                for s in product((0, 1), repeat=len(parents))
            ]  # fmt: skip
            found = signed_score(data, layout, cache, c, np.uint64(mask))
            assert abs(found - np.logaddexp.reduce(terms)) < 0.02


def test_signs_of_one_parent_share_what_it_is_worth_without_signs():
    """Of one parent, P(increasing) + P(decreasing) = 1: an even prior of signs changes nothing."""
    X = signed_table(6, 40, 2)
    data, layout = discrete_data(X, np.full(2, 2)), full_layout(~np.eye(2, dtype=bool), 1)
    cache = new_signed_cache(data, layout, 3)
    found = signed_score(data, layout, cache, 1, np.uint64(1))
    assert np.isclose(found, log_discrete(X, [2, 2], 1, (0,), 0.5))


def test_rows_that_were_set_from_outside_do_not_count():
    X = signed_table(7, 40, 3)
    skip = np.zeros(X.shape, bool)
    skip[:15, 2] = True
    layout = full_layout(~np.eye(3, dtype=bool), 2)
    found = []
    for rows, mask in ((X, skip), (X[15:], None)):
        data = discrete_data(rows, np.full(3, 2), skip=mask)
        cache = new_signed_cache(data, layout, 4)
        found.append(signed_score(data, layout, cache, 2, np.uint64(3)))
    assert np.isclose(*found)


@pytest.mark.parametrize("flip", [0, 2, 5])
def test_mean_tables_are_those_of_draws_that_are_monotone(flip):
    """5,000 draws or more that are kept have standard errors below .002; five are .01."""
    rng = np.random.default_rng(flip)
    ones = np.array([2, 5, 3, 7, 5, 6, 7, 9])[np.arange(8) ^ flip]
    a, b = ones + 0.5, 12 - ones + 0.5
    x = rng.beta(a[:, None], b[:, None], (8, 400_000))
    turned = x[np.arange(8) ^ flip]
    kept = np.ones(x.shape[1], bool)
    for u in range(8):
        for j in (1, 2, 4):
            if not u & j:
                kept &= turned[u] <= turned[u | j]
    assert kept.sum() > 5000
    assert np.abs(monotone_means(a, b, flip) - x[:, kept].mean(axis=1)).max() < 0.01


MOVES = {
    "classes": lambda given: [(move_signed_classes, given)],
    "edges, then classes": lambda given: [
        (visit_pairs, (*given[:2], 1.0, given[2])), (move_signed_classes, given)
    ],
}  # fmt: skip


@pytest.mark.parametrize("move", MOVES)
def test_a_move_leaves_the_posterior_as_it_is(move):
    """As in `test_network_moves`, with signs: exact draws stay exact. False alarms: 1e-6 each."""
    X = signed_table(2, 14, 3)
    *_, (states, w) = SignedWorld(X).posterior("blockmodel", alpha=1.5, per_partition=False)
    data, layout = discrete_data(X, np.full(3, 2)), full_layout(~np.eye(3, dtype=bool), 2)
    prior = new_prior(3, "blockmodel", False, (1.5, 1.0, 1.0), constants=Constants.empty(3))
    cache = new_signed_cache(data, layout, 4)
    model, rng = new_model(data, layout, prior, cache), np.random.default_rng(7)
    place = {(A.tobytes(), s.tobytes(), z): k for k, (A, s, z) in enumerate(states)}
    counts, now = np.zeros(len(states)), np.zeros((3, 1), np.uint64)
    state = new_state(prior, layout, states[0][0], np.array(states[0][2]))
    moves = [(entry(step, *given), given[2:]) for step, given in MOVES[move]((model, state, rng))]
    note, share_out = entry(note_signs, model, state, now, rng), plain(draw_shares)
    for k in rng.choice(len(states), DRAWS, p=w):
        A, negative, z = states[k]
        state = new_state(prior, layout, A, np.array(z))
        for i in range(3):
            for sign, own in enumerate((A - negative, negative)):
                cache.signs.effects[sign, i] = own[i].sum()
        for a in range(4):
            cache.signs.tally[:, a] = cache.signs.effects[:, np.array(z) == a].sum(axis=1)
        share_out(model, state, rng)
        for step, others in moves:
            step(model, state, *others)
        note(model, state, now, rng)
        after = to_adjacency(state.pa).astype(int), to_adjacency(now).astype(int)
        counts[place[after[0].tobytes(), after[1].tobytes(), canonical(state.z)]] += 1
        again = new_state(prior, layout, after[0], state.z)
        assert (again.plus == state.plus).all()
        assert (again.m == state.m).all()
    check_counts(counts, DRAWS * w)


# Runs of 2,000 sweeps with ten seeds are off by .027 (root of the mean square) in the worst figure,
# so those of 4,000 by .0192: a gap of .1 in one of 34 figures has a probability below 34 x 6e-7.
# `INFINIMIX_SEEDS` sweeps 12,000 times.
@pytest.mark.parametrize(
    ("prior", "per_partition", "n"),
    [("blockmodel", True, 12), ("blockmodel", False, 40), ("sparse", False, 40),
     ("uniform", False, 12)],
)  # fmt: skip
def test_chains_visit_signed_states_as_often_as_they_should(prior, per_partition, n):
    X = signed_table(n, n, 4)
    settings = {"prior": prior, "per_partition": per_partition, "alpha": 0.7, "beta": (1.0, 2.0)}
    edges, minus, together, _ = SignedWorld(X).posterior(**settings)
    problem = Problem(
        X, np.zeros(X.shape, bool), np.full(4, 2), full_layout(~np.eye(4, dtype=bool), 3),
        n_iter=VISITS, burn_in=300, signed=True, **settings,
    )  # fmt: skip
    chain = make_chain(problem, np.random.SeedSequence(0), False)
    record = chain.run()
    done = record.counters[SWEEPS]
    assert np.abs(record.edges / done - edges).max() < 0.1
    assert np.abs(chain.signs.counts / done - minus).max() < 0.1
    assert np.abs(record.together / done - together).max() < 0.1


def test_predictions_are_those_of_the_enumeration():
    """Probabilities of all eight rows: of ten seeds the worst is off by .003, against .04.

    With `INFINIMIX_SEEDS` there are four times as many sweeps.
    """
    X = signed_table(4, 20, 3)
    *_, (states, w) = SignedWorld(X).posterior("blockmodel")
    rows = np.array(list(product((0, 1), repeat=3)))
    exact = np.zeros(8)
    for (A, negative, _), p in zip(states, w, strict=True):
        if p < 1e-6:
            continue
        for r, row in enumerate(rows):
            more, logs = np.vstack([X, row]), 0.0
            for c in range(3):
                parents = tuple(np.flatnonzero(A[:, c]).tolist())
                signs = tuple(negative[list(parents), c].tolist())
                logs += _kept(more, c, parents, signs, r) - _kept(X, c, parents, signs, -1)
            exact[r] += p * np.exp(logs)
    model = BlockmodelBayesNet(
        effects="signed", alpha=0.5, n_iter=3000 if LONG else 750, n_chains=2, random_state=0
    ).fit(X)
    assert np.isclose(exact.sum(), 1.0, atol=1e-3)
    assert np.abs(np.exp(model.score_samples(rows)) - exact).max() < 0.04


KNOWN = {}


def _kept(X, c, parents, signs, r):
    key = c, parents, signs, r
    if key not in KNOWN:
        KNOWN[key] = log_signed(X, c, parents, signs, 0.5)
    return KNOWN[key]
