"""Missing cells, drawn within the sampler: parameters given the rows and the graph, then cells.

The parameters of the network are drawn from their posterior, and each missing cell is then drawn
given the cells around it: its own family and those of its children have a say. Together with
the moves on the graph this leaves the posterior of graphs given the observed cells as it is.

`Ties` says which rows a family joins, and so is all that tells networks of several shapes apart.
In a Bayesian network, parents and child stand in one row. In a dynamic network parents stand in the
row before. In an undirected graph only a variable's own family has a say: what it is given its
neighbours is its conditional distribution, and the families of the neighbours would count
the same dependence again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infinimix.networks.engine.families import PRIOR_MU, PRIOR_W, Data, cell_weight


class Ties(NamedTuple):
    """Which rows the families of a table join; by default each joins cells of one row."""

    now: np.ndarray | None = None  # (pairs,) the rows that have a row before
    before: np.ndarray | None = None  # (n,) the row of the parents of a row, -1 if there is none
    after: np.ndarray | None = None  # (n,) the row of its children
    waves: tuple[np.ndarray, ...] = ()  # rows that do not depend on each other, given the others
    start: tuple[np.ndarray, ...] = ()  # log P of the codes of a row without a row before
    used: np.ndarray | None = None  # (n, N) False where a cell was set from outside
    children: bool = True  # whether the families of children have a say

    def rows(self, n: int) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """Return the rows of parents and of children, and the waves, of n rows."""
        if self.before is None or self.after is None:
            return np.arange(n), np.arange(n), (np.ones(n, bool),)
        return self.before, self.after, self.waves

    def table(self, X: np.ndarray) -> np.ndarray:
        """Return the rows as scores read them: what is now, and what was before beside it."""
        if self.before is None:
            return X
        return np.hstack([X[self.now], X[self.before[self.now]]])

    def cells_used(self, shape: tuple[int, int], data: Data) -> np.ndarray:
        """Return which cells say something about their parents."""
        if self.used is not None:
            return self.used
        return np.ones(shape, bool) if data.skip.shape[1] == 0 else data.skip.T == 0


SAME_ROW = Ties()
OWN_FAMILY = Ties(children=False)


def first_fill(X: np.ndarray, missing: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the table with its holes filled by draws from the same column."""
    X = X.copy()
    for j in np.flatnonzero(missing.any(axis=0)):
        seen = X[~missing[:, j], j]
        if len(seen):
            X[missing[:, j], j] = rng.choice(seen, missing[:, j].sum())
        else:
            X[missing[:, j], j] = 0
    return X


def code_parents(X: np.ndarray, parents: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Return the number of the configuration of the parents, the last one moving fastest."""
    code = np.zeros(len(X), np.int64)
    for p in parents:
        code = code * cards[p] + X[:, p]
    return code


def complete_discrete(
    X: np.ndarray, missing: np.ndarray, A: np.ndarray, data: Data, rng: np.random.Generator,
    ties: Ties = SAME_ROW, draw: Callable[..., np.ndarray] | None = None,
) -> None:  # fmt: skip
    """Draw the missing cells of codes X in place, given adjacency A.

    `draw` is `draw_table`, or draws other tables given the column of A.
    """
    parents = [np.flatnonzero(A[:, j]) for j in range(len(A))]
    children = [np.flatnonzero(A[j]).tolist() if ties.children else [] for j in range(len(A))]
    holes = np.flatnonzero(missing.any(axis=0))
    touched = sorted({*holes.tolist(), *(c for j in holes for c in children[j])})
    if draw is None:
        logs = {c: draw_table(X, c, parents[c], data, rng, ties) for c in touched}
    else:
        logs = {c: draw(X, c, A[:, c], data, rng, ties) for c in touched}
    used, cards = ties.cells_used(X.shape, data), data.cards
    before, after, waves = ties.rows(len(X))
    for j in holes.tolist():
        for wave in waves:
            rows = np.flatnonzero(missing[:, j] & wave)
            above, below = before[rows], after[rows]
            part, score = X[rows], np.zeros((len(rows), cards[j]))
            own = logs[j][code_parents(X[above], parents[j], cards)]
            score += np.where((used[rows, j] & (above >= 0))[:, None], own, 0.0)
            if ties.start:
                score += np.where((above < 0)[:, None], ties.start[j], 0.0)
            for v in range(cards[j]):
                part[:, j] = v
                for c in children[j]:
                    own = logs[c][code_parents(part, parents[c], cards), X[below, c]]
                    score[:, v] += np.where(used[below, c] & (below >= 0), own, 0.0)
            X[rows, j] = np.argmax(score + rng.gumbel(size=score.shape), axis=1)


def draw_table(
    X: np.ndarray, c: int, parents: np.ndarray, data: Data, rng: np.random.Generator, ties: Ties
) -> np.ndarray:
    """Return the logarithms of a table, (configurations, categories), drawn given all rows."""
    counts = count_table(X, c, parents, data, ties)
    each = cell_weight(data.settings, *counts.shape)
    draws = np.maximum(rng.standard_gamma(counts + each), 1e-300)
    return np.asarray(np.log(draws / draws.sum(axis=1, keepdims=True)))


def count_table(X: np.ndarray, c: int, parents: np.ndarray, data: Data, ties: Ties) -> np.ndarray:
    """Return the rows with each configuration of the parents and each category of c."""
    cards, before = data.cards, ties.rows(len(X))[0]
    now = np.flatnonzero((before >= 0) & ties.cells_used(X.shape, data)[:, c])
    q, r = int(np.prod(cards[parents])), int(cards[c])
    cell = code_parents(X[before[now]], parents, cards) * r + X[now, c]
    return np.asarray(np.bincount(cell, minlength=q * r).reshape(q, r))


def draw_regression(
    data: Data, mean: np.ndarray, c: int, parents: np.ndarray, rng: np.random.Generator | None
) -> tuple[float, np.ndarray, float]:
    """Return intercept, coefficients and variance of a family: drawn, or their means."""
    k = c if len(data.R) > 1 else 0
    return regress(data.R[k], data.rows[k], mean, c, parents, data.settings, rng)


def regress(
    R: np.ndarray, n: float, mean: np.ndarray, c: int, parents: np.ndarray, settings: np.ndarray,
    rng: np.random.Generator | None,
) -> tuple[float, np.ndarray, float]:  # fmt: skip
    """Return the regression of c on its parents, from the posterior scatter and mean of n rows."""
    lam, shape = settings[PRIOR_MU] + n, 0.5 * (n + settings[PRIOR_W] + len(parents) + 1)
    inner = R[np.ix_(parents, parents)]
    b = np.linalg.solve(inner, R[parents, c]) if len(parents) else np.zeros(0)
    residual = max(R[c, c] - R[parents, c] @ b, 1e-12)
    if rng is None:
        return mean[c] - mean[parents] @ b, b, 0.5 * residual / max(shape - 1.0, 0.5)
    variance = 0.5 * residual / rng.standard_gamma(shape)
    if len(parents):
        b = b + np.sqrt(variance) * np.linalg.solve(
            np.linalg.cholesky(inner).T, rng.standard_normal(len(parents))
        )
    intercept = mean[c] - mean[parents] @ b + np.sqrt(variance / lam) * rng.standard_normal()
    return intercept, b, variance


def posterior_means(data: Data, X: np.ndarray) -> np.ndarray:
    """Return the posterior mean of each column for each child's rows: (1 or N, N)."""
    out = []
    for k in range(len(data.R)):
        rows = X if data.skip.shape[1] == 0 else X[data.skip[k] == 0]
        out.append(rows.sum(axis=0) / (len(rows) + data.settings[PRIOR_MU]))
    return np.array(out)


def complete_gaussian(
    X: np.ndarray, missing: np.ndarray, A: np.ndarray, data: Data, rng: np.random.Generator,
    ties: Ties = SAME_ROW,
) -> None:  # fmt: skip
    """Draw the missing cells of numbers X in place, given adjacency A.

    In a row without a row before, a number is standard normal, as columns are standardised.
    """
    N, shift = len(A), data.codes.shape[0] - len(A)  # what was before stands behind what is now
    parents = [np.flatnonzero(A[:, j]) for j in range(N)]
    used = ties.cells_used(X.shape, data)
    means = posterior_means(data, ties.table(X))
    drawn: list[Any] = [
        draw_regression(data, means[c if len(means) > 1 else 0], c, parents[c] + shift, rng)
        for c in range(N)
    ]
    before, after, waves = ties.rows(len(X))
    for j in np.flatnonzero(missing.any(axis=0)):
        for wave in waves:
            rows = np.flatnonzero(missing[:, j] & wave)
            above, below, part = before[rows], after[rows], X[rows]
            a, b, variance = drawn[j]
            own = np.where(above >= 0, used[rows, j] / variance, 1.0)
            line = a + X[above][:, parents[j]] @ b
            precision, pull = own.copy(), own * np.where(above >= 0, line, 0.0)
            for c in np.flatnonzero(A[j]) if ties.children else ():
                a, b, variance = drawn[c]
                slope = b[parents[c] == j][0]
                rest = X[below, c] - a - part[:, parents[c]] @ b + slope * part[:, j]
                weight = (used[below, c] & (below >= 0)) * slope / variance
                precision += weight * slope
                pull += weight * rest
            sound = precision > 0
            scale = np.where(sound, precision, 1.0)
            draw = pull / scale + rng.standard_normal(len(rows)) / np.sqrt(scale)
            X[rows, j] = np.where(sound, draw, part[:, j])
