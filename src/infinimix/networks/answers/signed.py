"""Predictions where effects have signs: mean tables among those that are monotone.

Of a network with its signs each table has its posterior mean, given that it is monotone. It is
a ratio of marginal likelihoods with and without one more row,

    E[theta_u] = a_u / (a_u + b_u)  P(monotone | one more row with 1 at u) / P(monotone)

for independent Beta(a, b) without signs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.engine.families import cell_weight
from infinimix.networks.engine.graphs import to_adjacency
from infinimix.networks.engine.monotone import (
    MOST_SIGNED,
    count_bins,
    fill_masses,
    list_ideals,
    list_steps,
    log_monotone,
)
from infinimix.networks.engine.signs import SHAPE
from infinimix.networks.learning.completion import code_parents
from infinimix.networks.learning.monotone_draws import flip_of

STEPS = {k: list_steps(k) for k in range(1, MOST_SIGNED + 1)}
IDEALS = len(list_ideals(MOST_SIGNED))


def monotone_means(a: np.ndarray, b: np.ndarray, flip: int) -> np.ndarray:
    """Return the means of theta ~ Beta(a, b), given that theta[u ^ flip] increases with u."""
    k = len(a).bit_length() - 1
    if k == 0:
        return np.asarray(a / (a + b))
    bins = int(count_bins(float((a + b).max())))
    masses, room = np.zeros((2, bins, len(a))), np.zeros((3, IDEALS))
    for u in range(len(a)):
        fill_masses(a[u], b[u], bins, u, masses)
    base, means = log_monotone(masses, bins, flip, STEPS[k], room), a / (a + b)
    for u in range(len(a)):
        kept = masses[:, :, u].copy()
        fill_masses(a[u] + 1.0, b[u], bins, u, masses)
        means[u] *= np.exp(log_monotone(masses, bins, flip, STEPS[k], room) - base)
        masses[:, :, u] = kept
    return np.clip(means, 1e-12, 1.0 - 1e-12)


class SignedMixture(Mixture):
    """Networks with signs and weights; graphs have 1 for positive and -1 for negative effects."""

    def __init__(self, graphs: np.ndarray, *parts: Any) -> None:
        super().__init__(graphs, *parts)
        self._signs: dict[int, np.ndarray] = {}
        for s, A in enumerate(graphs):
            for c in range(self.N):
                self._signs.setdefault(int(self.index[s, c]), A[:, c])
        self.graphs = (graphs != 0).astype(np.uint8)

    def cpt(self, f: int) -> np.ndarray:
        """Return the mean table of a family, (configurations, 2)."""
        if f not in self._tables:
            k, c, parents = self.families[f]
            data, X = self.data[k], self.tables[k]
            used = slice(None) if data.skip.shape[1] == 0 else data.skip[c] == 0
            q = 1 << len(parents)
            cell = code_parents(X, parents, self.cards) * 2 + X[:, c]
            each = cell_weight(data.settings, q, 2)
            counts = np.bincount(cell[used], minlength=2 * q).reshape(q, 2) + each
            flip = flip_of(self._signs[f][parents])
            means = monotone_means(counts[:, 1].copy(), counts[:, 0].copy(), flip)
            self._tables[f] = np.stack([1.0 - means, means], axis=1)
        return self._tables[f]


def signed_graphs(state: Any, places: Any) -> np.ndarray:
    """Return kept states as matrices of 0, 1 and, for negative effects, -1."""
    return with_signs(state.draws.graphs[places], state.draws.negative[places])


def with_signs(graphs: np.ndarray, negative: np.ndarray) -> np.ndarray:
    """Return words of parents, and of those with a negative effect, as such matrices."""
    A = to_adjacency(graphs).astype(np.int8)
    return np.asarray(A - 2 * to_adjacency(negative).astype(np.int8))


def role_signs(state: Any) -> dict[str, np.ndarray]:
    """Return the share of positive effects of each role: mean and a central 90% interval."""
    effects = signed_graphs(state, slice(None))
    member = np.eye(int(state.roles.max()) + 1)[state.roles]
    plus, minus = ((effects == sign).sum(axis=2) @ member for sign in (1, -1))
    shares = np.random.default_rng(0).beta(SHAPE + plus, SHAPE + minus)
    low, high = np.quantile(shares, [0.05, 0.95], axis=0)
    mean = ((SHAPE + plus) / (2.0 * SHAPE + plus + minus)).mean(axis=0)
    effects_of = plus.mean(axis=0), minus.mean(axis=0)
    return {
        "mean": mean, "low": low, "high": high, "positive": effects_of[0],
        "negative": effects_of[1],
    }  # fmt: skip
