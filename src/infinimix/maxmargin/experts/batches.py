"""Mini-batches: clusters remember counts, means and the normal equations of their experts.

A row joins the cluster of least cost, or opens one if that pays, as in a pass of `fit`. Means are
running means. Of its expert a cluster remembers the IRLS equations (A, v) of all its rows, each at
the weight it had when it came; a batch adds its own, and the expert solves (A + I / nu^2) eta = v.
Nothing is closed, and no row is looked at twice, so this is no descent of the objective of all
rows; memory is flat.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.common.labels import check_lengths
from infinimix.maxmargin.descent.algorithm import open_clusters
from infinimix.maxmargin.descent.passes import scan
from infinimix.maxmargin.experts.training import TrainingData, find_purity, of_given_rows
from infinimix.maxmargin.loops.assignment import add_up, group
from infinimix.maxmargin.loops.expert import add_equations
from infinimix.maxmargin.objective.divergences import Divergence, check_rows
from infinimix.maxmargin.objective.hinges import LossWeights
from infinimix.maxmargin.objective.problem import Clusters, MarginProblem
from infinimix.maxmargin.objective.rows import FeatureRows, make_rows, signs
from infinimix.maxmargin.reading import GivenRows, read_more, weigh_batch, weigh_classes
from infinimix.maxmargin.states import ExpertsState, MaxMarginState

MOST = 8_000_000  # numbers in the normal equations of all experts


class Batch(NamedTuple):
    """More rows of a fitted model."""

    rows: FeatureRows
    codes: np.ndarray  # of the sorted labels
    given: GivenRows | None = None  # of the user, if weights have left out or repeated some


def remember(state: ExpertsState, data: TrainingData, w: LossWeights) -> MaxMarginState:
    """Return a state with what mini-batches need: the equations if there are any, not too many."""
    K, C, p = state.eta.shape
    none = w.is_joint(C) or K * C * p * (p + 1) > MOST
    equations = np.zeros((K, C, p, 0 if none else p + 1))
    clusters = state.clusters
    n, _ = _sums(data.rows, clusters, state.z)
    if not none:
        _add_rows(equations, state.divergence, data.rows, clusters, state.z, w)
    return MaxMarginState(**vars(state), cells=n, equations=equations)


def _sums(rows: FeatureRows, clusters: Clusters, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight of the cells of each cluster in each column, and their sums."""
    n, total = np.zeros((2, *clusters.means.shape))
    add_up(rows.F, rows.weight, z, rows.d, n, total)
    return n, total


def _add_rows(
    equations: np.ndarray, divergence: Divergence, rows: FeatureRows, clusters: Clusters,
    z: np.ndarray, w: LossWeights,
) -> None:  # fmt: skip
    """Add the IRLS equations of rows to those of their clusters, in place."""
    order, start = group(z, len(clusters))
    add_equations(
        rows.F, rows.Y, w.c * rows.weight, order, start, divergence.centre, clusters.means,
        clusters.eta, w.margin, equations,
    )  # fmt: skip
    if not w.constant:  # the bias has no equation, and stays at zero
        equations[:, :, -1] = 0.0
        equations[..., rows.d] = 0.0


def read_batch(
    model: Any, state: MaxMarginState, X: Any, y: Any, sample_weight: Any = None
) -> Batch:
    """Check and encode more rows and their labels, which must be known."""
    X = read_more(model, X)
    check_rows(state.divergence, X)
    X, y, weight, given = weigh_batch(X, y, sample_weight)
    codes, new = state.labels.read(y)
    check_lengths(len(X), len(codes))
    if new:
        raise ValueError(
            f"y has the label {new[0]!r}, which is none of the classes "
            f"{state.labels.classes.tolist()!r}; name all in the first call of partial_fit."
        )
    if not state.equations.shape[-1]:
        if model.multi_class == "crammer-singer" and state.eta.shape[1] > 1:
            raise ValueError(
                "Experts with multi_class='crammer-singer' take no further mini-batches; "
                "fit all rows at once, or use multi_class='one-vs-rest'."
            )
        raise ValueError(
            f"The experts are too many for mini-batches: {state.eta.shape[0]} clusters, "
            f"{state.eta.shape[1]} outputs and {X.shape[1]} columns."
        )
    weight = weigh_classes(model, state.labels, codes, weight)
    codes = np.argsort(state.labels.order)[codes]
    rows = make_rows(X, state.divergence, signs(codes, len(state.labels.values)), weight)
    return Batch(rows, codes, given)


def learn_batch(state: MaxMarginState, batch: Batch, w: LossWeights) -> MaxMarginState:
    """Return the state after more rows; its equations grow in place, when all else is done."""
    rows, divergence = batch.rows, state.divergence
    problem = MarginProblem(rows, divergence, w)
    clusters = state.clusters
    found = scan(problem, clusters)
    z, opening = found.z, problem.opening_costs(problem.squares())
    clusters = open_clusters(problem, clusters, found, opening)
    cells, sizes, equations = (
        _widen(own, len(clusters)) for own in (state.cells, state.sizes, state.equations)
    )
    n, total = _sums(rows, clusters, z)
    cells = cells + n
    means = clusters.means + (total - n * clusters.means) / np.where(cells > 0, cells, 1.0)
    joined = np.bincount(z, rows.weight, minlength=len(clusters))
    touched, eta = np.flatnonzero(joined), clusters.eta.copy()
    grown, place = equations[touched], np.searchsorted(touched, z)
    _add_rows(grown, divergence, rows, clusters.keep(touched), place, w)
    eta[touched] = _solve(grown, w.ridge)
    after = replace(
        state,
        means=divergence.bound(means) + divergence.centre,
        sizes=sizes + joined,
        z=z,
        purity=find_purity(z, batch.codes, rows.weight),
        eta=eta,
        cells=cells,
        equations=equations,
    )
    after = replace(after, z=of_given_rows(after, batch.given))
    equations[touched] = grown
    return after


def _widen(array: np.ndarray, K: int) -> np.ndarray:
    """Return an array with zeros for new clusters, or the same if there are none."""
    more = K - len(array)
    return np.concatenate([array, np.zeros((more, *array.shape[1:]))]) if more else array


def _solve(equations: np.ndarray, ridge: float) -> np.ndarray:
    """Return the experts of normal equations."""
    p = equations.shape[2]
    A, v = equations[..., :p], equations[..., p]
    return np.linalg.solve(A + ridge * np.eye(p), v[..., None])[..., 0]
