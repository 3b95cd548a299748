"""Where a descent starts, and the price of a cluster when none is given.

`spread_centres` is DP-means++ (Bachem, Lucic and Krause 2015, with the stop of the objective
itself): rows are drawn with probability proportional to their divergence from the centres so far,
the best of a few is taken, and it ends when a centre no longer lowers the objective.

`find_price` finds lambda for data whose number of clusters nobody knows. K is that of the least

    n d / 2 log W + sum_k n_k log(n / n_k) + K (d + 1) / 2 log n,

the BIC of the classification likelihood of equal spherical normals (or of what corresponds to them
for another divergence), with W the sum of the divergences of K clusters. Without the middle term
a normal cut in two would look better than a whole one. Lambda is then put where K clusters stay:
above what the farthest row pays and what one more cluster would save, lest it is opened, and below
what the least useful cluster saves, lest it is closed; in the middle, on a logarithmic scale. Where
single rows open clusters at sight, what counts is their divergence from own and foreign means.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from infinimix.maxmargin.descent.algorithm import closing_gains, descend, scan
from infinimix.maxmargin.objective.divergences import Divergence
from infinimix.maxmargin.objective.problem import Clusters, Problem, Weights
from infinimix.maxmargin.objective.rows import Rows

SAMPLE = 4_000  # rows that a start looks at
TRIAL = 2_000  # rows that the choice of a price looks at
MOST = 48  # clusters that it considers


def without_labels(rows: Rows) -> Rows:
    """Return the same rows for plain DP-means."""
    return rows._replace(Y=rows.Y[:, :0])


def sample(rng: np.random.Generator, rows: Rows, size: int) -> Rows:
    """Return a random part of the rows, in their order."""
    if rows.n <= size:
        return rows
    return rows.take(np.sort(rng.choice(rows.n, size, replace=False)))


def divergences(problem: Problem, centres: Clusters) -> np.ndarray:
    """Return the divergence of each row from each centre."""
    S = problem.score_vectors(centres) @ problem.rows.F.T
    S += problem.rows.phi
    return np.maximum(S, 0.0, out=S).T


def spread_centres(
    rng: np.random.Generator, rows: Rows, divergence: Divergence, price: float, limit: int
) -> np.ndarray:
    """Return the means of a DP-means++ start; `price` is for these rows."""
    problem = Problem(without_labels(rows), divergence, Weights(price))
    chosen = [int(rng.integers(rows.n))]
    near = divergences(problem, problem.open(np.array(chosen)))[:, 0]
    while len(chosen) < min(limit, rows.n) and near.sum() > 0:
        trials = rng.choice(rows.n, 4 + 2 * int(np.log(len(chosen))), p=near / near.sum())
        closer = np.minimum(near[:, None], divergences(problem, problem.open(trials)))
        at = int(closer.sum(axis=0).argmin())
        if near.sum() - closer[:, at].sum() <= price:
            break
        chosen.append(int(trials[at]))
        near = closer[:, at]
    return problem.open(np.array(chosen)).means


def start(
    rng: np.random.Generator, rows: Rows, divergence: Divergence, w: Weights, limit: int
) -> Clusters:
    """Return clusters to descend from; their experts know nothing yet."""
    part = sample(rng, rows, SAMPLE)
    price = w.lam / w.s * part.n / rows.n
    means = spread_centres(rng, part, divergence, price, limit)
    return Clusters(means, np.zeros((len(means), rows.Y.shape[1], rows.d + 1)))


def find_price(
    rng: np.random.Generator, rows: Rows, divergence: Divergence, at_once: bool = False
) -> float:
    """Return lambda for DP-means, with s = 1; `at_once` if single rows open clusters at sight."""
    part = without_labels(sample(rng, rows, TRIAL))
    problem = Problem(part, divergence, Weights(0.0))
    limit = int(min(MOST, max(1, part.n // (2 * (part.d + 1)))))
    centres = spread_centres(rng, part, divergence, 0.0, limit)
    outcomes: dict[int, Outcome] = {}

    def try_sizes(sizes: Iterable[int]) -> int:
        for k in sizes:
            if k <= len(centres) and k not in outcomes:
                outcomes[k] = _settle(problem, centres[:k])
        least = 1e-12 * max(outcomes[1].total, 1e-300)
        return min(outcomes, key=lambda k: _criterion(part, outcomes[k], least))

    best = try_sizes({round(1.5**j) for j in range(11)})
    best = try_sizes(range(int(best / 1.5) + 1, int(best * 1.5) + 1))
    if at_once:
        low, high = outcomes[best].farthest, outcomes[best].foreign
        high = high if np.isfinite(high) else 16.0 * low  # one cluster knows no others
        return float(np.sqrt(low * high)) if 0 < low < high else 1.01 * low or 1.0
    try_sizes([best + 1])
    return _between(outcomes[best], outcomes.get(best + 1), rows.n / part.n)


def _between(best: Outcome, more: Outcome | None, scale: float) -> float:
    """Return a price that is worth the clusters there are, and not one more."""
    low = 1.01 * best.farthest if best.farthest > 0 else 1e-6 * max(best.total, 1.0)
    if more is not None:
        low = max(low, 1.2 * (best.total - more.total) * scale)
    saving = best.saving * scale
    return float(np.sqrt(low * saving)) if saving > low else float(low)


class Outcome(NamedTuple):
    """What so many clusters achieve."""

    total: float  # sum of the divergences
    sizes: np.ndarray
    farthest: float  # the largest divergence
    saving: float  # by the least useful cluster
    foreign: float  # the least divergence from a cluster that is not a row's own


def _criterion(rows: Rows, one: Outcome, least: float) -> float:
    fit = 0.5 * rows.n * rows.d * np.log(max(one.total, least))
    order = float((one.sizes * np.log(rows.n / one.sizes)).sum())
    return float(fit + order + 0.5 * len(one.sizes) * (rows.d + 1) * np.log(rows.n))


def _settle(problem: Problem, means: np.ndarray) -> Outcome:
    empty = np.empty((len(means), 0, problem.rows.d + 1))
    state = descend(problem, Clusters(means, empty), max_iter=30, tol=1e-3, grow=False)
    z, best, second, _ = scan(problem, state.clusters, state.z)
    total, farthest = float(best.sum()), float(best.max())
    saving = 4.0 * farthest
    if len(state.clusters) > 1:
        gains = closing_gains(problem, state.clusters, z, best, second)
        saving = float(-gains.max())
    sizes = np.unique(z, return_counts=True)[1]
    return Outcome(total, sizes, farthest, saving, float(second.min()))
