"""Cells of rows given the other cells: predictions, filled tables, and the most probable row.

All are averages over networks. Of categories, P(x_t | rest) is proportional to the predictive
density of the row with each value put in; of numbers, it is a mixture of conditional normals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infinimix.networks.answers.elimination import maximise
from infinimix.networks.answers.mixed import MixedMixture
from infinimix.networks.answers.predictive import Mixture
from infinimix.networks.answers.queries import condition_normal
from infinimix.networks.answers.state import BayesNetState
from infinimix.networks.engine.candidates import single_layout
from infinimix.networks.engine.scores import compute_score, new_cache


def category_probabilities(
    mixture: Mixture, t: int, X: np.ndarray, missing: np.ndarray
) -> np.ndarray:
    """Return the probabilities of the categories of column t, whose own cells are not looked at."""
    r = int(mixture.cards[t])
    filled, hidden = np.repeat(X, r, axis=0), np.repeat(missing, r, axis=0)
    filled[:, t], hidden[:, t] = np.tile(np.arange(r), len(X)), False
    logs = mixture.log_density(filled, hidden).reshape(-1, r)
    p = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def number_moments(
    mixture: Mixture, t: int, X: np.ndarray, missing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of column t in each row, in standardised numbers."""
    if isinstance(mixture, MixedMixture):
        return mixture.number_moments(t, X, missing)
    mean, std = np.empty(len(X)), np.empty(len(X))
    for i, (x, holes) in enumerate(zip(X, missing, strict=True)):
        seen = {int(j): float(x[j]) for j in np.flatnonzero(~holes) if j != t}
        mean[i], std[i] = condition_normal(mixture, t, seen, {})
    return mean, std


def fill_cells(state: BayesNetState, X: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return rows whose missing cells have the most probable category, or the mean."""
    out, mixture, numbers = X.copy(), state.mixture, state.columns.numbers
    for t in np.flatnonzero(missing.any(axis=0)).tolist():
        rows = np.flatnonzero(missing[:, t])
        if numbers[t]:
            out[rows, t] = number_moments(mixture, t, X[rows], missing[rows])[0]
        else:
            p = category_probabilities(mixture, t, X[rows], missing[rows])
            out[rows, t] = p.argmax(axis=1)
    return out


def most_probable_codes(
    state: BayesNetState, targets: Sequence[int], seen: dict[int, float], fixed: dict[int, float]
) -> tuple[dict[int, float], float]:
    """Return the most probable values of columns together in the best network; P(these, seen)."""
    mixture = state.best_mixture
    if state.columns.gaussian:  # the mode of a normal is its mean
        means = {t: condition_normal(mixture, t, seen, fixed)[0] for t in targets}
        return means, float("nan")
    factors = mixture.factors(0, {j: int(v) for j, v in fixed.items()})
    found, p = maximise(factors, {j: int(v) for j, v in seen.items()}, targets)
    return {t: float(k) for t, k in found.items()}, p


def graph_log_likelihood(state: BayesNetState, A: np.ndarray) -> float:
    """Return the log marginal likelihood of the rows given a graph, a sum over families."""
    data, total, cache = state.data(0), 0.0, None
    for c in range(len(A)):
        parents = np.flatnonzero(A[:, c])
        layout = single_layout(len(A), c, parents)
        cache = cache or new_cache(data, layout)
        total += compute_score(data, layout, cache, c, np.uint64((1 << len(parents)) - 1))
    return float(total)
