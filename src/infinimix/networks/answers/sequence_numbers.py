"""Missing numbers of rows that follow each other: jointly normal in each network.

The residuals of all steps, from a row to the next, are linear in the missing cells, and their
weighted squares are completed. As a residual joins two rows, the precision matrix of the cells has
blocks for each row and between neighbours alone. So rows are eliminated one after the other
(block Cholesky), and time and memory grow with the number of rows, not with its square or cube.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.networks.answers.predictive import Mixture

MOST_NUMBERS = 1 << 22  # of the blocks of networks that are solved together


class StepLines(NamedTuple):
    """The regressions of networks: x now = intercept + slope @ x before, and first rows."""

    intercept: np.ndarray  # (S, N)
    slope: np.ndarray  # (S, N, N) [now, before]
    precision: np.ndarray  # (S, N)
    first_mean: np.ndarray  # (S, N)
    first_precision: np.ndarray  # (S, N)


def read_lines(mixture: Mixture) -> StepLines:
    """Return the mean regressions of all networks."""
    S, N = len(mixture.graphs), mixture.N // 2
    slope, a, v = np.zeros((S, N, N)), np.empty((S, 2 * N)), np.empty((S, 2 * N))
    for s in range(S):
        for c in range(2 * N):
            a[s, c], b, v[s, c] = mixture.regression(s, c)
            if c < N:
                slope[s, c, mixture.families[mixture.index[s, c]][2] - N] = b
    return StepLines(a[:, :N], slope, 1.0 / v[:, :N], a[:, N:], 1.0 / v[:, N:])


def mean_cells(
    lines: StepLines, weights: np.ndarray, X: np.ndarray, missing: np.ndarray, starts: bool
) -> np.ndarray:
    """Return the means of the missing cells of rows (T, N), averaged over networks.

    `starts` says that the first row has no row before; else all of its cells are observed.
    """
    T, N = X.shape
    at_once = max(MOST_NUMBERS // (T * N * N), 1)
    parts = [
        _solve(StepLines(*(part[s : s + at_once] for part in lines)), X, missing, starts)
        for s in range(0, len(weights), at_once)
    ]
    means, log_p = (np.concatenate(some) for some in zip(*parts, strict=True))
    logs = np.log(weights) + log_p
    w = np.exp(logs - logs.max())
    return np.asarray(w @ means / w.sum())


def _solve(
    lines: StepLines, X: np.ndarray, missing: np.ndarray, starts: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of missing cells in each network, and the log density of the others."""
    T, known = len(X), np.where(missing, 0.0, X)
    holes, log_p = [np.flatnonzero(row) for row in missing], np.zeros(len(lines.slope))
    inner: list[np.ndarray] = []  # of each row: its block, without the rows before it
    pull: list[np.ndarray] = []  # its right side
    cross: list[np.ndarray] = []  # its block with the row before
    gap, precision = np.zeros_like(lines.first_mean), np.zeros_like(lines.first_mean)
    if starts:
        gap, precision = known[0] - lines.first_mean, lines.first_precision
    for t in range(T):
        own = holes[t]
        block = precision[:, own, None] * np.eye(len(own))
        right = -(precision * gap)[:, own]
        if t > 0 or starts:
            log_p += 0.5 * (np.log(precision) - precision * gap**2).sum(axis=1)
        cross.append(-precision[:, own, None] * lines.slope[:, own][:, :, holes[max(t - 1, 0)]])
        if t + 1 < T:
            gap = known[t + 1] - lines.intercept - lines.slope @ known[t]
            precision, effect = lines.precision, lines.slope[:, :, own].swapaxes(1, 2)
            block = block + (effect * precision[:, None]) @ effect.swapaxes(1, 2)
            right = right + _times(effect, precision * gap)
        if t > 0:  # what is left when the cells of the row before are eliminated
            gain = np.linalg.solve(inner[-1], cross[t].swapaxes(1, 2)).swapaxes(1, 2)
            block = block - gain @ cross[t].swapaxes(1, 2)
            right = right - _times(gain, pull[-1])
        inner.append(block)
        pull.append(right)
        log_p += 0.5 * (right * _divide(block, right)).sum(axis=1)
        log_p -= 0.5 * np.linalg.slogdet(block)[1]
    means = [_divide(inner[-1], pull[-1])]
    for t in reversed(range(T - 1)):
        later = _times(cross[t + 1].swapaxes(1, 2), means[-1])
        means.append(_divide(inner[t], pull[t] - later))
    return np.concatenate(means[::-1], axis=1), log_p


def _times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A @ x for each network."""
    return np.asarray((A @ x[..., None])[..., 0])


def _divide(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return what A times it is x, for each network."""
    return np.asarray(np.linalg.solve(A, x[..., None])[..., 0])
