"""Roles from another network, against the enumeration of all that two new nodes can be."""

from itertools import product
from math import lgamma, log

import numpy as np

from infinimix import BlockmodelBayesNet
from tests.oracle.networks import log_beta, log_discrete, table

SHARED = {"sizes": [2, 1], "edges": [[0, 2], [0, 0]], "pairs": [[2, 2], [2, 0]]}
ALPHA = 0.8
NEW = (2, 3)  # labels of classes that the source does not have


def log_weight(A, z, X):
    """The joint of two new nodes and three old ones, whose classes and edges are fixed."""
    total = sum(log_discrete(X, [2, 2], j, tuple(np.flatnonzero(A[:, j])), 0.5) for j in range(2))
    sizes = np.array([2, 1, 0, 0])
    for k in range(4):
        m = sizes[k] + z.count(k)
        if m:
            total += lgamma(m) + log(ALPHA)
    for a, b in product(range(4), repeat=2):
        edges = SHARED["edges"][a][b] if max(a, b) < 2 else 0
        pairs = SHARED["pairs"][a][b] if max(a, b) < 2 else 0
        for i, j in ((0, 1), (1, 0)):
            if z[i] == a and z[j] == b:
                edges, pairs = edges + A[i, j], pairs + 1
        total += log_beta(1 + edges, 1 + pairs - edges)
    return total


def test_shared_roles_are_taken_as_often_as_they_should():
    X = table(1, 10, [2, 2])
    graphs = [np.zeros((2, 2), int), np.array([[0, 1], [0, 0]]), np.array([[0, 0], [1, 0]])]
    states = [
        (A, z) for A in graphs for z in product(range(4), repeat=2) if not (3 in z and 2 not in z)
    ]
    states = [(A, z) for A, z in states if z != (3, 2)]  # new classes by first appearance
    w = np.exp([log_weight(A, z, X) for A, z in states])
    w /= w.sum()
    edges = sum(p * A for p, (A, _) in zip(w, states, strict=True))
    roles = np.array([[sum(p for p, (_, z) in zip(w, states, strict=True) if z[i] == k)
                       for k in range(2)] for i in range(2)])  # fmt: skip
    model = BlockmodelBayesNet(
        normalise="global", alpha=ALPHA, shared_roles=SHARED, n_iter=10_000, n_chains=2,
        random_state=0,
    ).fit(X)  # fmt: skip
    # 20,000 sweeps of a few states: standard errors of edges below .01; 1,000 kept states have
    # errors below .03, so .1 is passed by chance with less than 1e-3 x 1e-3
    assert np.abs(model.edge_marginals_ - edges).max() < 0.06
    assert np.abs(model.shared_role_marginals_ - roles).max() < 0.1


def test_a_model_hands_its_roles_on():
    X = table(2, 60, [2] * 4)
    model = BlockmodelBayesNet(n_iter=100, n_chains=1, random_state=0).fit(X)
    shared = model.share_roles()
    assert sum(shared["sizes"]) == 4
    assert np.sum(shared["edges"]) == model.best_state_["adjacency"].sum()
    again = BlockmodelBayesNet(shared_roles=shared, n_iter=100, n_chains=1, random_state=0)
    p = again.fit(X).shared_role_marginals_
    assert p.shape == (4, len(shared["sizes"]))
    assert (p.sum(axis=1) < 1 + 1e-9).all()
