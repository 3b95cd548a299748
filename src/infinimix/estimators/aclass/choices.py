"""Which models the correction stacks, and how strong its ridge is: choices, and their losses.

A view is a set of models beside the first one; each is tried with ridges of several strengths, and
all choices are compared by their cross-validated loss on the same folds of held-out rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infinimix.estimators.aclass.stacking import FEW, HOPELESS, CrossValidation, HeldOut

STRENGTHS = (np.inf, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
STRENGTHS_OF_FEW = (np.inf, 100.0, 30.0, 10.0, 3.0)  # few rows never call for a weaker ridge
STRENGTHS_OF_TREES = (np.inf, 100.0, 10.0)  # beside trees, of which a line is a small part
TEMPERATURE = 4.0  # of the weights of strengths: those of few rows are averaged, not chosen
NEGLIGIBLE = 1e-3  # weight of a choice
JOINT_ODDS = 0.2  # of a second model, before any row: it costs time, and few rows cannot tell
LEAST_SHARE = 0.2  # weight of the second model or of trees, below which they are not worth it
MOST_COEFFICIENTS = 20_000  # more are not worth their time: there is no linear part then


class View(NamedTuple):
    """Which models a choice stacks beside the first one."""

    joint: bool = False
    trees: bool = False


class Choices(NamedTuple):
    """What was compared."""

    views: list[View]
    models: list[np.ndarray]  # of each view
    strengths: tuple[float, ...]
    losses: np.ndarray  # (views, strengths), infinite where it is not worth finding


def compare(rows: HeldOut, n_trees: int, folds: int) -> Choices:
    """Return the loss of each choice on held-out rows.

    The last `n_trees` models are ensembles of trees; the second one, if there is one more, is that
    of numbers that go together. `folds` is the seed of the folds.
    """
    strengths: tuple[float, ...] = STRENGTHS_OF_FEW if len(rows.codes) <= FEW else STRENGTHS
    if rows.features.shape[1] * rows.log_density.shape[2] > MOST_COEFFICIENTS:
        strengths = STRENGTHS[:1]
    n_models = len(rows.log_density)
    is_joint = n_models - n_trees == 2
    views = [
        View(j, t)
        for t in (False, True)[: 1 + bool(n_trees)]
        for j in (False, True)[: 1 + is_joint]
    ]
    which = [models_of(view, n_models, n_trees) for view in views]
    return Choices(views, which, strengths, _losses(rows, views, which, strengths, folds))


def models_of(view: View, n_models: int, n_trees: int) -> np.ndarray:
    """Return which of the models a view stacks."""
    first_tree = n_models - n_trees
    used = [True, *[view.joint] * (first_tree - 1), *[view.trees] * n_trees]
    return np.flatnonzero(used)


def _losses(
    rows: HeldOut,
    views: list[View],
    which: list[np.ndarray],
    strengths: tuple[float, ...],
    folds: int,
) -> np.ndarray:
    """Return the loss of each view and strength: infinite where it is not worth finding.

    Folds are the same for all, so that losses can be compared. Views that are far behind without a
    linear part are not followed.
    """
    losses = np.full((len(which), len(strengths)), np.inf)
    runs = [CrossValidation(rows.only(m), np.random.default_rng(folds)) for m in which]
    for v, run in enumerate(runs):
        losses[v, :1] = run.follow(strengths[:1])
    behind = (losses[:, 0] - losses[:, 0].min()) * rows.weights.sum()
    for v in np.flatnonzero(behind <= HOPELESS).tolist():
        tried = [s in STRENGTHS_OF_TREES or not views[v].trees for s in strengths]
        tried[0] = False  # it has been
        losses[v, tried] = runs[v].follow(tuple(np.array(strengths)[tried].tolist()))
    return losses


def weigh(
    losses: np.ndarray, n: float, views: Sequence[View] = (View(), View(joint=True))
) -> np.ndarray:
    """Return the weight of each choice, by its mean loss of n rows: (views, strengths)."""
    share = np.exp(-n * (losses - losses.min()) / TEMPERATURE)
    joint, trees = np.array(views[: len(losses)]).T
    share[joint] *= JOINT_ODDS
    share /= share.sum()
    share[share <= NEGLIGIBLE] = 0.0
    for used in (joint, trees):
        if share[used].sum() < LEAST_SHARE * share.sum():
            share[used] = 0.0
    return np.asarray(share / share.sum())
