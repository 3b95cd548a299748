"""A correction of what the mixtures get wrong, found on held-out rows.

    log P(y | x) = log P(y) + a log p(x | y) + a' log p'(x | y) + o(x) b_y + z . B_y

(unnormalised). z are the cells as numbers (`features`), and o(x) is the share of cells that are
observed: a row without cells has P(y) as before. The mixtures take the columns of a group as
independent; where they are not, the densities of classes differ by too much (then a < 1), a class
is favoured (b), or a column counts too much or too little (B). p' is a second model of the numbers,
if they go together (`numbers`). This is the AClass paper's hybrid of generative and discriminative
learning, inside the classifier.

The log densities are those of rows that the mixtures had not learned yet (`Island.fit`), so the
correction sees errors as large as on new rows. The strength of the ridge of B is one of STRENGTHS;
an infinite one, for which B = 0, is always among them. Strengths, with and without the second
model, are weighted by their cross-validated loss on the held-out rows, and the parameters averaged:
with many rows one choice has all the weight, with few rows choosing one would be luck.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.estimators.aclass.calibration import calibrate
from infinimix.estimators.aclass.stacking import (
    FEW,
    HeldOut,
    cross_validate,
    relative,
    solve,
)
from infinimix.estimators.common.features import LinearFeatures
from infinimix.estimators.common.joint_numbers import JointNumbers
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import child_seed
from infinimix.estimators.common.weights import Weighting
from infinimix.tables import EncodedTable

STRENGTHS = (np.inf, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
STRENGTHS_OF_FEW = (np.inf, 100.0, 30.0, 10.0, 3.0)  # few rows never call for a weaker ridge
TEMPERATURE = 4.0  # of the weights of strengths: those of few rows are averaged, not chosen
NEGLIGIBLE = 1e-3  # weight of a choice
JOINT_ODDS = 0.2  # of a second model, before any row: it costs time, and few rows cannot tell
LEAST_JOINT = 0.2  # weight of the second model, below which it is not worth its time
MOST_COEFFICIENTS = 20_000  # more are not worth their time: there is no linear part then

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

    def log_classes(self, log_density: np.ndarray, table: EncodedTable) -> np.ndarray:
        """Return log P(y | x) - log P(y), unnormalised, given the log densities of the bank.

        Classes that came after `fit` have the powers, but no offset and no coefficients.
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
) -> Correction:
    """Return the correction that the held-out rows of `fit` call for."""
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
        observed_share(table), features.transform(table), codes,
        None if weighting is None else weighting.rows[held_out],
    )  # fmt: skip
    found = find_correction(rows, features, np.random.default_rng(child_seed(seed, 2**32 - 6)))
    return found._replace(joint=joint) if found.joint_power else found


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
    rows: HeldOut, features: LinearFeatures, rng: np.random.Generator
) -> Correction:
    """Return the correction that held-out rows call for; it has no second model yet."""
    strengths: tuple[float, ...] = STRENGTHS_OF_FEW if len(rows.codes) <= FEW else STRENGTHS
    if features.width * rows.log_density.shape[2] > MOST_COEFFICIENTS:
        strengths = STRENGTHS[:1]
    views = [rows] if len(rows.log_density) == 1 else [rows.first(), rows]
    folds = int(rng.integers(2**63))  # the same for all, so that losses can be compared
    losses = np.stack(
        [cross_validate(view, strengths, np.random.default_rng(folds)) for view in views]
    )
    share = weigh(losses, rows.weights.sum())
    found = [
        (part, solve(view, strength))
        for view, parts in zip(views, share.tolist(), strict=True)
        for part, strength in zip(parts, strengths, strict=True)
        if part
    ]
    powers = sum(part * _both(np.exp(weights.log_powers)) for part, weights in found)
    offsets = sum(part * weights.offsets for part, weights in found)
    linear = [part * w.coefficients for part, w in found if w.coefficients.size]
    return Correction(
        float(powers[0]), float(share[share > 0] @ losses[share > 0]), offsets,
        features if linear else None, sum(linear) if linear else None,
        joint_power=float(powers[1]),
    )  # fmt: skip


def weigh(losses: np.ndarray, n: float) -> np.ndarray:
    """Return the weight of each choice, by its mean loss of n rows: (models, strengths)."""
    share = np.exp(-n * (losses - losses.min()) / TEMPERATURE)
    share[1:] *= JOINT_ODDS
    share /= share.sum()
    share[share <= NEGLIGIBLE] = 0.0
    if len(share) == 2 and share[1].sum() < LEAST_JOINT * share.sum():
        share[1] = 0.0
    return np.asarray(share / share.sum())


def _both(powers: np.ndarray) -> np.ndarray:
    """Return the powers of both models; one that is not there has none."""
    return np.append(powers, np.zeros(2 - len(powers)))
