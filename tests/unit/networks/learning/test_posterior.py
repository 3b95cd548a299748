"""Diagnostics and summaries of chains."""

import warnings

import numpy as np

from infinimix import BlockmodelBayesNet
from infinimix.networks import sample_network
from infinimix.networks.engine.graphs import ancestors, from_adjacency, to_adjacency
from infinimix.networks.learning.posterior import Draws, consensus, distinct_states, rhat_and_ess


def draws(edge, chain):
    """States of two nodes in which the edge 0 -> 1 is there or not."""
    A = np.zeros((len(edge), 2, 2), int)
    A[:, 0, 1] = edge
    graphs = np.array([from_adjacency(a) for a in A])
    zeros = np.zeros((len(edge), 2), int)
    return Draws(graphs, zeros, zeros, np.asarray(edge, float), np.zeros((len(edge), 4)), chain)


def test_chains_that_agree_and_chains_that_do_not():
    rng = np.random.default_rng(0)
    chain = np.repeat([0, 1], 500)
    rhat, ess = rhat_and_ess(draws(rng.random(1000) < 0.5, chain))
    assert rhat[0, 1] < 1.02
    assert 700 < ess[0, 1] < 1400  # independent draws: about 1,000
    assert rhat[1, 0] == 1
    apart, _ = rhat_and_ess(draws(np.where(rng.random(1000) < 0.05, 1 - chain, chain), chain))
    assert apart[0, 1] > 1.5
    slow = np.repeat(rng.random(50) < 0.5, 20)
    assert rhat_and_ess(draws(slow, chain))[1][0, 1] < 200


def test_distinct_states_by_visits_and_by_posterior():
    d = draws(np.array([0, 1, 1, 1]), np.zeros(4, int))
    _, weight = distinct_states(d, "mcmc", 10)
    assert weight.tolist() == [0.75, 0.25]
    first, weight = distinct_states(d, "best", 10)
    assert d.log_joint[first[0]] == 1
    assert np.isclose(weight[0], np.e / (1 + np.e))


def test_the_consensus_is_the_partition_that_fits_the_pairs():
    z = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1]])
    together = (z[:, :, None] == z[:, None, :]).mean(axis=0)
    assert consensus(together, z).tolist() == [0, 0, 1]


def test_bits_and_matrices_and_paths():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((70, 70)) < 0.05, 1).astype(np.uint8)
    assert (to_adjacency(from_adjacency(A)) == A).all()
    paths = sum(np.linalg.matrix_power(A.astype(float), k) for k in range(1, 70)) > 0
    assert (ancestors(A) == paths).all()


def test_more_nodes_than_are_enumerated_have_candidates():
    X = sample_network((5, 5, 5), np.eye(3, k=1) * 0.3, random_state=0).sample(150, random_state=0)
    for prior in ("blockmodel", "ordered"):
        model = BlockmodelBayesNet(
            prior=prior, n_iter=20, n_chains=1, max_parents=3, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        assert all(s["adjacency"].sum(axis=0).max() <= 3 for s in model.states_)
        assert ((model.outside_mass_ >= 0) & (model.outside_mass_ <= 1)).all()
