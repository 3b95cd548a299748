"""What held-out rows say of the joint model of a regressor, and how it is corrected by that.

Rows are held out in folds: a smaller ensemble learns the others, and says what it thinks of them.
Its means, those of a second model and the cells are stacked to a better mean (`stacking`); then the
scale and the levels of the distribution around it are found (`calibration`). Every number
comes from rows that the models, and the stack, have not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.answers.filling import predictive_of
from infinimix.estimators.common.features import LinearFeatures
from infinimix.estimators.common.parameters import child_seed
from infinimix.estimators.common.state import layout_of
from infinimix.estimators.mixture.regression.answers import Range, mean_and_std
from infinimix.estimators.mixture.regression.calibration import (
    SAME,
    Levels,
    Outlook,
    find_scale,
)
from infinimix.estimators.mixture.regression.conditional import Students, TargetDensity
from infinimix.estimators.mixture.regression.second import Linked, Second
from infinimix.estimators.mixture.regression.stacking import Solved, Stack, find_stack
from infinimix.estimators.mixture.regression.target import decode_target, join_target
from infinimix.inference.ensemble.bank import Bank, Settings
from infinimix.tables import EncodedTable, Schema
from infinimix.tables.column import Column

FOLDS = 5
FEWEST = 10  # rows, below which nothing is corrected
MOST_FOLDED = 5000  # rows, above which one fold alone is held out
MOST_HELD_OUT = 4000
SHARE = 4  # the folds have one of so many islands of the model
SECOND_SHARE = 2  # the second model has one of so many islands and particles
WORTH = 0.99  # of the error without the second model: it must be less, as it costs time


class Joint(NamedTuple):
    """What is learned: a table, the target in the units of its transform, the joint schema."""

    table: EncodedTable
    t: np.ndarray
    schema: Schema

    def take(self, rows: np.ndarray) -> Joint:
        """Return some of the rows."""
        return Joint(self.table.take(rows), self.t[rows], self.schema)

    def blocks(self) -> Any:
        """Return what a bank learns."""
        return join_target(self.schema, self.table, self.t).blocks


class RegressionCorrection(NamedTuple):
    """What is done to the conditional distribution of the first model."""

    stack: Stack | None = None
    features: LinearFeatures | None = None
    second: Second | None = None
    scale: float = 1.0
    levels: Levels = SAME
    r2: float = float("nan")  # of held-out rows, in natural units

    def apply(self, conditional: TargetDensity, table: EncodedTable) -> Outlook:
        """Return the corrected distribution of rows."""
        mean = conditional.mean
        if self.stack is not None:
            means = [mean] if self.second is None else [mean, self.second.mean(table)]
            z = None if self.features is None else self.features.transform(table)
            mean = self.stack.mean(np.stack(means, axis=1), z)
        return Outlook(conditional, mean, self.scale, self.levels)


NEUTRAL = RegressionCorrection()


class LearningPlan(NamedTuple):
    """How the models are learned."""

    settings: Settings
    seed: np.random.SeedSequence
    run: Callable[..., Any]
    target: Column
    within: Range  # of the training values
    stacks: bool  # correct the mean, or the scale and the levels alone
    seconds: bool  # try a second model

    def fewer(self, share: int) -> Settings:
        """Return the settings of a smaller ensemble."""
        return self.settings._replace(n_islands=-(-self.settings.n_islands // share))

    @property
    def of_second(self) -> Settings:
        """The settings of the second model."""
        own = self.settings
        return own._replace(
            prior="learn", sweeps=0, window=0, n_islands=-(-own.n_islands // SECOND_SHARE),
            n_particles=-(-own.n_particles // SECOND_SHARE),
        )  # fmt: skip


def correct(joint: Joint, plan: LearningPlan) -> RegressionCorrection:
    """Return the correction that a table calls for."""
    n = len(joint.t)
    if n < FEWEST or not joint.t.std() > 0.0:
        return NEUTRAL
    linked = Linked.find(joint.table, joint.t) if plan.stacks and plan.seconds else None
    held, parts, others = hold_out(joint, linked, plan)
    rows = np.concatenate(held)
    table, t = joint.table.take(rows), joint.t[rows]
    means = np.concatenate([part.mean for part in parts])
    features, second = None, None
    if plan.stacks:
        features = LinearFeatures.learn(joint.table)
        solved, second = _stack(means, others, features.transform(table), joint, linked, plan, t)
        stack, left_out = solved
        features = features if stack.coefficients.size else None
    else:
        stack, left_out = None, means
    ends = np.cumsum([len(h) for h in held])[:-1]
    split_t, split_mean = np.split(t, ends), np.split(left_out, ends)
    scale = find_scale(parts, split_mean, split_t)
    outlooks = [Outlook(part, m, scale) for part, m in zip(parts, split_mean, strict=True)]
    found = [outlook.cdf(at) for outlook, at in zip(outlooks, split_t, strict=True)]
    levels = Levels.learn(np.concatenate(found))
    r2 = _held_out_r2([replace(o, levels=levels) for o in outlooks], t, plan)
    return RegressionCorrection(stack, features, second, scale, levels, r2)


def _held_out_r2(outlooks: list[Outlook], t: np.ndarray, plan: LearningPlan) -> float:
    """Return the share of the variance of held-out rows that is predicted, in natural units."""
    y = decode_target(plan.target, t)
    mean = np.concatenate([mean_and_std(o, plan.target, plan.within)[0] for o in outlooks])
    return float(1.0 - ((y - mean) ** 2).mean() / y.var())


def _stack(
    means: np.ndarray, others: np.ndarray | None, z: np.ndarray, joint: Joint,
    linked: Linked | None, plan: LearningPlan, t: np.ndarray,
) -> tuple[Solved, Second | None]:  # fmt: skip
    """Return the stack, and the second model if it is worth its time."""
    found = find_stack(means[:, None], z, t)
    if linked is None or others is None:
        return found, None
    both = find_stack(np.stack([means, others], axis=1), z, t)
    if both.error(t) > WORTH * found.error(t):
        return found, None
    seed = child_seed(plan.seed, 2**32 - 9)
    second = Second.learn(linked, joint.table, joint.t, plan.of_second, seed, plan.run)
    return both, second


def hold_out(
    joint: Joint, linked: Linked | None, plan: LearningPlan
) -> tuple[list[np.ndarray], list[TargetDensity], np.ndarray | None]:
    """Return rows that were held out by folds, what their models say, and second means."""
    n = len(joint.t)
    rng = np.random.default_rng(child_seed(plan.seed, 2**32 - 8))
    folds = rng.permutation(n) % min(FOLDS, n)
    held, parts, others = [], [], []
    for k in range(min(FOLDS, n) if n <= MOST_FOLDED else 1):
        rows, learned = np.flatnonzero(folds == k), joint.take(np.flatnonzero(folds != k))
        rows = rows[:MOST_HELD_OUT]
        seed = child_seed(plan.seed, 2**32 - 8, k)
        bank = Bank(plan.fewer(SHARE), layout_of(joint.schema), seed)
        plan.run(bank.fit, learned.blocks(), np.zeros(len(learned.t), np.int64), 1)
        mixture, test = predictive_of(bank), joint.table.take(rows)
        students = Students.of(mixture, joint.schema)
        blocks = join_target(joint.schema, test, None).blocks
        held.append(rows)
        parts.append(TargetDensity.given(students, mixture, blocks))
        if linked is not None:
            settings = plan.of_second._replace(n_islands=plan.fewer(SHARE).n_islands)
            second = Second.learn(
                linked, learned.table, learned.t, settings, child_seed(seed, 1), plan.run
            )
            others.append(second.mean(test))
    return held, parts, np.concatenate(others) if others else None
