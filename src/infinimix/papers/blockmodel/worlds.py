"""The networks of the thesis's section 2.3, and which variables share a role in them.

The thesis gives the kinds of network and draws them, but not all numbers: sizes and densities that
it leaves open are those of its pictures, as far as they can be counted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from infinimix.networks import BayesNet, read_network, sample_network
from infinimix.papers.data import folder

MOST_DEGREE = 4
HEPAR = (  # figure 1 of the paper on HEPAR II: risk factors, diseases, symptoms
    "alcoholism", "hepatotoxic", "obesity", "age", "sex", "gallstones", "transfusion", "injections",
    "Steatosis", "Cirrhosis", "PBC", "THepatitis", "ChHepatitis", "fatigue", "bilirubin", "itching",
    "jaundice", "albumin", "edema", "spiders", "ascites",
)  # fmt: skip
HEPAR_ROLES = np.repeat([0, 1, 2], [8, 5, 8])
MANY = 1_000_000


class World(NamedTuple):
    """A network, and the role of each variable."""

    net: BayesNet
    roles: np.ndarray


def layered(seed: int) -> World:
    """Return figure 2-2: three layers of four, all edges between neighbours."""
    return World(sample_network((4, 4, 4), random_state=seed), np.repeat([0, 1, 2], 4))


def without_roles(seed: int) -> World:
    """Return figure 2-3: edges of probability .3 along an order, in and out at most 4.

    The thesis draws graphs until one has no cycle. Of 12 variables hardly any would; an order
    drawn first gives the same density without the wait.
    """
    rng = np.random.default_rng(seed)
    N = 12
    while True:
        order = rng.permutation(N)
        A = np.zeros((N, N), bool)
        A[np.ix_(order, order)] = np.triu(rng.random((N, N)) < 0.3, 1)
        if max(A.sum(axis=0).max(), A.sum(axis=1).max()) <= MOST_DEGREE:
            break
    return World(_with_tables(A, rng), np.zeros(N, int))


def _with_tables(A: np.ndarray, rng: np.random.Generator) -> BayesNet:
    """Return a network of binary variables with tables from a symmetric Dirichlet(.5)."""
    N = len(A)
    parents = tuple(tuple(int(i) for i in np.flatnonzero(A[:, j])) for j in range(N))
    tables = tuple(rng.dirichlet([0.5, 0.5], size=(2,) * len(own)) for own in parents)
    names = tuple(f"x{i}" for i in range(N))
    return BayesNet(names, (("0", "1"),) * N, parents, tables)


def qmr(seed: int) -> World:
    """Return figure 2-4: diseases that cause symptoms, with noisy-or tables."""
    template = [[0.0, 0.5], [0.0, 0.0]]
    net = sample_network((5, 10), template, tables="noisy-or", random_state=seed)
    return World(net, np.repeat([0, 1], [5, 10]))


def regulators(seed: int) -> World:
    """Return figure 2-5: four regulators that act on ten genes and, now and then, on each other."""
    template = [[1 / 6, 0.5], [0.0, 0.0]]
    return World(sample_network((4, 10), template, random_state=seed), np.repeat([0, 1], [4, 10]))


@lru_cache(maxsize=1)
def _hepar() -> World:
    whole = read_network(folder("bayesian_networks") / "hepar2.bif.gz")
    return World(marginal(whole, HEPAR), HEPAR_ROLES)


def hepar(seed: int) -> World:
    """Return figure 2-6: 21 variables of HEPAR II; the network does not depend on the seed."""
    return _hepar()


def marginal(net: BayesNet, names: tuple[str, ...], n: int = MANY) -> BayesNet:
    """Return some variables with the edges among them, as a network of their own.

    Its tables are those of the whole network, from n rows of it.
    """
    at = [net.names.index(name) for name in names]
    X = net.sample(n, random_state=0)[:, at]
    cards, A = net.cards[at], net.subset(names)
    parents = [tuple(int(i) for i in np.flatnonzero(A[:, j])) for j in range(len(at))]
    tables = []
    for j, own in enumerate(parents):
        counts = np.full((*(cards[i] for i in own), cards[j]), 1e-3)  # where no row is: uniform
        np.add.at(counts, tuple(X[:, i] for i in (*own, j)), 1.0)
        tables.append(counts / counts.sum(axis=-1, keepdims=True))
    states = tuple(net.states[i] for i in at)
    return BayesNet(tuple(names), states, tuple(parents), tuple(tables))


WORLDS: dict[str, Callable[[int], World]] = {
    "layers": layered,
    "no roles": without_roles,
    "diseases and symptoms": qmr,
    "regulators": regulators,
    "HEPAR II": hepar,
}
