"""The most probable network, given the classes of the best visited state.

The block prior is a product over edges, for which `order_search` finds the best graph, up to the
counts of edges between classes. So odds are taken from the counts of the best graph so far, and a
graph is accepted only if the exact score, in which edge probabilities are integrated out, is
higher. The search begins at the best visited state, and single edges have the last word; so what it
finds is never worse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from infinimix.networks.answers.block_prior import read_prior
from infinimix.networks.answers.order_search import FEW_RESTARTS, Families, OrderSearch, best_along
from infinimix.networks.engine.candidates import ALL
from infinimix.networks.engine.graphs import topological_order
from infinimix.networks.learning.knowledge import Knowledge

ROUNDS = 20
LEVELS = 3  # counts of edges between two classes whose odds are tried: none, half, and all


Found = tuple[np.ndarray, float]  # a graph and its score, all but a constant of the log joint


def find_map(state: Any, known: Knowledge, prior: str, limit: int | None) -> dict[str, Any]:
    """Return the best network that is found, given the classes of the best state."""
    families = Families(state, read_prior(state, known, prior), limit)
    A = state.graph(None)
    first = families.log_joint(A)
    best = improve(families, A, first)
    if families.prior.beta is not None and families.N <= ALL:
        for other in _elsewhere(families):
            best = higher(best, improve(families, other, families.log_joint(other)))
        best = vary_odds(families, *best)
    found = state.describe(state.best)
    return found | {"adjacency": best[0], "log_joint": found["log_joint"] + best[1] - first}


def higher(*found: Found) -> Found:
    """Return the graph with the highest score, the first of several."""
    return max(found, key=lambda graph: graph[1])


def improve(families: Families, A: np.ndarray, score: float) -> Found:
    """Search with the odds of a graph, and again with those of what is found."""
    given = families.prior
    for _ in range(ROUNDS):
        new = best_along(OrderSearch(families, given.odds(*given.counts(A))), A)
        value = families.log_joint(new)
        A, gain = (new, value - score) if value > score + 1e-9 else (A, 0.0)
        A, score = toggle(families, A, score + gain)
        if gain == 0.0:
            break
    return A, score


def _elsewhere(families: Families) -> Iterator[np.ndarray]:
    """Yield other graphs to begin at.

    The odds of a graph keep the search near its counts of edges. So one begins at the best graph
    with edges as likely as not, and one at hardly any edges.
    """
    required = (families.prior.bonus == np.inf).astype(np.uint8)
    yield best_along(OrderSearch(families, families.prior.bonus), required)
    yield required


def vary_odds(families: Families, A: np.ndarray, score: float) -> Found:
    """Search with other odds for one pair of classes after another, until none leads higher.

    The log prior is a convex function of the counts of edges, so no graph is below a tangent of it,
    and the best graph of all is the best one for the odds of its own counts. In most blocks the
    odds at hand are nearly those.
    """
    edges, pairs = families.prior.counts(A)
    blocks, failed = [tuple(block) for block in np.argwhere(pairs > 0)], 0
    while failed < len(blocks):
        tried, other = [(A, score)], edges.copy()
        for n in np.linspace(0.0, pairs[blocks[0]], LEVELS):
            other[blocks[0]] = n
            search = OrderSearch(families, families.prior.odds(other, pairs))
            new = best_along(search, A, FEW_RESTARTS)
            tried.append(toggle(families, new, families.log_joint(new)))
        best = higher(*tried)
        blocks, failed = [*blocks[1:], blocks[0]], failed + 1
        if best[1] > score + 1e-9:
            (A, score), failed = improve(families, *best), 0
            edges, _ = families.prior.counts(A)
    return A, score


def toggle(families: Families, A: np.ndarray, score: float) -> Found:
    """Add, remove and turn single edges as long as the exact score rises."""
    given = families.prior
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
