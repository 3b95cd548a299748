"""Chains that draw whole graphs again: which candidates they choose, and what stays as it is."""

import pickle

import numpy as np

from infinimix import BlockmodelBayesNet
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.layered_chains import LayeredChain


def rows(N, n=60):
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n, N))
    X[:, 1] = np.where(rng.random(n) < 0.1, X[:, 1], X[:, 0] ^ X[:, 2])  # neither alone says much
    return X


def fitted(N, **options):
    options = {"n_iter": 60, "n_chains": 1, "random_state": 0, "prior": "sparse"} | options
    return BlockmodelBayesNet(**options).fit(rows(N))


def test_candidates_are_what_the_chain_has_seen():
    (chain,) = fitted(16)._state.chains
    assert isinstance(chain, LayeredChain)
    layers = chain.layering.layers
    assert {0, 2} <= set(layers.cand[1])
    assert 2 in layers.cand[0]  # the other parent of a child
    for c in range(16):
        held = [v for v in layers.cand[c] if v >= 0]
        assert c not in held
        assert [int(layers.place[c, v]) for v in held] == list(range(len(held)))
    assert not chain.layering.learns  # they stay while sweeps are counted


def test_strong_candidates_belong_to_one_chain():
    first, second = fitted(16, n_chains=2)._state.chains
    assert first.problem.layout.strong is not second.problem.layout.strong


def test_small_networks_and_changing_scores_have_other_chains():
    assert type(fitted(13)._state.chains[0]) is GraphChain
    assert type(fitted(14, gamma="learn", n_iter=2)._state.chains[0]) is GraphChain


def test_required_and_forbidden_edges_are_kept():
    model = fitted(15, required=[("x3", "x4")], forbidden=[("x0", "x1"), ("x1", "x0")])
    P = model.edge_marginals_
    assert P[3, 4] == 1.0
    assert P[0, 1] == P[1, 0] == 0.0


def test_a_chain_goes_on_alike_in_another_process():
    (chain,) = fitted(16)._state.chains
    again = pickle.loads(pickle.dumps(chain))
    assert again.layering.layout.strong is again.model.layout.strong
    for one in (chain, again):
        one.advance(4, True)
    assert np.array_equal(chain.record.edges, again.record.edges)
    assert np.array_equal(chain.layering.layers.t, again.layering.layers.t)
