"""Missing cells of sequences, given what was observed before, beside and after them.

A missing cell depends on the row before it and on the row after it. So rows with missing cells that
follow each other, a run, are filled together, given the rows around them:

    P(cells | observed) ~ sum over networks s of  w_s  prod over steps t of  P_s(x_t | x_t-1)

over the steps into the rows of the run and into the row after it, with the mean tables of
`sequences`; a first row has the frequencies of its columns. Of categories all completions of a row
are enumerated, and runs of any length are summed over by forward and backward passes. Where two
rows have too many completions, their cells are drawn from the same distribution instead
(`drawn_cells`). The numbers of a run are jointly normal in each network.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from infinimix.networks.answers.drawn_cells import draw_run
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.learning.slices import pair_rows, tie_slices

MOST_STEPS = 4096  # completions of a row, times those of the row before
CHUNK = 2000


class HoledRun(NamedTuple):
    """Rows with missing cells that follow each other, and the rows around them."""

    rows: np.ndarray  # those of the run
    X: np.ndarray  # (T, N): with the row before and the row after, where these are
    missing: np.ndarray  # (T, N) bool
    starts: bool  # there is no row before


def find_runs(X: np.ndarray, missing: np.ndarray, sequences: Any) -> Iterator[HoledRun]:
    """Yield the runs of a table."""
    n = len(X)
    before, after, _ = tie_slices(*pair_rows(n, sequences), n).rows(n)
    holed = np.asarray(missing.any(axis=1))
    for row in np.flatnonzero(holed).tolist():
        if before[row] >= 0 and holed[before[row]]:
            continue
        rows = [row]
        while after[rows[-1]] >= 0 and holed[after[rows[-1]]]:
            rows.append(int(after[rows[-1]]))
        around = [r for r in (int(before[row]), *rows, int(after[rows[-1]])) if r >= 0]
        yield HoledRun(np.array(rows), X[around], missing[around], bool(before[row] < 0))


def fill_sequences(
    state: NetworkState, X: np.ndarray, missing: np.ndarray, sequences: Any,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Return rows whose missing cells have the most probable category, or the mean."""
    out, mixture = X.copy(), state.mixture
    runs = list(find_runs(X, missing, sequences))
    if mixture.gaussian:
        lines = [read_lines(mixture, s) for s in range(len(mixture.graphs))]
        for run in runs:
            part = run.X.copy()
            part[run.missing] = mean_cells(lines, mixture.weights, run)
            out[run.rows] = part[_own(run)]
        return out
    for run, found in zip(runs, probabilities(mixture, runs, rng), strict=True):
        part = run.X.copy()
        part[run.missing] = [p.argmax() for p in found]
        out[run.rows] = part[_own(run)]
    return out


def _own(run: HoledRun) -> slice:
    """Return where the rows of a run are among those with the rows around it."""
    first = 0 if run.starts else 1
    return slice(first, first + len(run.rows))


# --- categories ---------------------------------------------------------------------------------


def probabilities(
    mixture: Mixture, runs: list[HoledRun], rng: np.random.Generator
) -> list[list[np.ndarray]]:
    """Return, for each run, the probabilities of the categories of each missing cell."""
    found: list[list[np.ndarray]] = [[] for _ in runs]
    costs = [_steps(mixture, run) for run in runs]
    few = [k for k, cost in enumerate(costs) if max(cost) <= MOST_STEPS]
    batch = np.cumsum([sum(costs[k]) for k in few]) // CHUNK
    for own in (np.array(few)[batch == b].tolist() for b in np.unique(batch)):
        for k, cells in zip(own, smooth(mixture, [runs[k] for k in own]), strict=True):
            found[k] = cells
    for k in sorted({*range(len(runs))} - {*few}):
        run = runs[k]
        found[k] = draw_run(mixture, run.X, run.missing, run.starts, rng)
    return found


def _steps(mixture: Mixture, run: HoledRun) -> list[float]:
    """Return how many completions the first row has, and then each with the row before it."""
    cards = mixture.cards[: run.X.shape[1]].astype(float)
    sizes = np.where(run.missing, cards, 1.0).prod(axis=1)
    return [float(sizes[0]), *(sizes[1:] * sizes[:-1]).tolist()]


def smooth(mixture: Mixture, runs: list[HoledRun]) -> Iterator[list[np.ndarray]]:
    """Yield what `probabilities` does, by forward and backward passes."""
    versions = [_versions(mixture, run) for run in runs]
    firsts = [own[0] for run, own in zip(runs, versions, strict=True) if run.starts]
    steps = [_pairs(a, b) for own in versions for a, b in pairwise(own)]
    N = mixture.N // 2
    begin = _scores(mixture, [np.hstack([x, x]) for x in firsts], slice(N, None))
    later = _scores(mixture, steps, slice(N))
    for run, own in zip(runs, versions, strict=True):
        first = next(begin) if run.starts else np.zeros((len(mixture.weights), 1))
        logs = [next(later).reshape(-1, len(a), len(b)) for a, b in pairwise(own)]
        weights = _pass(first, logs, mixture.weights)
        yield [
            np.bincount(own[t][:, j], weights[t], int(mixture.cards[j]))
            for t, j in np.argwhere(run.missing).tolist()
        ]


def _versions(mixture: Mixture, run: HoledRun) -> list[np.ndarray]:
    """Return all completions of each row."""
    out = []
    for x, holes in zip(run.X, run.missing, strict=True):
        sizes = mixture.cards[: len(x)][holes]
        filled = np.repeat(x[None], int(np.prod(sizes)), axis=0)
        filled[:, holes] = np.indices(sizes).reshape(len(sizes), len(filled)).T
        out.append(filled)
    return out


def _pairs(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return all pairs of rows, now beside before, the rows now moving fastest."""
    return np.hstack([np.tile(now, (len(before), 1)), np.repeat(before, len(now), axis=0)])


def _scores(mixture: Mixture, parts: list[np.ndarray], children: slice) -> Iterator[np.ndarray]:
    """Yield the log probabilities of the rows of each part, (networks, rows)."""
    if not parts:
        return
    rows, ends = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
    logs = np.concatenate(
        [mixture.log_families(rows[k : k + CHUNK], children) for k in range(0, len(rows), CHUNK)],
        axis=1,
    )
    for a, b in pairwise(ends):
        yield logs[:, a:b]


def _pass(first: np.ndarray, logs: list[np.ndarray], weights: np.ndarray) -> list[np.ndarray]:
    """Return the probabilities of the completions of each row, from those of all steps."""
    last = logs[-1].shape[2] if logs else first.shape[1]
    ahead, behind = [first], [np.zeros((len(weights), last))]
    for step in logs:
        ahead.append(logsumexp(ahead[-1][:, :, None] + step, axis=1))
    for step in reversed(logs):
        behind.append(logsumexp(step + behind[-1][:, None], axis=2))
    whole = [a + b for a, b in zip(ahead, reversed(behind), strict=True)]
    evidence = logsumexp(whole[0], axis=1)
    total = logsumexp(evidence, b=weights)
    return [np.asarray(weights @ np.exp(both - total)) for both in whole]


# --- numbers ------------------------------------------------------------------------------------


class StepLines(NamedTuple):
    """The regressions of one network: x now = intercept + slope @ x before, and first rows."""

    intercept: np.ndarray
    slope: np.ndarray  # (N, N) [now, before]
    precision: np.ndarray
    first_mean: np.ndarray
    first_precision: np.ndarray


def read_lines(mixture: Mixture, s: int) -> StepLines:
    """Return the mean regressions of network s."""
    N = mixture.N // 2
    slope, own = np.zeros((N, N)), [mixture.regression(s, c) for c in range(2 * N)]
    for c in range(N):
        slope[c, mixture.families[mixture.index[s, c]][2] - N] = own[c][1]
    a, v = np.array([o[0] for o in own]), np.array([o[2] for o in own])
    return StepLines(a[:N], slope, 1.0 / v[:N], a[N:], 1.0 / v[N:])


def mean_cells(lines: list[StepLines], weights: np.ndarray, run: HoledRun) -> np.ndarray:
    """Return the means of the missing cells of a run, averaged over networks."""
    parts = [_solve(own, run) for own in lines]
    logs = np.log(weights) + np.array([log_p for _, log_p in parts])
    w = np.exp(logs - logs.max())
    return np.asarray(w @ np.array([mean for mean, _ in parts]) / w.sum())


def _solve(own: StepLines, run: HoledRun) -> tuple[np.ndarray, float]:
    """Return the means of missing cells in one network, and the log density of the others.

    The residuals of all steps are linear in the missing cells; their squares are completed.
    """
    T, N = run.X.shape
    cells = np.argwhere(run.missing)
    known = np.where(run.missing, 0.0, run.X)
    gap = known[1:] - own.intercept - known[:-1] @ own.slope.T
    precision = np.tile(own.precision, (T - 1, 1))
    if run.starts:
        gap = np.vstack([known[:1] - own.first_mean, gap])
        precision = np.vstack([own.first_precision, precision])
    shift = 0 if run.starts else 1  # gap[t - shift] is that of the step into row t
    effect = np.zeros((len(gap), N, len(cells)))
    for k, (t, j) in enumerate(cells):
        effect[t - shift, j, k] += 1.0
        if t + 1 < T:
            effect[t + 1 - shift, :, k] -= own.slope[:, j]
    J, gap, precision = effect.reshape(-1, len(cells)), gap.ravel(), precision.ravel()
    inner, pull = (J.T * precision) @ J, -(J.T * precision) @ gap
    mean = np.linalg.solve(inner, pull)
    log_p = 0.5 * (np.log(precision).sum() - precision @ gap**2 + pull @ mean)
    return mean, float(log_p - 0.5 * np.linalg.slogdet(inner)[1])
