"""Two small networks with shared roles, enumerated: all graphs x all partitions of all variables.

Written without a look at `infinimix.networks`. The probability of a partition under the franchise
is the sum over all ways to seat the variables of each network at tables and to give tables roles.
"""

from itertools import product
from math import exp

import numpy as np

from tests.oracle.networks import World, log_beta, log_crp, partitions


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


def log_blocks(graphs, parts, beta):
    """Edges and gaps of all networks, by roles; pairs across networks do not count."""
    counts = {}
    for A, z in zip(graphs, parts, strict=True):
        for i, j in product(range(len(z)), repeat=2):
            if i != j:
                edge = counts.setdefault((z[i], z[j]), [0, 0])
                edge[1 - A[i, j]] += 1
    return sum(log_beta(beta[0] + e, beta[1] + g) - log_beta(*beta) for e, g in counts.values())


def posterior(tables, cards, prior, beta, by_network=False):
    """Edge probabilities of each network, and the co-role probabilities of all variables.

    With `by_network`, each network's prior is divided by its sum over all graphs, given its roles.
    """
    worlds = [World(X, r) for X, r in zip(tables, cards, strict=True)]
    cuts = np.cumsum([w.N for w in worlds])[:-1]
    edges, total = [np.zeros((w.N, w.N)) for w in worlds], 0.0
    together = np.zeros((sum(w.N for w in worlds),) * 2)
    top = sum(w.log_likelihood.max() for w in worlds)
    for z, p in prior.items():
        same = np.array(z)[:, None] == np.array(z)
        parts = np.split(np.array(z), cuts)
        if by_network:
            for w, part in zip(worlds, parts, strict=True):
                p /= sum(exp(log_blocks([A], [part], beta)) for A in w.graphs)
        for picks in product(*(range(len(w.graphs)) for w in worlds)):
            graphs = [w.graphs[k] for w, k in zip(worlds, picks, strict=True)]
            like = sum(w.log_likelihood[k] for w, k in zip(worlds, picks, strict=True)) - top
            weight = p * exp(like + log_blocks(graphs, parts, beta))
            total += weight
            together += weight * same
            for e, A in zip(edges, graphs, strict=True):
                e += weight * A
    return [e / total for e in edges], together / total


__all__ = ["common", "franchise", "posterior"]
