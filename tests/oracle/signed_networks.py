"""Small worlds whose effects have signs, enumerated: graphs x partitions x signs.

Written without a look at `infinimix.networks`. The probability that a table is monotone is a sum
over all linear extensions, each a chain of cumulative integrals on a fine grid.
"""

from functools import cache
from itertools import product
from math import factorial

import numpy as np
from scipy.special import logsumexp
from scipy.stats import beta

from tests.oracle.networks import World, log_beta, log_blocks, log_crp, log_discrete, partitions

SHAPE = 0.5


@cache
def orders(k):
    """All orders of the configurations of k parents in which none comes before one below it."""
    found = []

    def extend(order):
        if len(order) == 1 << k:
            found.append(tuple(order))
        for v in set(range(1 << k)) - set(order):
            if all(u in order for u in range(1 << k) if u & v == u != v):
                extend([*order, v])

    extend([])
    return found


@cache
def lower_sets(k):
    """All sets of configurations, as bit masks, that hold whatever is below a member; by size.

    With each of them the members that no other member is above: one of these was put in last.
    """
    found = {0}
    for order in orders(k):
        found |= {sum(1 << u for u in order[:n]) for n in range(1, len(order) + 1)}
    last = {s: [u for u in range(1 << k) if s >> u & 1 and s ^ (1 << u) in found] for s in found}
    return sorted(last.items(), key=lambda item: item[0].bit_count())


def chain_probabilities(masses, k):
    """The sum over all orders of P(theta_order[0] <= theta_order[1] <= ...).

    Each is a chain of integrals, by cumulative trapezia, which is linear in what is below: orders
    that begin with the same configurations, in whatever order, go on together.
    """
    below = {}
    for chosen, last in lower_sets(k):
        if not last:
            below[chosen] = np.ones(masses.shape[1] + 1)
            continue
        middle = 0.0
        for u in last:
            before = below[chosen ^ (1 << u)]
            middle = middle + 0.5 * (before[1:] + before[:-1]) * masses[u]
        below[chosen] = np.concatenate([[0.0], np.cumsum(middle)])
    return below[(1 << (1 << k)) - 1][-1]


def monotone_probability(a, b, points=301):
    """P(the table increases in all parents), theta_u ~ Beta(a[u], b[u]), on quantiles of all."""
    a, b = np.asarray(a)[:, None], np.asarray(b)[:, None]
    x = np.unique(beta.ppf(np.linspace(0.0, 1.0, points), a, b))
    masses = np.diff(beta.cdf(x, a, b), axis=1)
    return chain_probabilities(masses, len(a).bit_length() - 1)


def share(k):
    """P(monotone) of variables that are distributed alike."""
    return len(orders(k)) / factorial(1 << k)


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
    """Effects of a class are positive with one probability, which is integrated out; of a stack."""
    total = 0.0
    for k in set(z):
        own = np.array(z) == k
        out, minus = A[:, own].sum(axis=(1, 2)), negative[:, own].sum(axis=(1, 2))
        total = total + log_beta(SHAPE + out - minus, SHAPE + minus) - log_beta(SHAPE, SHAPE)
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
        """All graphs with all signs: stacks of graphs, of negative effects, and log likelihoods."""
        stacks = []
        for A in self.graphs:
            edges = np.argwhere(A)
            signs = np.array(list(product((0, 1), repeat=len(edges))), int)
            negative = np.zeros((len(signs), *A.shape), int)
            negative[:, edges[:, 0], edges[:, 1]] = signs
            stacks.append((np.broadcast_to(A, negative.shape), negative))
        A, negative = (np.concatenate(stack) for stack in zip(*stacks, strict=True))
        total = np.zeros(len(A))
        for c in range(self.N):
            families = np.hstack([A[:, :, c], negative[:, :, c]])
            codes = families @ (1 << np.arange(2 * self.N))
            for code in np.unique(codes):
                of = codes == code
                own, minus = np.split(families[of.argmax()], 2)
                parents = tuple(np.flatnonzero(own).tolist())
                total[of] += self.score(c, parents, tuple(minus[list(parents)].tolist()))
        return A, negative, total

    def posterior(self, prior, alpha=0.5, beta=(1.0, 1.0), per_partition=True):
        """Return edge, negative-effect and co-class probabilities, and all states with weights."""
        every, states, logs = np.array(self.graphs), [], []
        number = {A.tobytes(): g for g, A in enumerate(self.graphs)}
        A, negative, log_like = self.states()
        which = np.array([number[one.tobytes()] for one in A])
        for z in partitions(self.N) if prior == "blockmodel" else [(0,) * self.N]:
            p = np.zeros(len(every)) if prior == "uniform" else log_blocks(every, z, *beta)
            p = p - (logsumexp(p) if prior == "blockmodel" and per_partition else 0.0)
            p = p + (log_crp(z, alpha) if prior == "blockmodel" else 0.0)
            logs.append(p[which] + log_like + log_sign_prior(A, z, negative))
            states += [(g, s, z) for g, s in zip(A, negative, strict=True)]
        self.log_evidence = logsumexp(logs)  # up to a constant that does not depend on the rows
        w = np.exp(np.array(logs) - np.max(logs))
        w /= w.sum()
        edges, minus = (np.tensordot(w.sum(axis=0), part, 1) for part in (A, negative))
        z = np.array([states[k * len(A)][2] for k in range(len(w))])
        together = np.tensordot(w.sum(axis=1), (z[:, :, None] == z[:, None, :]).astype(float), 1)
        return edges, minus, together, (states, w.ravel())


def signed_table(seed, n, N):
    """A small binary table: some columns raise, some lower those after them."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, N), int)
    for j in range(N):
        odds = -0.5 + sum((-1) ** i * 1.8 * X[:, i] for i in range(j))
        X[:, j] = rng.random(n) < 1.0 / (1.0 + np.exp(-odds))
    return X


__all__ = ["SignedWorld", "monotone_probability", "signed_table"]
