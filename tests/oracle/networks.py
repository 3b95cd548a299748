"""Small worlds of networks, enumerated: all graphs x partitions x orders, and sums over subsets.

Written without a look at `infinimix.networks`: plain loops, gamma functions, explicit priors.
"""

from functools import cache
from itertools import permutations, product
from math import exp, lgamma, log

import numpy as np
from scipy.special import gammaln


@cache
def graphs(N):
    """All acyclic adjacency matrices, A[i, j] = 1 where i -> j; made once."""
    every = _directions(N)
    every = every[acyclic(every)]
    every.setflags(write=False)  # one list serves all tests
    return list(every)


def _directions(N):
    """All matrices in which no pair of nodes has both edges."""
    pairs = [(i, j) for i in range(N) for j in range(i + 1, N)]
    states = np.array(list(product(range(3), repeat=len(pairs))))
    A = np.zeros((len(states), N, N), int)
    for k, (i, j) in enumerate(pairs):
        A[:, i, j], A[:, j, i] = states[:, k] == 1, states[:, k] == 2
    return A


def acyclic(A):
    """Has no walk come back? Of one graph, or of each in a stack."""
    N = A.shape[-1]
    walks = np.linalg.matrix_power(np.eye(N) + A, N)
    return np.trace(walks, axis1=-2, axis2=-1) == N


def partitions(N):
    """All partitions, as classes numbered by first appearance."""

    def extend(z):
        if len(z) == N:
            yield tuple(z)
            return
        for k in range(max(z, default=-1) + 2):
            yield from extend([*z, k])

    yield from extend([])


def log_crp(z, alpha):
    sizes = np.bincount(z)
    return (
        len(sizes) * log(alpha) + sum(lgamma(m) for m in sizes) + lgamma(alpha)
        - lgamma(alpha + len(z))
    )  # fmt: skip


def log_beta(a, b):
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def pairs_of_classes(z):
    """Each ordered pair of classes, and a mask of the ordered pairs i != j of nodes in it."""
    z, apart = np.array(z), ~np.eye(len(z), dtype=bool)
    for a in range(z.max() + 1):
        for b in range(z.max() + 1):
            yield a, b, np.outer(z == a, z == b) & apart


def log_blocks(A, z, b1, b2):
    """Equation 2.5: all ordered pairs i != j; of one graph, or of each in a stack."""
    total = 0.0
    for _, _, cells in pairs_of_classes(z):
        edges = A[..., cells].sum(axis=-1)
        total += log_beta(b1 + edges, b2 + cells.sum() - edges) - log_beta(b1, b2)
    return total


def log_ordered(A, z, o, b1, b2):
    """Only pairs whose classes are in order count; -inf if another edge is there."""
    total = np.zeros(A.shape[:-2])
    for a, b, cells in pairs_of_classes(z):
        edges = A[..., cells].sum(axis=-1)
        if o[a] < o[b]:
            total += log_beta(b1 + edges, b2 + cells.sum() - edges) - log_beta(b1, b2)
        else:
            total += np.where(edges > 0, -np.inf, 0.0)
    return total


def log_discrete(X, cards, c, parents, gamma, shared_by=0):
    """Dirichlet-multinomial, cell by cell; gamma is in each, or shared by all or by a row's."""
    code, q, r = np.zeros(len(X), int), 1, int(cards[c])
    for p in parents:
        code, q = code * cards[p] + X[:, p], q * int(cards[p])
    g = [gamma, gamma / (q * r), gamma / r][shared_by]
    table = np.bincount(code * r + X[:, c], minlength=q * r).reshape(q, r).tolist()
    total = 0.0
    for counts in table:
        total += lgamma(r * g) - lgamma(r * g + sum(counts))
        total += sum(lgamma(g + k) - lgamma(g) for k in counts)
    return total


class World:
    """The posterior of a small table under each prior, by enumeration."""

    def __init__(self, X, cards, gamma=0.5, score=None):
        self.N = X.shape[1]
        self.graphs = graphs(self.N)
        score = score or (lambda c, parents: log_discrete(X, cards, c, parents, gamma))
        self.log_likelihood = np.zeros(len(self.graphs))
        for j, A in enumerate(np.moveaxis(np.array(self.graphs), 2, 0)):
            for parents in np.unique(A, axis=0):
                found = (parents == A).all(axis=1)
                self.log_likelihood[found] += score(j, tuple(np.flatnonzero(parents)))

    def posterior(self, prior, alpha=0.5, beta=(1.0, 1.0), per_partition=True, bonus=0.0):
        """Return states (A, z, o) with their probabilities."""
        flat, every = (0,) * self.N, np.array(self.graphs)
        log_like = self.log_likelihood + (every * bonus).sum(axis=(1, 2))
        if prior == "uniform":
            return self._normal([(A, flat, (0,)) for A in self.graphs], log_like)
        if prior == "sparse":
            p = log_blocks(every, flat, *beta)
            return self._normal([(A, flat, (0,)) for A in self.graphs], log_like + p)
        states, logs = [], []
        for z in partitions(self.N):
            if prior == "ordered":
                K = max(z) + 1
                for o in permutations(range(K)):
                    p = log_ordered(every, z, o, *beta)
                    there = p > -np.inf
                    states += [(A, z, o) for A in every[there]]
                    logs += list(log_crp(z, alpha) - lgamma(K + 1) + (p + log_like)[there])
            else:
                p = log_blocks(every, z, *beta)
                Z = np.log(np.exp(p).sum()) if per_partition else 0.0
                states += [(A, z, (0,)) for A in self.graphs]
                logs += list(log_crp(z, alpha) + p - Z + log_like)
        return self._normal(states, np.array(logs))

    def _normal(self, states, logs):
        logs = np.asarray(logs)
        w = np.exp(logs - logs.max())
        return states, w / w.sum()


def marginals(states, w):
    """Edge and co-class probabilities."""
    edges = np.tensordot(w, np.array([A for A, _, _ in states]), 1)
    masses = {}
    for (_, z, _), p in zip(states, w, strict=True):
        masses[z] = masses.get(z, 0.0) + p
    together = sum(p * (np.array(z)[:, None] == np.array(z)) for z, p in masses.items())
    return edges, together


def table(seed, n, cards):
    """A small table with some dependence."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, len(cards)), int)
    for j, r in enumerate(cards):
        X[:, j] = rng.integers(r, size=n)
        if j:
            copied = rng.random(n) < 0.6
            X[copied, j] = X[copied, rng.integers(j)] % r
    return X


__all__ = ["World", "exp", "log_discrete", "marginals", "table"]
