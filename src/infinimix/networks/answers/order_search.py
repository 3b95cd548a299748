"""Search over orders of the variables for the best graph, where the prior is a product over edges.

Given an order, the best parents of each variable among the earlier ones can be found for each by
itself (Teyssier and Koller 2005). Orders are climbed: one variable moves to another place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from infinimix.networks.answers.block_prior import BlockPrior
from infinimix.networks.engine.candidates import ALL, MOST_PARENTS, single_layout
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.engine.scores import compute_score, new_cache

CANDIDATES = 10  # parents of a variable over whose sets the search runs
LEAST = 0.01  # probability of an edge from such a candidate
RESTARTS, FEW_RESTARTS = 20, 4  # up to ALL variables, and beyond


class Families:
    """Scores of sets of candidate parents of each variable, and the prior of graphs."""

    def __init__(self, state: Any, prior: BlockPrior, limit: int | None) -> None:
        A, P = state.graph(None), state.edge_marginals
        self.N, self.data, self.prior = len(A), state.data(0), prior
        self.cache: Any = None
        most = limit if limit is not None else (self.N if self.N <= ALL else MOST_PARENTS)
        self.cand = [self._candidates(c, A, P, prior) for c in range(self.N)]
        must = [[i for i in g if prior.bonus[i, c] == np.inf] for c, g in enumerate(self.cand)]
        self.sets = [self._sets(g, must[c], most) for c, g in enumerate(self.cand)]
        self.scores = [
            np.array([self.score(c, s) for s in sets]) for c, sets in enumerate(self.sets)
        ]

    @staticmethod
    def _candidates(c: int, A: np.ndarray, P: np.ndarray, prior: BlockPrior) -> list[int]:
        """Return the most probable parents, and those in the best state."""
        rank = np.where(A[:, c] > 0, 3.0, P[:, c]) + 2.0 * (prior.bonus[:, c] == np.inf)
        order = [int(i) for i in np.argsort(-rank, kind="stable") if prior.allowed[i, c]]
        enough = order if len(A) <= CANDIDATES + 1 else [i for i in order if rank[i] >= LEAST]
        return sorted(enough[:CANDIDATES])

    @staticmethod
    def _sets(group: list[int], must: list[int], most: int) -> list[tuple[int, ...]]:
        sets = []
        for mask in range(1 << len(group)):
            held = tuple(i for k, i in enumerate(group) if mask >> k & 1)
            if len(held) <= max(most, len(must)) and set(must) <= set(held):
                sets.append(held)
        return sets

    def score(self, c: int, parents: tuple[int, ...]) -> float:
        """Return the log marginal likelihood of a family."""
        layout = single_layout(self.N, c, np.array(parents, np.int64))
        self.cache = self.cache or new_cache(self.data, layout)
        word = np.uint64((1 << len(parents)) - 1)
        return float(compute_score(self.data, layout, self.cache, c, word))

    def log_joint(self, A: np.ndarray) -> float:
        """Return the log marginal likelihood of a graph, and its log prior."""
        scores = (self.score(c, tuple(np.flatnonzero(A[:, c]).tolist())) for c in range(self.N))
        return sum(scores) + self.prior.log_p(A)


class OrderSearch:
    """Hill-climbing over orders, for one table of odds of edges."""

    def __init__(self, families: Families, odds: np.ndarray) -> None:
        finite = np.where(np.isinf(odds), 0.0, odds)
        self.sets, self.masks, self.values = [], [], []
        for c, sets in enumerate(families.sets):
            value = families.scores[c] + [finite[list(s), c].sum() for s in sets]
            order = np.argsort(-value, kind="stable").tolist()
            self.sets.append([sets[k] for k in order])
            self.masks.append([sum(1 << i for i in sets[k]) for k in order])
            self.values.append([*value[order].tolist(), -np.inf])  # the last: no set is possible
        self.near = [sum(1 << i for i in group) for group in families.cand]
        self.found: dict[tuple[int, int], int] = {}

    def best(self, c: int, earlier: int) -> int:
        """Return the best set of parents of c among earlier variables; -1 if none is possible."""
        key = c, earlier & self.near[c]
        if key not in self.found:
            fits = (k for k, mask in enumerate(self.masks[c]) if mask & ~earlier == 0)
            self.found[key] = next(fits, -1)
        return self.found[key]

    def value(self, c: int, earlier: int) -> float:
        """Return the score of these parents."""
        return float(self.values[c][self.best(c, earlier)])

    def climb(self, order: list[int]) -> list[int]:
        """Move one variable to another place as long as this helps, the best move first."""
        while True:
            gain, at, to = max(
                (self._moves(order, at) for at in range(len(order))), key=lambda move: move[0]
            )
            if gain <= 1e-9:
                return order
            v = order[at]
            rest = order[:at] + order[at + 1 :]
            order = [*rest[:to], v, *rest[to:]]

    def _moves(self, order: list[int], at: int) -> tuple[float, int, int]:
        """Return the best place for the variable at one: its gain, from where, and to where."""
        v, best = order[at], (0.0, at, at)
        before = sum(1 << c for c in order[:at])
        own = self.value(v, before)
        for step in (-1, 1):
            earlier, gain, to = before, 0.0, at
            while 0 <= to + step < len(order):
                u, to = order[to + step], to + step
                if step < 0:  # u comes after v now
                    earlier &= ~(1 << u)
                    gain += self.value(u, earlier | 1 << v) - self.value(u, earlier)
                else:  # u comes before v now
                    gain += self.value(u, earlier) - self.value(u, earlier | 1 << v)
                    earlier |= 1 << u
                total = gain + self.value(v, earlier) - own
                if total > best[0]:
                    best = total, at, to
        return best

    def total_of(self, A: np.ndarray) -> float:
        """Return the score of a graph."""
        found = (sum(1 << i for i in np.flatnonzero(A[:, c]).tolist()) for c in range(len(A)))
        return sum(self.values[c][self.masks[c].index(mask)] for c, mask in enumerate(found))

    def graph(self, order: list[int]) -> np.ndarray:
        """Return the best graph along an order."""
        A, earlier = np.zeros((len(order),) * 2, np.uint8), 0
        for c in order:
            A[list(self.sets[c][self.best(c, earlier)]), c] = 1
            earlier |= 1 << c
        return A


def best_along(search: OrderSearch, A: np.ndarray, restarts: int = RESTARTS) -> np.ndarray:
    """Return the best graph along orders that are climbed to from that of a graph and others."""
    starts = _starts(A, min(restarts, RESTARTS if len(A) <= ALL else FEW_RESTARTS))
    return max((search.graph(search.climb(order)) for order in starts), key=search.total_of)


def _starts(A: np.ndarray, others: int) -> Iterator[list[int]]:
    """Yield orders to begin at: one of the graph, and others at random."""
    yield [int(v) for v in topological_order(A)]
    rng = np.random.default_rng(0)
    for _ in range(others):
        yield rng.permutation(len(A)).tolist()
