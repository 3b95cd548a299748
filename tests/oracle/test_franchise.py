"""Several networks with shared roles, against the enumeration of all graphs and partitions.

Chains of 1,500 sweeps with autocorrelation times below 4 have standard errors below .026 (runs of
2,500 sweeps with six seeds say .015, so .019), so that a gap of .1 in one of about 25 figures has a
probability below 25 x 2e-7 by the latter. With the other kind of sharing the figures would be .18
off. `INFINIMIX_SEEDS` runs all 2,500.
"""

import os

import numpy as np
import pytest

from infinimix.networks.engine import class_moves, graph_moves, hyper, relocation
from infinimix.networks.engine.blocks import new_prior, new_state
from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.chain import new_model
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.scores import discrete_data, new_cache
from infinimix.networks.learning.problem import Problem
from infinimix.networks.shared.joint import JointChain, Networks, Sharing
from infinimix.networks.shared.weights import draw_weights, log_common, log_franchise
from tests.oracle.franchise import common, franchise, posterior, sums
from tests.oracle.networks import World, marginals, table
from tests.plain import typed_once

ALPHA, C, BETA = 0.8, 1.5, (1.0, 2.0)
CARDS = [np.array([2, 2]), np.array([2, 3, 2])]
TABLES = [table(1, 12, CARDS[0]), table(2, 12, CARDS[1])]
SWEEPS, NEAR = 2500 if "INFINIMIX_SEEDS" in os.environ else 1500, 0.1


def problems(tables, cards, n_iter=SWEEPS, beta=BETA, by_network=False):
    return [
        Problem(
            X, np.zeros(X.shape, bool), r, full_layout(~np.eye(X.shape[1], dtype=bool)),
            per_partition=by_network, alpha=ALPHA, beta=beta, n_iter=n_iter, burn_in=100,
        )
        for X, r in zip(tables, cards, strict=True)
    ]  # fmt: skip


def test_the_probability_of_roles_is_the_sum_over_all_tables():
    shared, one = franchise((2, 3), ALPHA, C), common((2, 3), ALPHA)
    assert np.isclose(sum(shared.values()), 1.0)
    for z, p in shared.items():
        n = np.zeros((2, 5), int)
        np.add.at(n, ([0, 0, 1, 1, 1], list(z)), 1)
        assert np.isclose(log_franchise(n, ALPHA, C), np.log(p))
        assert np.isclose(log_common(n, ALPHA), np.log(one[z]))
        assert abs(log_franchise(n, ALPHA, 1e6) - np.log(one[z])) < 1e-4  # the limit


@pytest.mark.parametrize(
    ("c", "powers", "beta", "by_network"),
    [
        (C, (1.0,), BETA, False),
        (None, (1.0, 0.5), BETA, False),
        (None, (1.0,), (3.0, 0.3), True),  # dense: with one constant a figure would be .22 off
    ],
)
def test_networks_and_roles_are_visited_as_often_as_they_should(c, powers, beta, by_network):
    prior = common((2, 3), ALPHA) if c is None else franchise((2, 3), ALPHA, c)
    edges, together = posterior(TABLES, CARDS, prior, beta, by_network)
    given, seed = problems(TABLES, CARDS, SWEEPS, beta, by_network), np.random.SeedSequence(0)
    chain = JointChain(given, Sharing(ALPHA, c), powers, seed, True)
    chain.run()
    for g in range(2):
        assert np.abs(chain.records[g].edges / SWEEPS - edges[g]).max() < NEAR
    assert np.abs(chain.together / SWEEPS - together).max() < NEAR


ANCHORS = [np.array([0, -1]), np.array([1, 0, -1])]  # one role of both tables, one of the second


@pytest.mark.parametrize(("c", "by_network"), [(C, True), (None, False)])
def test_known_roles_and_log_odds_are_those_of_the_enumeration(c, by_network):
    """Over partitions in which variables have the roles that they are known for.

    A third of the sweeps has standard errors of .033, of which .18 is more than five.
    """
    few = SWEEPS // 3
    prior = common((2, 3), ALPHA) if c is None else franchise((2, 3), ALPHA, c)
    prior = {z: p for z, p in prior.items() if z[0] == z[3] != z[2]}
    rng = np.random.default_rng(0)
    odds = [rng.normal(size=(n, n)) for n in (2, 3)]
    edges, together = posterior(TABLES, CARDS, prior, BETA, by_network, odds)
    given = problems(TABLES, CARDS, few, BETA, by_network)
    for problem, anchor, own in zip(given, ANCHORS, odds, strict=True):
        problem.anchor, problem.bonus = anchor, own - np.diag(np.full(len(own), np.inf))
    chain = JointChain(given, Sharing(ALPHA, c), (1.0,), np.random.SeedSequence(4), True).run()
    for g in range(2):
        assert np.abs(chain.records[g].edges / few - edges[g]).max() < 0.18
    assert np.abs(chain.together / few - together).max() < 0.18


def test_missing_cells_of_all_tables_are_averaged_over_completions():
    tables, holes = [X.copy() for X in TABLES], [np.zeros(X.shape, bool) for X in TABLES]
    holes[0][[1, 4], [0, 1]] = holes[1][5, 0] = True
    prior, parts = common((2, 3), ALPHA), []
    for first in np.ndindex(2, 2):
        for second in range(2):
            tables[0][holes[0]], tables[1][holes[1]] = first, second
            parts.append(sums(tables, CARDS, prior, BETA))
    w = np.exp([part[3] - parts[0][3] for part in parts])
    total = sum(v * part[2] for v, part in zip(w, parts, strict=True))
    given = problems(tables, CARDS)
    for problem, own in zip(given, holes, strict=True):
        problem.missing = own
    chain = JointChain(given, Sharing(ALPHA, None), (1.0,), np.random.SeedSequence(2), True)
    chain.run()
    for g in range(2):
        edges = sum(v * part[0][g] for v, part in zip(w, parts, strict=True)) / total
        assert np.abs(chain.records[g].edges / SWEEPS - edges).max() < NEAR
    together = sum(v * part[1] for v, part in zip(w, parts, strict=True)) / total
    assert np.abs(chain.together / SWEEPS - together).max() < NEAR


def test_one_network_has_the_posterior_of_a_network_by_itself():
    X, cards = TABLES[1], CARDS[1]
    edges, together = marginals(
        *World(X, cards).posterior("blockmodel", alpha=ALPHA, beta=BETA, per_partition=False)
    )
    sharing = Sharing(ALPHA, None)
    chain = JointChain(problems([X], [cards]), sharing, (1.0,), np.random.SeedSequence(1), False)
    chain.run()
    assert np.abs(chain.records[0].edges / SWEEPS - edges).max() < NEAR
    assert np.abs(chain.together / SWEEPS - together).max() < NEAR


def test_roles_and_graphs_are_kept_of_the_same_sweeps(monkeypatch):
    monkeypatch.setattr("infinimix.networks.learning.chains.KEEP", 10)
    given, seed = problems(TABLES, CARDS, 16), np.random.SeedSequence(3)
    chain = JointChain(given, Sharing(2.0, C), (1.0, 0.6), seed, True).run()
    kept = np.array([z for z, _ in chain.kept])
    assert len(kept) == 8
    for record, z in zip(chain.records, (kept[:, :2], kept[:, 2:]), strict=True):
        classes = record.classes[: record.counters[hyper.KEPT]]
        same = classes[:, :, None] == classes[:, None, :]
        assert (same == (z[:, :, None] == z[:, None, :])).all()


MOVES = {
    "class": (class_moves.visit_classes,),
    "relocation": (relocation.relocate_some, 1.0),
    "split and merge": (class_moves.split_merge,),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_move_by_which_roles_appear_and_die_leaves_the_posterior_as_it_is(move):
    X, cards = TABLES[1], CARDS[1]
    edges, together = posterior([X], [cards], franchise((3,), ALPHA, C), BETA)
    data, layout = discrete_data(X, cards), full_layout(~np.eye(3, dtype=bool))
    prior = new_prior(3, "blockmodel", False, (0.5, *BETA))
    model = new_model(data, layout, prior, new_cache(data, layout))
    state = new_state(prior, layout, np.zeros((3, 3)), np.zeros(3, np.int64))
    prior.hyper[:] = [0.5 * C, *BETA, 0, 0, 0, ALPHA]
    prior.pseudo_members[0] = 0.5 * C
    rng, counted, shared = np.random.default_rng(4), np.zeros((3, 3)), np.zeros((3, 3))
    (kernel, *power), visit = MOVES[move], typed_once(graph_moves.visit_pairs)
    step = typed_once(kernel)
    for _ in range(SWEEPS):
        visit(model, state, 1.0, rng)
        for _ in range(3):
            step(model, state, *power, rng)
        assert abs(prior.pseudo_members.sum() + prior.hyper[hyper.ALPHA] - C) < 1e-9
        assert ((prior.pseudo_members > 0) == (state.m > 0)).all()
        weights, rest = draw_weights(state.m[None], prior.pseudo_members / C, ALPHA, C, rng)
        prior.pseudo_members[:], prior.hyper[hyper.ALPHA] = C * weights, C * rest
        counted += to_adjacency(state.pa)
        shared += state.z[:, None] == state.z
    assert prior.hyper[hyper.STICKS] == ALPHA
    assert np.abs(counted / SWEEPS - edges[0]).max() < NEAR
    assert np.abs(shared / SWEEPS - together).max() < NEAR


def test_what_is_counted_for_all_networks_is_what_there_is():
    cards = [np.full(4, 2), np.full(3, 2), np.full(2, 2)]
    tables = [table(g, 20, r) for g, r in enumerate(cards)]
    seed = np.random.SeedSequence(2)
    networks = Networks(problems(tables, cards, 10), Sharing(3.0, 2.0), seed, True)
    seen = set()
    for _ in range(60):
        networks.sweep(1.0)
        for g, chain in networks.each():
            A, z = chain.adjacency(), networks.z[g]
            expected = np.zeros_like(networks.edges[g])
            np.add.at(expected, tuple(z[np.argwhere(A)].T), 1)
            assert (networks.edges[g] == expected).all()
            assert (networks.n[g] == np.bincount(z, minlength=10)).all()
        used = networks.n.sum(axis=0) > 0
        assert ((networks.w > 0) == used).all()
        assert abs(networks.w.sum() + networks.rest - 1.0) < 1e-9
        seen.add(int(used.sum()))
    assert len(seen) > 2  # roles have appeared and died
