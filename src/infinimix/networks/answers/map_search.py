"""The most probable network, by search over orders of the variables.

Given an order, the best parents of each variable among the earlier ones can be found for each
by itself (Teyssier and Koller 2005), if the prior is a product over edges. Given the classes of the
best state the block prior is one up to the counts of edges between classes, so odds are taken from
the counts of the best graph so far, and a graph is accepted only if the exact score, in which edge
probabilities are integrated out, is higher. The search begins at the best visited state, and single
edges have the last word; so what it finds is never worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln

from infinimix.networks.engine.candidates import ALL, MOST_PARENTS, single_layout
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.engine.hyper import EDGES, PAIRS, RECORDED_BETA
from infinimix.networks.engine.scores import compute_score, new_cache
from infinimix.networks.learning.knowledge import Knowledge

CANDIDATES = 10  # parents of a variable over whose sets the search runs
LEAST = 0.01  # probability of an edge from such a candidate
ROUNDS = 20
RESTARTS, FEW_RESTARTS = 20, 4  # up to ALL variables, and beyond
LEVELS = 3  # counts of edges between two classes whose odds are tried: none, half, and all


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


class Families:
    """Scores of sets of candidate parents of each variable."""

    def __init__(self, state: Any, prior: BlockPrior, limit: int | None) -> None:
        A, P = state.graph(None), state.edge_marginals
        self.N, self.data = len(A), state.data(0)
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

    def log_likelihood(self, A: np.ndarray) -> float:
        """Return the log marginal likelihood of a graph."""
        return sum(self.score(c, tuple(np.flatnonzero(A[:, c]).tolist())) for c in range(self.N))


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


def find_map(state: Any, known: Knowledge, prior: str, limit: int | None) -> dict[str, Any]:
    """Return the best network that is found, given the classes of the best state."""
    given = read_prior(state, known, prior)
    families = Families(state, given, limit)
    start = state.graph(None)
    first = families.log_likelihood(start) + given.log_p(start)
    A, score = improve(families, given, start, first)
    for other in _elsewhere(families, given):
        value = families.log_likelihood(other) + given.log_p(other)
        A, score = max((A, score), improve(families, given, other, value), key=lambda x: x[1])
    if given.beta is not None and families.N <= ALL:
        A, score = vary_odds(families, given, A, score)
    found = state.describe(state.best)
    return found | {"adjacency": A, "log_joint": found["log_joint"] + score - first}


def improve(
    families: Families, given: BlockPrior, A: np.ndarray, score: float
) -> tuple[np.ndarray, float]:
    """Search with the odds of a graph, and again with those of what is found."""
    for _ in range(ROUNDS):
        search = OrderSearch(families, given.odds(*given.counts(A)))
        new = best_along(search, A)
        value = families.log_likelihood(new) + given.log_p(new)
        A, gain = (new, value - score) if value > score + 1e-9 else (A, 0.0)
        A, score = toggle(families, given, A, score + gain)
        if gain == 0.0:
            break
    return A, score


def vary_odds(
    families: Families, given: BlockPrior, A: np.ndarray, score: float
) -> tuple[np.ndarray, float]:
    """Search with other odds for one pair of classes after another, until none leads higher.

    The log prior is a convex function of the counts of edges, so no graph is below a tangent of it,
    and the best graph of all is the best one for the odds of its own counts. In most blocks the
    odds at hand are nearly those.
    """
    edges, pairs = given.counts(A)
    blocks, failed = [tuple(block) for block in np.argwhere(pairs > 0)], 0
    while failed < len(blocks):
        a, b = blocks[0]
        tried, other = [(A, score)], edges.copy()
        for n in np.linspace(0.0, pairs[a, b], LEVELS):
            other[a, b] = n
            search = OrderSearch(families, given.odds(other, pairs))
            new = best_along(search, A, FEW_RESTARTS)
            value = families.log_likelihood(new) + given.log_p(new)
            tried.append(toggle(families, given, new, value))
        best = max(tried, key=lambda x: x[1])
        blocks, failed = [*blocks[1:], blocks[0]], failed + 1
        if best[1] > score + 1e-9:
            (A, score), failed = improve(families, given, *best), 0
            edges, _ = given.counts(A)
    return A, score


def best_along(search: OrderSearch, A: np.ndarray, restarts: int = RESTARTS) -> np.ndarray:
    """Return the best graph along orders that are climbed to from that of a graph and others."""
    starts = _starts(A, min(restarts, RESTARTS if len(A) <= ALL else FEW_RESTARTS))
    return max((search.graph(search.climb(order)) for order in starts), key=search.total_of)


def _elsewhere(families: Families, given: BlockPrior) -> Iterator[np.ndarray]:
    """Yield other graphs to begin at, if there are few variables.

    The odds of a graph keep the search near its counts of edges. So one begins at the best graph
    with edges as likely as not, and one at hardly any edges.
    """
    if given.beta is not None and families.N <= ALL:
        required = (given.bonus == np.inf).astype(np.uint8)
        yield best_along(OrderSearch(families, given.bonus), required)
        yield required


def _starts(A: np.ndarray, others: int) -> Iterator[list[int]]:
    """Yield orders to begin at: one of the graph, and others at random."""
    yield [int(v) for v in topological_order(A)]
    rng = np.random.default_rng(0)
    for _ in range(others):
        yield rng.permutation(len(A)).tolist()


def toggle(
    families: Families, given: BlockPrior, A: np.ndarray, score: float
) -> tuple[np.ndarray, float]:
    """Add, remove and turn single edges as long as the exact score rises."""
    both = zip(families.sets, families.scores, strict=True)
    known = [dict(zip(sets, values.tolist(), strict=True)) for sets, values in both]

    def gain(B: np.ndarray, changed: set[int]) -> float:
        """Return by how much the likelihood of some children is higher."""
        total = 0.0
        for c in changed:
            new, old = (tuple(np.flatnonzero(x[:, c]).tolist()) for x in (B, A))
            total += known[c].get(new, -np.inf) - known[c].get(old, -np.inf)
        return total if np.isfinite(total) else -np.inf

    while True:
        prior, best, found = given.log_p(A), 1e-9, None
        for i, j in np.argwhere(given.allowed).tolist():
            B = A.copy()
            B[i, j] = 1 - A[i, j]
            if B[i, j]:
                B[j, i] = 0
            value = gain(B, {i, j} if A[j, i] != B[j, i] else {j}) + given.log_p(B) - prior
            if value > best and _acyclic(B):
                best, found = value, B
        if found is None:
            return A, score
        A, score = found, score + best


def _acyclic(A: np.ndarray) -> bool:
    try:
        topological_order(A)
    except ValueError:
        return False
    return True
