"""From a table with labels to a fitted state: weights from the data, starts, and what is kept.

The scale of the divergence decides what the parameters mean. Under "auto", `lam` is s times the
penalty that `DPMeans` finds, and `s` makes the mean divergence of those clusters cost STRENGTH
times as much as the hinges of an expert that is zero: cheap divergences let clusters follow labels
instead of places, until each holds one class and its expert has nothing left to decide.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import Labels
from infinimix.maxmargin.descent.algorithm import POLISH, Iterate, move_means
from infinimix.maxmargin.descent.merging import descend_and_merge
from infinimix.maxmargin.descent.passes import move_experts, scan
from infinimix.maxmargin.descent.starts import SAMPLE, find_penalty, sample, start
from infinimix.maxmargin.experts.calibration import find_slope
from infinimix.maxmargin.experts.gating import Gate
from infinimix.maxmargin.objective.divergences import Divergence, find_divergence
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem, nearest_means
from infinimix.maxmargin.objective.rows import FeatureRows, make_rows, signs
from infinimix.maxmargin.reading import GivenRows, read_labelled
from infinimix.maxmargin.states import ExpertsState

STRENGTH = 3.0
STARTS = 3
PURE = 0.99  # share of the largest class in its cluster from which on experts are inert


class TrainingData(NamedTuple):
    """A table with labels, as the descent takes it."""

    rows: FeatureRows
    codes: np.ndarray  # of the sorted labels
    labels: Labels
    divergence: Divergence
    names: np.ndarray | None = None  # of the columns
    given: GivenRows | None = None  # of the user, if weights have left out or repeated some


def read_data(
    model: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
) -> TrainingData:
    """Check and encode a table and its labels for the divergence of a model."""
    table = read_labelled(model, X, y, classes, sample_weight)
    divergence = find_divergence(model.divergence, table.X, weight=table.weight)
    Y = signs(table.codes, len(table.labels.values))
    rows = make_rows(table.X, divergence, Y, table.weight)
    return TrainingData(rows, table.codes, table.labels, divergence, table.names, table.given)


def of_given_rows(state: ExpertsState, given: GivenRows | None) -> np.ndarray:
    """Return the cluster of each row of the user."""
    if given is None:
        return state.z
    return given.spread(state.z, lambda X: nearest_means(X, state.divergence, state.means))


def find_scales(
    rng: np.random.Generator, data: TrainingData, w: LossWeights, at_once: bool = False
) -> tuple[LossWeights, Clusters]:
    """Return weights with lam and s from the scale of the data, and the clusters of DP-means.

    `at_once` if single rows open clusters at once.
    """
    lam = find_penalty(rng, data.rows, data.divergence, at_once)
    clusters = plain_clusters(rng, data, lam)
    mean = mean_divergence(data, clusters)
    s = STRENGTH * w.hinges_of_zero(data.rows.Y.shape[1]) / mean if mean > 0 else 1.0
    return w._replace(lam=s * lam, s=s), clusters


def plain_clusters(rng: np.random.Generator, data: TrainingData, lam: float) -> Clusters:
    """Return clusters of DP-means, the best of a few starts; their experts are zero.

    Of many rows a part is asked, at a part of the penalty.
    """
    part = sample(rng, data.rows.without_labels(), SAMPLE)
    problem = MarginProblem(part, data.divergence, LossWeights(lam * part.total / data.rows.total))
    firsts = [start(rng, part, data.divergence, problem.weights, part.n) for _ in range(STARTS)]
    runs = [descend_and_merge(problem, first, 30, 1e-3) for first in firsts]
    means = min(runs, key=lambda run: run.history[-1]).clusters.means
    return Clusters(means, np.zeros((len(means), data.rows.Y.shape[1], part.d + 1)))


def mean_divergence(data: TrainingData, clusters: Clusters) -> float:
    """Return the mean divergence of the rows from their nearest means."""
    problem = MarginProblem(data.rows.without_labels(), data.divergence, LossWeights(0.0))
    return float(scan(problem, clusters.without_experts()).cost.sum() / data.rows.total)


def fit_experts(problem: MarginProblem, clusters: Clusters, steps: int = POLISH) -> Clusters:
    """Return the clusters of the nearest rows, with experts for them: where Algorithm 1 begins.

    Experts that are zero would let every row prefer a cluster of its own.
    """
    plain = MarginProblem(problem.rows.without_labels(), problem.divergence, problem.weights)
    z = scan(plain, clusters.without_experts()).z
    used = np.flatnonzero(np.bincount(z, minlength=len(clusters)))
    clusters, z = clusters.keep(used), np.searchsorted(used, z)
    clusters.means = move_means(plain, clusters.without_experts(), z)
    move_experts(problem, clusters, z, steps, 1e-3, np.zeros(len(clusters), bool))
    return clusters


def find_gate(data: TrainingData, now: Iterate, soft: bool) -> Gate:
    """Return how the experts of a descent are asked, with the precision of its rows."""
    mean = mean_divergence(data, now.clusters)
    precision = 0.5 * data.rows.d / mean if mean > 0 else 1.0
    sizes = np.bincount(now.z, data.rows.weight, minlength=len(now.clusters))
    return Gate(data.divergence, now.clusters, sizes, float(precision), soft)


def find_purity(z: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> float:
    """Return the share of rows, by weight, that have the most frequent label of their cluster."""
    K, L = int(z.max()) + 1, int(codes.max()) + 1
    counts = np.bincount(z * L + codes, weight, minlength=K * L).reshape(K, L)
    return float(counts.max(axis=1).sum() / weight.sum())


def make_state(
    model: Any, data: TrainingData, problem: MarginProblem, now: Iterate, rng: np.random.Generator
) -> ExpertsState:
    """Return what a descent has found, with the slope of its probabilities."""
    w, gate = problem.weights, find_gate(data, now, model.gating == "soft")
    return ExpertsState(
        names=data.names,
        labels=data.labels,
        divergence=data.divergence,
        soft=gate.soft,
        means=now.clusters.means + data.divergence.centre,
        sizes=gate.sizes,
        z=now.z,
        history=np.array(now.history),
        lam=float(w.lam),
        s=float(w.s),
        c=float(w.c),
        purity=find_purity(now.z, data.codes, data.rows.weight),
        precision=gate.precision,
        slope=find_slope(rng, problem, now, data.codes, gate) if model.calibrate else 1.0,
        eta=now.clusters.eta,
    )


def warn_if_inert(state: ExpertsState) -> None:
    """Warn if every cluster holds one class, so that experts have nothing to decide."""
    if state.purity >= PURE and len(state.means) > 1 and len(state.labels.values) > 1:
        warnings.warn(
            f"Clusters hold {state.purity:.1%} rows of one class each, so the experts in "
            "them are inert: this is a classifier by the nearest mean. Raise s (the weight of the "
            "divergence) or lam, or lower c, if it should be more.",
            stacklevel=3,
        )
