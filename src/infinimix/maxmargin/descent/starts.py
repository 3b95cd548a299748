"""Where a descent starts, and the penalty of a cluster when none is given.

`spread_centres` is DP-means++ (Bachem, Lucic and Krause 2015, with the stop of the objective
itself): rows are drawn with probability proportional to their divergence from the centres so far,
the best of a few is taken, and it ends when a centre no longer lowers the objective.

`find_penalty` finds lambda for data whose number of clusters nobody knows. K is that of the least

    n d / 2 log W + sum_k n_k log(n / n_k) + K (d + 1) / 2 log n,

the BIC of the classification likelihood of equal spherical normals (or of what corresponds to them
for another divergence), with W the sum of the divergences of K clusters. Without the middle term
a normal cut in two would look better than a whole one. Lambda is then put where K clusters stay:
above the largest divergence of a row and what one more cluster would save, so that none is opened,
and below what the least useful cluster saves, so that none is closed; in the middle, on a
logarithmic scale. Where single rows open clusters at once, what counts is their divergence from
their own mean and from others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from infinimix.maxmargin.descent.algorithm import closing_gains, descend
from infinimix.maxmargin.descent.passes import scan
from infinimix.maxmargin.objective.divergences import Divergence
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem, bare_clusters
from infinimix.maxmargin.objective.rows import FeatureRows

SAMPLE = 4_000  # rows that a start looks at
TRIAL = 2_000  # rows that the choice of a penalty looks at
MOST = 48  # clusters that it considers


def sample(rng: np.random.Generator, rows: FeatureRows, size: int) -> FeatureRows:
    """Return a random part of the rows, in their order."""
    if rows.n <= size:
        return rows
    return rows.take(np.sort(rng.choice(rows.n, size, replace=False)))


def spread_centres(
    rng: np.random.Generator, rows: FeatureRows, divergence: Divergence, lam: float, limit: int
) -> np.ndarray:
    """Return the means of a DP-means++ start; lam is for these rows."""
    problem = MarginProblem(rows.without_labels(), divergence, LossWeights(lam))
    chosen = [int(rng.integers(rows.n))]
    weight = rows.weight[:, None]
    nearest = weight[:, 0] * problem.divergences(problem.open(np.array(chosen)))[:, 0]
    while len(chosen) < min(limit, rows.n) and nearest.sum() > 0:
        trials = rng.choice(rows.n, 4 + 2 * int(np.log(len(chosen))), p=nearest / nearest.sum())
        nearer = np.minimum(nearest[:, None], weight * problem.divergences(problem.open(trials)))
        at = int(nearer.sum(axis=0).argmin())
        if nearest.sum() - nearer[:, at].sum() <= lam:
            break
        chosen.append(int(trials[at]))
        nearest = nearer[:, at]
    return problem.open(np.array(chosen)).means


def start(
    rng: np.random.Generator, rows: FeatureRows, divergence: Divergence, w: LossWeights, limit: int
) -> Clusters:
    """Return clusters to descend from; their experts are zero."""
    part = sample(rng, rows, SAMPLE)
    lam = w.lam / w.s * part.total / rows.total
    means = spread_centres(rng, part, divergence, lam, limit)
    return Clusters(means, np.zeros((len(means), rows.Y.shape[1], rows.d + 1)))


def find_penalty(
    rng: np.random.Generator, rows: FeatureRows, divergence: Divergence, at_once: bool = False
) -> float:
    """Return lambda for DP-means, with s = 1; `at_once` if single rows open clusters at once."""
    part = sample(rng, rows, TRIAL).without_labels()
    problem = MarginProblem(part, divergence, LossWeights(0.0))
    limit = int(min(MOST, max(1, part.n // (2 * (part.d + 1)))))
    centres = spread_centres(rng, part, divergence, 0.0, limit)
    outcomes: dict[int, Descent] = {}

    def try_sizes(sizes: Iterable[int]) -> int:
        for k in sizes:
            if k <= len(centres) and k not in outcomes:
                outcomes[k] = _descend_from(problem, centres[:k])
        least = 1e-12 * max(outcomes[1].total, 1e-300)
        return min(outcomes, key=lambda k: _criterion(part, outcomes[k], least))

    best = try_sizes({round(1.5**j) for j in range(11)})
    best = try_sizes(range(int(best / 1.5) + 1, int(best * 1.5) + 1))
    if at_once:
        low, high = outcomes[best].farthest, outcomes[best].nearest_other
        high = high if np.isfinite(high) else 16.0 * low  # there is one cluster alone
        return float(np.sqrt(low * high)) if 0 < low < high else 1.01 * low or 1.0
    try_sizes([best + 1])
    return _between(outcomes[best], outcomes.get(best + 1), rows.total / part.total)


def _between(best: Descent, more: Descent | None, scale: float) -> float:
    """Return a penalty that the clusters there are outweigh, and one more does not."""
    low = 1.01 * best.farthest if best.farthest > 0 else 1e-6 * max(best.total, 1.0)
    if more is not None:
        low = max(low, 1.2 * (best.total - more.total) * scale)
    saving = best.saving * scale
    return float(np.sqrt(low * saving)) if saving > low else float(low)


class Descent(NamedTuple):
    """What so many clusters achieve."""

    total: float  # sum of the divergences
    sizes: np.ndarray  # sums of the weights of rows
    farthest: float  # the largest divergence
    saving: float  # by the least useful cluster
    nearest_other: float  # the least divergence from a cluster that is not a row's own


def _criterion(rows: FeatureRows, one: Descent, least: float) -> float:
    n = rows.total
    fit = 0.5 * n * rows.d * np.log(max(one.total, least))
    order = float((one.sizes * np.log(n / one.sizes)).sum())
    return float(fit + order + 0.5 * len(one.sizes) * (rows.d + 1) * np.log(n))


def _descend_from(problem: MarginProblem, means: np.ndarray) -> Descent:
    """Return what the clusters of a descent from these means achieve."""
    end = descend(problem, bare_clusters(means), max_iter=30, tol=1e-3, grow=False)
    found = scan(problem, end.clusters, end.z)
    farthest = float(found.cost.max())
    saving = 4.0 * farthest
    if len(end.clusters) > 1:
        saving = float(-closing_gains(problem, end.clusters, found).max())
    places = np.unique(found.z, return_inverse=True)[1]
    sizes = np.bincount(places, problem.rows.weight)
    nearest_other = float(found.second_cost.min())
    return Descent(float(found.cost.sum()), sizes, farthest, saving, nearest_other)
