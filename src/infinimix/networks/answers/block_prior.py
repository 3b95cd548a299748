"""The prior of a graph given its classes, with edge probabilities integrated out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln

from infinimix.networks.engine.hyper import EDGES, PAIRS, RECORDED_BETA
from infinimix.networks.learning.knowledge import Knowledge


class BlockPrior(NamedTuple):
    """The prior of a graph given classes, up to what does not depend on the graph."""

    z: np.ndarray  # (N,) classes, numbered from 0 on
    beta: np.ndarray | None  # None: all graphs alike
    held: np.ndarray  # (2, K, K) edges and pairs that are known from elsewhere
    allowed: np.ndarray  # (N, N) which edges are possible
    bonus: np.ndarray  # (N, N) log odds, inf where an edge is required

    def counts(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return edges and pairs between classes, (K, K)."""
        member = np.eye(self.held.shape[1])[self.z]
        size = member.sum(axis=0)
        pairs = np.outer(size, size) - np.diag(size)
        return member.T @ A @ member + self.held[EDGES], pairs + self.held[PAIRS]

    def log_p(self, A: np.ndarray) -> float:
        """Return the log prior of a graph."""
        if (A.astype(bool) & ~self.allowed).any():
            return -np.inf
        total = float(self.bonus[np.isfinite(self.bonus) & (A > 0)].sum())
        if self.beta is None:
            return total
        edges, pairs = self.counts(A)
        return total + float(betaln(self.beta[0] + edges, self.beta[1] + pairs - edges).sum())

    def odds(self, edges: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Return the log odds of edges, by so many edges and pairs between classes."""
        if self.beta is None:
            return self.bonus
        odds = np.log((self.beta[0] + edges) / (self.beta[1] + pairs - edges))
        return self.bonus + odds[np.ix_(self.z, self.z)]


def read_prior(state: Any, known: Knowledge, prior: str) -> BlockPrior:
    """Return the prior given the classes of the best state."""
    draws, N = state.draws, len(state.names)
    K = int(draws.classes[state.best].max()) + 1
    held = np.zeros((2, K, K))
    if known.held is not None:
        L = min(known.held.shape[1], K)
        held[:, :L, :L] = known.held[[EDGES, PAIRS], :L, :L]
    allowed = (known.bonus > -np.inf) & ~np.eye(N, dtype=bool)
    if prior == "ordered":
        ranks = draws.ranks[state.best]
        allowed &= ranks[:, None] < ranks[None, :]
    beta = None if prior == "uniform" else draws.hyper[:, RECORDED_BETA].mean(axis=0)
    bonus = np.where(known.bonus == -np.inf, 0.0, known.bonus)
    return BlockPrior(draws.classes[state.best].astype(int), beta, held, allowed, bonus)
