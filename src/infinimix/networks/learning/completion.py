"""Missing cells, drawn within the sampler: parameters given the rows and the graph, then cells.

The parameters of the network are drawn from their posterior, and each missing cell is then drawn
given the rest of its row: its own family and those of its children have a say. Together with
the moves on the graph this leaves the posterior of graphs given the observed cells as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from infinimix.networks.engine.scores import GAMMA, IS_BDEU, PRIOR_MU, PRIOR_W, Data


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
    X: np.ndarray, missing: np.ndarray, A: np.ndarray, data: Data, rng: np.random.Generator
) -> None:
    """Draw the missing cells of codes X in place, given adjacency A."""
    N, cards = len(A), data.cards
    parents = [np.flatnonzero(A[:, j]) for j in range(N)]
    used = np.ones(X.shape, bool) if data.skip.shape[1] == 0 else data.skip.T == 0
    holes = np.flatnonzero(missing.any(axis=0))
    touched = set(holes) | {c for j in holes for c in np.flatnonzero(A[j])}
    logs: dict[int, np.ndarray] = {}
    for c in touched:
        q = int(np.prod(cards[parents[c]]))
        each = data.settings[GAMMA] / (q * cards[c] if data.settings[IS_BDEU] else 1)
        cell = code_parents(X, parents[c], cards) * cards[c] + X[:, c]
        counts = np.bincount(cell[used[:, c]], minlength=q * cards[c]).reshape(q, cards[c])
        draws = np.maximum(rng.standard_gamma(counts + each), 1e-300)
        logs[int(c)] = np.log(draws / draws.sum(axis=1, keepdims=True))
    for j in holes:
        rows = np.flatnonzero(missing[:, j])
        part, score = X[rows], np.zeros((len(rows), cards[j]))
        for v in range(cards[j]):
            part[:, j] = v
            for c in (j, *np.flatnonzero(A[j])):
                own = logs[c][code_parents(part, parents[c], cards), part[:, c]]
                score[:, v] += np.where(used[rows, c], own, 0.0)
        X[rows, j] = np.argmax(score + rng.gumbel(size=score.shape), axis=1)


def draw_regression(
    data: Data, mean: np.ndarray, c: int, parents: np.ndarray, rng: np.random.Generator | None
) -> tuple[float, np.ndarray, float]:
    """Return intercept, coefficients and variance of a family: drawn, or their means."""
    k = c if len(data.R) > 1 else 0
    R, n = data.R[k], data.rows[k]
    lam, shape = data.settings[PRIOR_MU] + n, 0.5 * (n + data.settings[PRIOR_W] + len(parents) + 1)
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
    X: np.ndarray, missing: np.ndarray, A: np.ndarray, data: Data, rng: np.random.Generator
) -> None:
    """Draw the missing cells of numbers X in place, given adjacency A."""
    N = len(A)
    parents = [np.flatnonzero(A[:, j]) for j in range(N)]
    used = np.ones(X.shape, bool) if data.skip.shape[1] == 0 else data.skip.T == 0
    means = posterior_means(data, X)
    drawn: list[Any] = [
        draw_regression(data, means[c if len(means) > 1 else 0], c, parents[c], rng)
        for c in range(N)
    ]
    for j in np.flatnonzero(missing.any(axis=0)):
        rows = np.flatnonzero(missing[:, j])
        part = X[rows]
        a, b, variance = drawn[j]
        own = used[rows, j] / variance
        precision, pull = own.copy(), own * (a + part[:, parents[j]] @ b)
        for c in np.flatnonzero(A[j]):
            a, b, variance = drawn[c]
            slope = b[parents[c] == j][0]
            rest = part[:, c] - a - part[:, parents[c]] @ b + slope * part[:, j]
            weight = used[rows, c] * slope / variance
            precision += weight * slope
            pull += weight * rest
        sound = precision > 0
        scale = np.where(sound, precision, 1.0)
        draw = pull / scale + rng.standard_normal(len(rows)) / np.sqrt(scale)
        X[rows, j] = np.where(sound, draw, part[:, j])
