"""Small worlds of undirected graphs and of dynamic networks, enumerated.

Written without a look at `infinimix.networks`: plain loops over all graphs and all partitions.
"""

from itertools import product

import numpy as np

from tests.oracle.networks import log_beta, log_crp, log_discrete, partitions


def undirected_graphs(N):
    pairs = [(i, j) for i in range(N) for j in range(i + 1, N)]
    for there in product(range(2), repeat=len(pairs)):
        A = np.zeros((N, N), int)
        for (i, j), s in zip(pairs, there, strict=True):
            A[i, j] = A[j, i] = s
        yield A


def dynamic_graphs(N):
    for there in product(range(2), repeat=N * N):
        yield np.array(there).reshape(N, N)


def log_unordered_blocks(A, z, b1, b2):
    """One number for each unordered pair of classes; every unordered pair of nodes once.

    Of one graph, or of each in a stack.
    """
    cells = {}
    for i in range(len(z)):
        for j in range(i + 1, len(z)):
            cells.setdefault(frozenset((z[i], z[j])), []).append(A[..., i, j])
    return _all_blocks(cells, b1, b2)


def log_dynamic_blocks(A, z, b1, b2):
    """One number for each ordered pair of classes, and one for all edges from i to itself."""
    cells = {}
    for i in range(len(z)):
        for j in range(len(z)):
            cells.setdefault("self" if i == j else (z[i], z[j]), []).append(A[..., i, j])
    return _all_blocks(cells, b1, b2)


def _all_blocks(cells, b1, b2):
    return sum(
        log_beta(b1 + sum(x), b2 + len(x) - sum(x)) - log_beta(b1, b2) for x in cells.values()
    )


class FreeWorld:
    """The posterior over all graphs and partitions; `score(j, parents)` is that of a family."""

    def __init__(self, N, graphs, log_blocks, score):
        self.N, self.graphs, self.log_blocks = N, list(graphs(N)), log_blocks
        known = {
            (j, parents): score(j, tuple(np.flatnonzero(parents)))
            for j in range(N)
            for parents in {tuple(A[:, j]) for A in self.graphs}
        }
        self.log_likelihood = np.array(
            [sum(known[j, tuple(A[:, j])] for j in range(N)) for A in self.graphs]
        )

    def posterior(self, prior, alpha=0.5, beta=(1.0, 1.0), bonus=0.0):
        """Return states (A, z, order), as `World` does, with their probabilities."""
        odds = self.log_likelihood + np.array([(A * bonus).sum() for A in self.graphs])
        states, logs, every = [], [], np.array(self.graphs)
        for z in partitions(self.N) if prior == "blockmodel" else [(0,) * self.N]:
            states += [(A, z, (0,)) for A in self.graphs]
            blocks = 0.0 if prior == "uniform" else self.log_blocks(every, z, *beta)
            logs.append(log_crp(z, alpha) + blocks + odds)
        w = np.exp(np.concatenate(logs) - np.max(logs))
        return states, w / w.sum()


def undirected_world(X, cards):
    """A node given its neighbours: the marginal pseudo-likelihood."""
    return FreeWorld(
        X.shape[1], undirected_graphs, log_unordered_blocks,
        lambda j, parents: log_discrete(X, cards, j, parents, 0.5),
    )  # fmt: skip


def dynamic_world(before, now, cards):
    """A variable now given variables before."""
    N = now.shape[1]
    both, cards = np.hstack([before, now]), [*cards, *cards]
    return FreeWorld(
        N, dynamic_graphs, log_dynamic_blocks,
        lambda j, parents: log_discrete(both, cards, N + j, parents, 0.5),
    )  # fmt: skip
