"""A correction of what the mixtures get wrong, found on held-out rows.

    log P(y | x) = log P(y) + a log p(x | y) + a' log p'(x | y) + sum_t a_t r_t(y, x)
                   + o(x) b_y + z . B_y

(unnormalised). z are the cells as numbers (`features`), and o(x) is the share of cells that are
observed: a row without cells has P(y) as before (with `holes="ignore"` there is no b, which would
learn the classes whose cells are missing). The mixtures take the columns of a group as
independent; where they are not, the densities of classes differ by too much (then a < 1), a class
is favoured (b), or a column counts too much or too little (B). p' is a second model of the numbers,
if they go together (`joint_numbers`), and r_t are the log probability ratios of a forest and of
boosted trees (`tree_models`), for what depends on several columns at once. This is the AClass
paper's hybrid of generative and discriminative learning, inside the classifier.

The log densities are those of rows that the mixtures had not learned yet (`Island.fit`), and so are
the ratios of trees; the correction sees errors as large as on new rows. The strength of the ridge
of B is one of STRENGTHS; an infinite one, for which B = 0, is always among them. Strengths, with
and without the second model and the trees, are weighted by their cross-validated loss on the
held-out rows, and the parameters averaged: with many rows one choice has all the weight, with few
rows choosing one would be luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from infinimix.estimators.aclass.calibration import calibrate
from infinimix.estimators.aclass.stacking import (
    FEW,
    HOPELESS,
    HeldOut,
    Weights,
    cross_validate,
    relative,
    solve,
)
from infinimix.estimators.aclass.tree_models import TreeModels, add_boosted, learn_forest
from infinimix.estimators.common.features import LinearFeatures
from infinimix.estimators.common.joint_numbers import JointNumbers
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import child_seed
from infinimix.estimators.common.weights import Weighting
from infinimix.tables import EncodedTable

STRENGTHS = (np.inf, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
STRENGTHS_OF_FEW = (np.inf, 100.0, 30.0, 10.0, 3.0)  # few rows never call for a weaker ridge
STRENGTHS_OF_TREES = (np.inf, 100.0, 10.0)  # beside trees, of which a line is a small part
TEMPERATURE = 4.0  # of the weights of strengths: those of few rows are averaged, not chosen
NEGLIGIBLE = 1e-3  # weight of a choice
JOINT_ODDS = 0.2  # of a second model, before any row: it costs time, and few rows cannot tell
LEAST_SHARE = 0.2  # weight of the second model or of trees, below which they are not worth it
LITTLE = 3.0  # nats over all rows: a forest that costs more than that brings nothing
MOST_COEFFICIENTS = 20_000  # more are not worth their time: there is no linear part then

Second = tuple[JointNumbers, np.ndarray, np.ndarray]  # the model, rows it held out, log densities


class View(NamedTuple):
    """Which models a choice stacks beside the first one."""

    joint: bool = False
    trees: bool = False


class Correction(NamedTuple):
    """What is added to the log densities of the classes, in the order of the bank."""

    power: float = 1.0
    loss: float = float("nan")  # mean log-loss of held-out rows, corrected by the other folds
    offsets: np.ndarray | None = None  # (C,)
    features: LinearFeatures | None = None
    coefficients: np.ndarray | None = None  # (features, C)
    joint: JointNumbers | None = None
    joint_power: float = 0.0
    trees: TreeModels | None = None
    tree_powers: np.ndarray | None = None  # (ensembles,)

    def log_classes(self, log_density: np.ndarray, table: EncodedTable) -> np.ndarray:
        """Return log P(y | x) - log P(y), unnormalised, given the log densities of the bank.

        Classes that came after `fit` have the powers of densities, but no offset, no coefficients,
        and a ratio of 1 by the trees.
        """
        if self.offsets is None:
            return self.power * log_density
        out = self.power * log_density
        known = len(self.offsets)
        out[:, :known] += observed_share(table)[:, None] * self.offsets
        if self.features is not None:
            out[:, :known] += self.features.transform(table) @ self.coefficients
        if self.joint is not None:
            out += self.joint_power * self.joint.log_densities(table)
        if self.trees is not None and self.tree_powers is not None:
            out[:, :known] += np.tensordot(self.tree_powers, self.trees.log_ratios(table), 1)
        return np.asarray(out)


NEUTRAL = Correction()


def observed_share(table: EncodedTable) -> np.ndarray:
    """Return which share of its cells each row has."""
    return np.asarray(1.0 - table.holes().mean(axis=1))


def find_power(learned: Learned, gamma: float, weighting: Weighting | None = None) -> Correction:
    """Return the power of the likelihood that the held-out rows of `fit` call for."""
    codes = learned.codes[learned.held_out]
    if len(codes) == 0:
        return NEUTRAL
    log_prior = _log_priors(codes, learned.bank.n_classes, gamma, weighting)
    weight = None if weighting is None else weighting.rows[learned.held_out]
    return Correction(*calibrate(learned.log_density, codes, log_prior, weight))


def correct(
    learned: Learned,
    second: Second | None,
    gamma: float,
    seed: np.random.SeedSequence,
    weighting: Weighting | None = None,
    with_trees: bool = True,
    with_offsets: bool = True,
) -> Correction:
    """Return the correction that the held-out rows of `fit` call for.

    Without offsets the number of missing cells of a row says nothing of its class.
    """
    held_out, log_density = learned.held_out, learned.log_density[None]
    if second is not None:
        joint, others, log_joint = second
        held_out, mine, its = np.intersect1d(held_out, others, return_indices=True)
        log_density = np.stack([learned.log_density[mine], log_joint[its]])
    if len(held_out) == 0:
        return NEUTRAL
    table, codes = learned.table.take(held_out), learned.codes[held_out]
    features = LinearFeatures.learn(table)
    rows = HeldOut(
        relative(log_density), _log_priors(codes, learned.bank.n_classes, gamma, weighting),
        observed_share(table) * with_offsets, features.transform(table), codes,
        None if weighting is None else weighting.rows[held_out],
    )  # fmt: skip
    rng = np.random.default_rng(child_seed(seed, 2**32 - 6))
    trees = None
    if with_trees:
        trees, ratios = _learn_trees(learned, held_out, rows, child_seed(seed, 2**32 - 8))
        rows = rows.with_models(ratios)
    found = find_correction(rows, features, rng, 0 if trees is None else trees.n_models)
    if found.tree_powers is not None:
        found = found._replace(trees=trees)
    return found._replace(joint=joint) if found.joint_power else found


def _learn_trees(
    learned: Learned, held_out: np.ndarray, rows: HeldOut, seed: np.random.SeedSequence
) -> tuple[TreeModels | None, np.ndarray]:
    """Return trees and their ratios for the held-out rows; none if a forest brings nothing."""
    nothing = None, np.empty((0, *rows.log_prior.shape))
    rng = np.random.default_rng(seed)
    forest = learn_forest(learned.table, learned.codes, held_out, rng)
    if forest is None:
        return nothing
    at = np.searchsorted(forest.rows, held_out)
    folds = int(rng.integers(2**63))
    without, beside = (
        cross_validate(view, STRENGTHS[:1], np.random.default_rng(folds))[0]
        for view in (rows, rows.with_models(forest.log_ratios[:, at]))
    )
    if (beside - without) * rows.weights.sum() > LITTLE:
        return nothing
    found = add_boosted(forest, rng)
    return found.models, found.log_ratios[:, at]


def _log_priors(
    codes: np.ndarray, n_classes: int, gamma: float, weighting: Weighting | None = None
) -> np.ndarray:
    """Return P(y) for each row, of each class among the held-out rows without that row.

    Small classes are held out less, so P(y) is not that of all rows.
    """
    own = np.eye(n_classes)[codes]
    weight = own.sum(axis=0) - own + gamma
    if weighting is not None:
        weight = weight * weighting.classes
    return np.asarray(np.log(weight / weight.sum(axis=1, keepdims=True)))


def find_correction(
    rows: HeldOut, features: LinearFeatures, rng: np.random.Generator, n_trees: int = 0
) -> Correction:
    """Return the correction that held-out rows call for; it has no other models yet.

    The last `n_trees` models are ensembles of trees; the second one, if there is one more, is that
    of numbers that go together.
    """
    strengths: tuple[float, ...] = STRENGTHS_OF_FEW if len(rows.codes) <= FEW else STRENGTHS
    if features.width * rows.log_density.shape[2] > MOST_COEFFICIENTS:
        strengths = STRENGTHS[:1]
    n_models = len(rows.log_density)
    is_joint = n_models - n_trees == 2
    views = [
        View(j, t)
        for t in (False, True)[: 1 + bool(n_trees)]
        for j in (False, True)[: 1 + is_joint]
    ]
    which = [_models_of(view, n_models, n_trees) for view in views]
    losses = _losses(rows, views, which, strengths, int(rng.integers(2**63)))
    share = weigh(losses, rows.weights.sum(), views)
    powers, offsets, coefficients = np.zeros(n_models), np.zeros(rows.log_prior.shape[1]), None
    for models, parts in zip(which, share, strict=True):
        weights: Weights | None = None
        view = rows.only(models)
        for part, strength in zip(parts.tolist(), strengths, strict=True):
            if not part:
                continue
            weights = solve(view, strength, weights)
            powers[models] += part * np.exp(weights.log_powers)
            offsets += part * weights.offsets
            if weights.coefficients.size:
                more = part * weights.coefficients
                coefficients = more if coefficients is None else coefficients + more
    tree_powers = powers[n_models - n_trees :]
    return Correction(
        float(powers[0]), float(share[share > 0] @ losses[share > 0]), offsets,
        None if coefficients is None else features, coefficients,
        joint_power=float(powers[1]) if is_joint else 0.0,
        tree_powers=tree_powers if tree_powers.any() else None,
    )  # fmt: skip


def _models_of(view: View, n_models: int, n_trees: int) -> np.ndarray:
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
    for v, models in enumerate(which):
        view, rng = rows.only(models), np.random.default_rng(folds)
        losses[v, :1] = cross_validate(view, strengths[:1], rng)
    behind = (losses[:, 0] - losses[:, 0].min()) * rows.weights.sum()
    for v in np.flatnonzero(behind <= HOPELESS).tolist():
        view, rng = rows.only(which[v]), np.random.default_rng(folds)
        tried = [s in STRENGTHS_OF_TREES or not views[v].trees for s in strengths]
        losses[v, tried] = cross_validate(view, tuple(np.array(strengths)[tried].tolist()), rng)
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
