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

With fewer than FEW_LABELS labelled rows the power of each of M models is 1 / M at most: a few
held-out rows are often all classified correctly by chance, and any larger power then fits better.
If, moreover, some class has no held-out row (one of two rows has none, see `Island.fit`), only the
power is found: offsets and coefficients would learn that this class never occurs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infinimix.estimators.aclass.calibration import calibrate
from infinimix.estimators.aclass.choices import STRENGTHS, compare, weigh
from infinimix.estimators.aclass.stacking import (
    LARGEST,
    HeldOut,
    Weights,
    cross_validate,
    relative,
    solve,
)
from infinimix.estimators.aclass.tree_models import Scored, TreeModels, add_boosted, learn_forest
from infinimix.estimators.common.features import LinearFeatures
from infinimix.estimators.common.joint_numbers import PILOT_ROWS, JointNumbers
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import child_seed
from infinimix.estimators.common.weights import Weighting
from infinimix.tables import EncodedTable

FEW_LABELS = 40  # fewer labelled rows cannot show that a power above 1 is more than luck
LITTLE = 3.0  # nats over all rows: a forest that costs more than that brings nothing

Second = tuple[JointNumbers, np.ndarray, np.ndarray]  # the model, rows it held out, log densities


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
    up = _most_above(learned)
    return Correction(*calibrate(learned.log_density, codes, log_prior, weight, up))


def correct(
    learned: Learned,
    learn_second: Callable[[bool], Second | None] | None,
    gamma: float,
    seed: np.random.SeedSequence,
    weighting: Weighting | None = None,
    with_trees: bool = True,
    with_offsets: bool = True,
) -> Correction:
    """Return the correction that the held-out rows of `fit` call for.

    `learn_second` learns the second model, or a pilot of it if it is told so; None: there is none.
    Without offsets the number of missing cells of a row says nothing of its class.
    """
    rng, forest = np.random.default_rng(child_seed(seed, 2**32 - 8)), None
    if with_trees and len(learned.held_out):
        n_classes = learned.bank.n_classes if learned.is_sample else 0
        forest = learn_forest(learned.table, learned.codes, learned.held_out, rng, n_classes)
    priors, second = Priors(gamma, weighting, with_offsets), None
    if learn_second is not None:
        folds = np.random.default_rng(child_seed(seed, 2**32 - 9)).integers(2**63)
        second = _find_second(learned, learn_second, forest, priors, int(folds))
    held_out, features, rows = _held_out(learned, second, priors)
    if len(held_out) == 0:
        return NEUTRAL
    if _are_few(learned) and len(np.unique(rows.codes)) < learned.bank.n_classes:
        return find_power(learned, gamma, weighting)
    trees = None
    if forest is not None:
        trees, ratios = _choose_trees(forest, held_out, rows, rng)
        rows = rows.with_models(ratios)
    rng = np.random.default_rng(child_seed(seed, 2**32 - 6))
    found = find_correction(rows, features, rng, 0 if trees is None else trees.n_models)
    if found.tree_powers is not None:
        found = found._replace(trees=trees)
    return found._replace(joint=second[0]) if second and found.joint_power else found


class Priors(NamedTuple):
    """What log P(y), and the offsets beside it, depend on but for the rows."""

    gamma: float
    weighting: Weighting | None
    offsets: bool


def _held_out(
    learned: Learned, second: Second | None, priors: Priors
) -> tuple[np.ndarray, LinearFeatures, HeldOut]:
    """Return the rows that all models held out, by their places and as they are stacked."""
    held_out, log_density = learned.held_out, learned.log_density[None]
    if second is not None:
        _, others, log_joint = second
        held_out, mine, its = np.intersect1d(held_out, others, return_indices=True)
        log_density = np.stack([learned.log_density[mine], log_joint[its]])
    table, codes = learned.table.take(held_out), learned.codes[held_out]
    features, weighting = LinearFeatures.learn(table), priors.weighting
    rows = HeldOut(
        relative(log_density), _log_priors(codes, learned.bank.n_classes, *priors[:2]),
        observed_share(table) * priors.offsets, features.transform(table), codes,
        None if weighting is None else weighting.rows[held_out], _most_above(learned),
    )  # fmt: skip
    return held_out, features, rows


def _are_few(learned: Learned) -> bool:
    """Return whether the labelled rows are too few to be trusted without limits."""
    return int((learned.codes >= 0).sum()) < FEW_LABELS


def _most_above(learned: Learned) -> float:
    """Return how far the log of a power may be above where its prior has it."""
    return 0.0 if _are_few(learned) else LARGEST


def _find_second(
    learned: Learned,
    learn_second: Callable[[bool], Second | None],
    forest: Scored | None,
    priors: Priors,
    folds: int,
) -> Second | None:
    """Return the second model; None if there is none, or its pilot would have no weight.

    A pilot is weighed like the model, by its held-out rows and beside the forest. A small table has
    none: it would save little time there, and too few rows would decide.
    """
    if len(learned.codes) <= PILOT_ROWS:
        return learn_second(False)
    pilot = learn_second(True)
    if pilot is None:
        return None
    held_out, _, rows = _held_out(learned, pilot, priors)
    if forest is not None:
        rows = rows.with_models(forest.log_ratios[:, np.searchsorted(forest.rows, held_out)])
    if len(held_out):
        found = compare(rows, int(forest is not None), folds)
        share = weigh(found.losses, rows.weights.sum(), found.views)
        if not share[[view.joint for view in found.views]].any():
            return None
    return learn_second(False)


def _choose_trees(
    forest: Scored, held_out: np.ndarray, rows: HeldOut, rng: np.random.Generator
) -> tuple[TreeModels | None, np.ndarray]:
    """Return trees and their ratios for the held-out rows; none if a forest brings nothing."""
    at = np.searchsorted(forest.rows, held_out)
    folds = int(rng.integers(2**63))
    without, beside = (
        cross_validate(view, STRENGTHS[:1], np.random.default_rng(folds))[0]
        for view in (rows, rows.with_models(forest.log_ratios[:, at]))
    )
    if (beside - without) * rows.weights.sum() > LITTLE:
        return None, np.empty((0, *rows.log_prior.shape))
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
    n_models = len(rows.log_density)
    is_joint = n_models - n_trees == 2
    choices = compare(rows, n_trees, int(rng.integers(2**63)))
    share = weigh(choices.losses, rows.weights.sum(), choices.views)
    powers, offsets, coefficients = np.zeros(n_models), np.zeros(rows.log_prior.shape[1]), None
    for models, parts in zip(choices.models, share, strict=True):
        weights: Weights | None = None
        view = rows.only(models)
        for part, strength in zip(parts.tolist(), choices.strengths, strict=True):
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
        float(powers[0]), float(share[share > 0] @ choices.losses[share > 0]), offsets,
        None if coefficients is None else features, coefficients,
        joint_power=float(powers[1]) if is_joint else 0.0,
        tree_powers=tree_powers if tree_powers.any() else None,
    )  # fmt: skip
