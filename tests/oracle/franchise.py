"""Two small networks with shared roles, enumerated: all graphs x all partitions of all variables.

Written without a look at `infinimix.networks`. The probability of a partition under the franchise
is the sum over all ways to seat the variables of each network at tables and to give tables roles.
"""

from functools import cache
from itertools import product
from math import exp

import numpy as np

from tests.oracle.mixed_networks import mixed_world
from tests.oracle.networks import World, graphs, log_beta, log_crp, partitions


def franchise(sizes, alpha, c):
    """P(z) of all partitions of the variables of networks of these sizes, as a dict."""
    total = {}
    for seatings in product(*(list(partitions(n)) for n in sizes)):
        log_seats = sum(log_crp(s, c) for s in seatings)
        tables = [max(s) + 1 for s in seatings]
        starts = np.cumsum([0, *tables])
        for roles in partitions(sum(tables)):
            served = [roles[starts[g] + t] for g, s in enumerate(seatings) for t in s]
            seen = {}
            z = tuple(seen.setdefault(k, len(seen)) for k in served)
            total[z] = total.get(z, 0.0) + exp(log_seats + log_crp(roles, alpha))
    return total


def common(sizes, alpha):
    """P(z) of one Chinese restaurant process over all variables."""
    return {z: exp(log_crp(z, alpha)) for z in partitions(sum(sizes))}


def log_blocks(stacks, parts, beta):
    """Edges and gaps of all networks, by roles; pairs across networks do not count.

    Each network has a stack of graphs; the answer has an axis for each of them.
    """
    shapes = [[1] * g + [-1] + [1] * (len(stacks) - 1 - g) for g in range(len(stacks))]
    roles, total = range(max(z.max() for z in parts) + 1), 0.0
    for a, b in product(roles, repeat=2):
        edges, pairs = 0, 0
        for A, z, shape in zip(stacks, parts, shapes, strict=True):
            cells = np.outer(z == a, z == b) & ~np.eye(len(z), dtype=bool)
            edges = edges + A[:, cells].sum(axis=1).reshape(shape)
            pairs += cells.sum()
        total = total + log_beta(beta[0] + edges, beta[1] + pairs - edges) - log_beta(*beta)
    return total


@cache
def log_weights(sizes, z, beta):
    """`log_blocks` of all graphs of networks of these sizes, with the roles z; for all tables."""
    parts = np.split(np.array(z), np.cumsum(sizes)[:-1])
    return log_blocks([np.array(graphs(n)) for n in sizes], parts, beta)


def posterior(tables, cards, prior, beta, by_network=False, odds=None):
    """Edge probabilities of each network, and the co-role probabilities of all variables.

    With `by_network`, each network's prior is divided by its sum over all graphs, given its roles.
    `odds` are log odds of the edges of each network.
    """
    edges, together, total, _ = sums(tables, cards, prior, beta, by_network, odds)
    return [e / total for e in edges], together / total


def sums(tables, cards, prior, beta, by_network=False, odds=None):
    """The same before they are divided by the evidence, the evidence, and the log of its unit."""
    worlds = [
        World(X, r) if np.all(r) else mixed_world(X, r) for X, r in zip(tables, cards, strict=True)
    ]
    stacks = [np.array(w.graphs) for w in worlds]
    sizes = tuple(w.N for w in worlds)
    edges, total = [np.zeros((w.N, w.N)) for w in worlds], 0.0
    together = np.zeros((sum(w.N for w in worlds),) * 2)
    like = 0.0
    for g, w in enumerate(worlds):  # an axis for the graphs of each network
        own = 0.0 if odds is None else (stacks[g] * odds[g]).sum(axis=(1, 2))
        like = np.add.outer(like, w.log_likelihood - w.log_likelihood.max() + own)
    for z, p in prior.items():
        same = np.array(z)[:, None] == np.array(z)
        if by_network:
            for part in np.split(np.array(z), np.cumsum(sizes)[:-1]):
                p /= np.exp(log_weights((len(part),), tuple(part.tolist()), beta)).sum()
        weight = p * np.exp(like + log_weights(sizes, z, beta))
        total += weight.sum()
        together += weight.sum() * same
        for g, A in enumerate(stacks):
            others = tuple(h for h in range(len(stacks)) if h != g)
            edges[g] += np.tensordot(weight.sum(axis=others), A, 1)
    return edges, together, total, sum(w.log_likelihood.max() for w in worlds)


__all__ = ["common", "franchise", "posterior", "sums"]
