"""From a table with labels to a fitted model: defaults from the data, starts, and what is kept.

The scale of the divergence decides what the parameters mean. Under "auto", `lam` is s times the
price that `DPMeans` finds, and `s` makes the mean divergence of those clusters cost STRENGTH times
as much as the hinges of an expert that knows nothing: cheap divergences let clusters follow
labels instead of places, until each holds one class and its expert has nothing left to say.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import Labels
from infinimix.maxmargin.descent.algorithm import POLISH, State, move_experts, move_means, scan
from infinimix.maxmargin.descent.merging import descend_and_merge
from infinimix.maxmargin.descent.starts import SAMPLE, find_price, sample, start, without_labels
from infinimix.maxmargin.experts.calibration import find_slope
from infinimix.maxmargin.objective.divergences import Divergence, find_divergence
from infinimix.maxmargin.objective.problem import Clusters, Problem, Weights
from infinimix.maxmargin.objective.rows import Rows, make_rows, read_rows, signs

STRENGTH = 3.0
STARTS = 3
PURE = 0.99  # share of the largest class in its cluster from which on experts are inert


class Data(NamedTuple):
    """A table with labels, as the engine takes it."""

    rows: Rows
    codes: np.ndarray  # of the sorted labels
    labels: Labels
    divergence: Divergence


def read_data(estimator: Any, X: Any, y: Any, name: str, classes: Any = None) -> Data:
    """Check and encode a table and its labels; nothing of the estimator but its names changes."""
    labels = Labels()
    codes, new = labels.read(y, classes)
    X = read_rows(estimator, X, reset=True)
    check_lengths(len(X), len(codes))
    labels.extend(new)
    codes = np.argsort(labels.order)[codes]
    divergence = find_divergence(name, X)
    return Data(make_rows(X, divergence, signs(codes, len(new))), codes, labels, divergence)


def check_lengths(rows: int, labels: int) -> None:
    """Raise ValueError unless there is one label for each row."""
    if rows != labels:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows, "
            f"y has {labels} labels."
        )


def find_scales(
    rng: np.random.Generator, data: Data, c: float, margin: float
) -> tuple[Weights, Clusters]:
    """Return lam and s from the scale of the data, and the clusters of DP-means at that price."""
    price = find_price(rng, data.rows, data.divergence)
    clusters = plain_clusters(rng, data, price)
    mean = mean_divergence(data, clusters)
    knows_nothing = 2.0 * c * margin * data.rows.Y.shape[1]
    s = STRENGTH * knows_nothing / mean if mean > 0 else 1.0
    return Weights(s * price, s, c, 1.0, margin), clusters


def plain_clusters(rng: np.random.Generator, data: Data, price: float) -> Clusters:
    """Return clusters of DP-means, the best of a few starts; their experts know nothing.

    Of many rows a part is asked, at a part of the price.
    """
    part = sample(rng, without_labels(data.rows), SAMPLE)
    problem = Problem(part, data.divergence, Weights(price * part.n / data.rows.n))
    firsts = [start(rng, part, data.divergence, problem.weights, part.n) for _ in range(STARTS)]
    runs = [descend_and_merge(problem, first, 30, 1e-3) for first in firsts]
    means = min(runs, key=lambda run: run.history[-1]).clusters.means
    return Clusters(means, np.zeros((len(means), data.rows.Y.shape[1], part.d + 1)))


def mean_divergence(data: Data, clusters: Clusters) -> float:
    """Return the mean divergence of the rows from their nearest means."""
    problem = Problem(without_labels(data.rows), data.divergence, Weights(0.0))
    bare = Clusters(clusters.means, clusters.eta[:, :0])
    return float(scan(problem, bare, np.full(data.rows.n, -1))[1].mean())


def teach(problem: Problem, clusters: Clusters, steps: int = POLISH) -> Clusters:
    """Return the clusters of the nearest rows, with experts for them: where Algorithm 1 begins.

    Experts that know nothing would let every row prefer a cluster of its own.
    """
    bare = Problem(without_labels(problem.rows), problem.divergence, problem.weights)
    z = scan(bare, Clusters(clusters.means, clusters.eta[:, :0]), np.full(problem.rows.n, -1))[0]
    used = np.flatnonzero(np.bincount(z, minlength=len(clusters)))
    clusters, z = clusters.keep(used), np.searchsorted(used, z)
    clusters.means = move_means(bare, Clusters(clusters.means, clusters.eta[:, :0]), z)
    move_experts(problem, clusters, z, steps, 1e-3, np.zeros(len(clusters), bool))
    return clusters


def purity(z: np.ndarray, codes: np.ndarray) -> float:
    """Return the share of rows that have the label of most rows of their cluster."""
    table = np.zeros((z.max() + 1, codes.max() + 1))
    np.add.at(table, (z, codes), 1.0)
    return float(table.max(axis=1).sum() / len(z))


def take(
    model: Any, data: Data, problem: Problem, state: State, rng: np.random.Generator, slope: bool
) -> None:
    """Let a model become what a descent has found."""
    w, means = problem.weights, state.clusters.means
    at_means = Clusters(means, state.clusters.eta[:, :0])
    mean = mean_divergence(data, at_means)
    precision = 0.5 * data.rows.d / mean if mean > 0 else 1.0
    soft = model.gating == "soft"
    found = find_slope(rng, problem, state, data.codes, precision, soft) if slope else 1.0
    model._labels, model._divergence = data.labels, data.divergence
    model._eta = state.clusters.eta
    model.cluster_means_ = means + data.divergence.centre
    model.cluster_sizes_ = np.bincount(state.z, minlength=len(means)).astype(float)
    model.labels_ = state.z
    model.objective_history_ = np.array(state.history)
    model.n_iter_ = len(state.history)
    model.lam_, model.s_, model.c_ = float(w.lam), float(w.s), float(w.c)
    model.gating_precision_, model.probability_slope_ = float(precision), found
    model.label_purity_ = purity(state.z, data.codes)


def warn_if_inert(model: Any) -> None:
    """Say it when every cluster holds one class, so that experts have nothing to say."""
    if model.label_purity_ >= PURE and model.n_clusters_ > 1 and len(model.classes_) > 1:
        warnings.warn(
            f"Clusters hold {model.label_purity_:.1%} rows of one class each, so the experts in "
            "them are inert: this is a classifier by the nearest mean. Raise s (the weight of the "
            "divergence) or lam, or lower c, if it should be more.",
            stacklevel=3,
        )
