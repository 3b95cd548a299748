"""Small worlds whose effects have signs, enumerated: graphs x partitions x signs.

Written without a look at `infinimix.networks`. The probability that a table is monotone is an
integral by Gauss-Legendre quadrature for one and two parents, and a sum over all linear extensions,
each a chain of cumulative integrals on a fine grid, for three.
"""

from functools import cache
from itertools import permutations, product
from math import factorial, lgamma

import numpy as np
from scipy.special import logsumexp
from scipy.stats import beta

from tests.oracle.networks import World, log_beta, log_blocks, log_crp, log_discrete, partitions

SHAPE = 0.5


@cache
def orders(k):
    """All orders of the configurations of k parents in which none comes before one below it."""
    cells = range(1 << k)
    return [
        order
        for order in permutations(cells)
        if all(order.index(u) < order.index(v) for u in cells for v in cells if u & v == u != v)
    ]


@cache
def three_orders():
    """The same for three parents, whose permutations are too many: the next is any that is free."""
    found = []

    def extend(order):
        if len(order) == 8:
            found.append(tuple(order))
        for v in set(range(8)) - set(order):
            if all(u in order for u in range(8) if u & v == u != v):
                extend([*order, v])

    extend([])
    return found


def chain_probability(a, b, order, points=4001):
    """P(theta_order[0] <= theta_order[1] <= ...), by cumulative trapezia in the arcsine scale."""
    x = np.linspace(0.0, np.pi / 2, points)
    below = np.ones(points)
    for u in order:
        cumulative = beta.cdf(np.sin(x) ** 2, a[u], b[u])
        middle = 0.5 * (below[1:] + below[:-1]) * np.diff(cumulative)
        below = np.concatenate([[0.0], np.cumsum(middle)])
    return below[-1]


def monotone_probability(a, b):
    """P(the table increases in all parents), theta_u ~ Beta(a[u], b[u])."""
    k = len(a).bit_length() - 1
    if k == 0:
        return 1.0
    every = orders(k) if k < 3 else three_orders()
    return sum(chain_probability(a, b, order) for order in every)


def share(k):
    """P(monotone) of variables that are distributed alike."""
    return len(orders(k) if k < 3 else three_orders()) / factorial(1 << k)


def log_signed(X, c, parents, negative, gamma):
    """The marginal likelihood of a binary child given parents and the signs of their effects."""
    k = len(parents)
    a, b = np.full(1 << k, gamma), np.full(1 << k, gamma)
    for row in X:
        u = sum((row[p] ^ s) << j for j, (p, s) in enumerate(zip(parents, negative, strict=True)))
        a[u] += row[c]
        b[u] += 1 - row[c]
    base = log_discrete(X, np.full(X.shape[1], 2), c, parents, gamma)
    return base + np.log(monotone_probability(a, b)) - np.log(share(k))


def log_sign_prior(A, z, negative):
    """Effects of a class are positive with one probability, which is integrated out."""
    total = 0.0
    for k in set(z):
        out = A[np.array(z) == k] != 0
        minus = negative[np.array(z) == k][out].sum()
        total += log_beta(SHAPE + out.sum() - minus, SHAPE + minus) - log_beta(SHAPE, SHAPE)
    return total


class SignedWorld:
    """The posterior of a small binary table under a prior with signs, by enumeration."""

    def __init__(self, X, gamma=0.5):
        self.X, self.gamma, self.known = X, gamma, {}
        self.N, self.graphs = X.shape[1], World(X, np.full(X.shape[1], 2)).graphs

    def score(self, c, parents, negative):
        """The score of a family with signs, computed once."""
        key = c, parents, negative
        if key not in self.known:
            self.known[key] = log_signed(self.X, c, parents, negative, self.gamma)
        return self.known[key]

    def states(self):
        """All graphs with all signs: (A, negative effects, log likelihood)."""
        for A in self.graphs:
            edges = np.argwhere(A)
            for signs in product((0, 1), repeat=len(edges)):
                negative = np.zeros_like(A)
                negative[tuple(edges.T)] = signs
                total = 0.0
                for c in range(self.N):
                    parents = tuple(np.flatnonzero(A[:, c]).tolist())
                    total += self.score(c, parents, tuple(negative[list(parents), c].tolist()))
                yield A, negative, total

    def posterior(self, prior, alpha=0.5, beta=(1.0, 1.0), per_partition=True):
        """Return edge, negative-effect and co-class probabilities, and all states with weights."""
        every, states, logs = np.array(self.graphs), [], []
        likely = list(self.states())
        number = {A.tobytes(): g for g, A in enumerate(self.graphs)}
        for z in partitions(self.N) if prior == "blockmodel" else [(0,) * self.N]:
            p = np.zeros(len(every)) if prior == "uniform" else log_blocks(every, z, *beta)
            p = p - (logsumexp(p) if prior == "blockmodel" and per_partition else 0.0)
            p = p + (log_crp(z, alpha) if prior == "blockmodel" else 0.0)
            for A, negative, log_like in likely:
                logs.append(p[number[A.tobytes()]] + log_like + log_sign_prior(A, z, negative))
                states.append((A, negative, z))
        w = np.exp(np.array(logs) - max(logs))
        w /= w.sum()
        edges = np.tensordot(w, np.array([A for A, _, _ in states]), 1)
        minus = np.tensordot(w, np.array([s for _, s, _ in states]), 1)
        z = np.array([z for _, _, z in states])
        together = np.tensordot(w, (z[:, :, None] == z[:, None, :]).astype(float), 1)
        return edges, minus, together, (states, w)


def signed_table(seed, n, N):
    """A small binary table: some columns raise, some lower those after them."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, N), int)
    for j in range(N):
        odds = -0.5 + sum((-1) ** i * 1.8 * X[:, i] for i in range(j))
        X[:, j] = rng.random(n) < 1.0 / (1.0 + np.exp(-odds))
    return X


__all__ = ["SignedWorld", "chain_probability", "lgamma", "monotone_probability", "signed_table"]
