"""Missing cells of sequences, given what was observed before, beside and after them.

A missing cell depends on the row before it and on the row after it. So rows with missing cells that
follow each other, a run, are filled together, given the rows around them:

    P(cells | observed) ~ sum over networks s of  w_s  prod over steps t of  P_s(x_t | x_t-1)

over the steps into the rows of the run and into the row after it, with the mean tables of
`sequences`; a first row has the frequencies of its columns. Of categories all completions of a row
are enumerated, and runs of any length are summed over by forward and backward passes. Where two
rows have too many completions, their cells are drawn from the same distribution instead
(`drawn_cells`). The numbers of a run are jointly normal in each network (`sequence_numbers`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from infinimix.networks.answers.drawn_cells import draw_run
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.sequence_numbers import mean_cells, read_lines
from infinimix.networks.answers.state import NetworkState
from infinimix.networks.learning.slices import pair_rows, tie_slices

MOST_STEPS = 4096  # completions of a row, times those of the row before
LONG = 1 << 15  # steps of a run, from which on they are not kept
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
    before, after, _ = tie_slices(*pair_rows(n, sequences, needed=False), n).rows(n)
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
    found: Iterable[Any]
    if mixture.gaussian:
        lines = read_lines(mixture)
        found = (mean_cells(lines, mixture.weights, run.X, run.missing, run.starts) for run in runs)
    else:
        each = probabilities(mixture, runs, rng)
        found = ([p.argmax() for p in own] for own in each)
    for run, cells in zip(runs, found, strict=True):
        part = run.X.copy()
        part[run.missing] = cells
        out[run.rows] = part[_own(run)]
    return out


def _own(run: HoledRun) -> slice:
    """Return where the rows of a run are among those with the rows around it."""
    first = 0 if run.starts else 1
    return slice(first, first + len(run.rows))


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
    """Yield what `probabilities` does, by forward and backward passes.

    Steps of short runs are scored together, those of a long one by one, twice, as all of them would
    take too much memory.
    """
    versions = [_versions(mixture, run) for run in runs]
    short = [sum(_steps(mixture, run)) <= LONG for run in runs]
    firsts = [own[0] for run, own in zip(runs, versions, strict=True) if run.starts]
    steps = [
        _pairs(*pair) for own, few in zip(versions, short, strict=True) if few
        for pair in pairwise(own)
    ]  # fmt: skip
    N = mixture.N // 2
    begin = _scores(mixture, [np.hstack([x, x]) for x in firsts], slice(N, None))
    later = _scores(mixture, steps, slice(N))
    for run, own, few in zip(runs, versions, short, strict=True):
        first = next(begin) if run.starts else np.zeros((len(mixture.weights), 1))
        known = [next(later) for _ in own[1:]] if few else None

        def step(t: int, own: Any = own, known: Any = known) -> np.ndarray:
            """Return log P of the versions of row t + 1, given those of row t."""
            if known is not None:
                logs = known[t]
            else:
                logs = next(_scores(mixture, [_pairs(own[t], own[t + 1])], slice(N)))
            return np.asarray(logs.reshape(-1, len(own[t]), len(own[t + 1])))

        weights = _pass(first, len(own) - 1, step, mixture.weights)
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


def _pass(
    first: np.ndarray, n_steps: int, step: Callable[[int], np.ndarray], weights: np.ndarray
) -> list[np.ndarray]:
    """Return the probabilities of the completions of each row, from those of all steps."""
    ahead = [first]
    for t in range(n_steps):
        ahead.append(logsumexp(ahead[-1][:, :, None] + step(t), axis=1))
    total = logsumexp(logsumexp(ahead[-1], axis=1), b=weights)
    behind, found = np.zeros_like(ahead[-1]), [weights @ np.exp(ahead[-1] - total)]
    for t in reversed(range(n_steps)):
        behind = logsumexp(step(t) + behind[:, None], axis=2)
        found.append(weights @ np.exp(ahead[t] + behind - total))
    return found[::-1]
