"""Stack log densities and linear features by regression on held-out rows.

    log P(y | x) = log P(y) + sum_m a_m log p_m(x | y) + o(x) b_y + z . B_y   (unnormalised)

m are models of the same rows, o(x) is the share of cells that are observed, and z are the cells as
numbers. With M models log a_m is Normal(-log M, 1), within bounds; each b_y is Normal(0, 1); B has
a ridge. An infinite one means B = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.estimators.common.folds import deal_evenly
from infinimix.inference.stacking.cost import StackedRows
from infinimix.inference.stacking.descent import minimise

FOLDS, FOLDS_OF_MANY, MANY = 5, 3, 1000  # the second for more rows than the third
DEALS, FEW = 2, 300  # folds are dealt so many times for at most so many rows
ROUGHLY = 1e-5  # relative change of the cost at which a solution is good enough to compare
MOST_TO_CHOOSE, MOST_SCORES = 4000, 20_000  # rows, and rows times classes, to choose a strength
LOG_LEAST = float(np.log(1e-6))  # a log probability below counts as this one in comparisons
HOPELESS = 40.0  # nats over all rows, above the best strength
LARGEST = 3.0  # of the log of a power, up or down, from where its prior has it
FLAT, MOST_STEPS = 1e-5, 200  # largest entry of the gradient at a solution; steps to it
LOWEST = -500.0  # a log density so far below the best class is as good as none


class HeldOut(NamedTuple):
    """Rows that were scored before they were learned."""

    log_density: np.ndarray  # (models, rows, classes), relative to the best class
    log_prior: np.ndarray  # (rows, classes) without the row
    observed: np.ndarray  # (rows,) share of cells
    features: np.ndarray  # (rows, features)
    codes: np.ndarray  # (rows,) true classes
    weight: np.ndarray | None = None  # (rows,) how much each counts; None: all count 1
    up: float = LARGEST  # of the log of a power, above where its prior has it

    @property
    def weights(self) -> np.ndarray:
        """How much each row counts."""
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    def take(self, rows: np.ndarray) -> HeldOut:
        """Return some of the rows, contiguous: they are solved for many strengths."""
        log_density = np.ascontiguousarray(self.log_density[:, rows])
        part = HeldOut(log_density, *(field[rows] for field in self[1:5]))
        return part._replace(weight=self.weights[rows], up=self.up)

    def only(self, models: np.ndarray) -> HeldOut:
        """Return the same rows as some of the models see them."""
        return self._replace(log_density=self.log_density[models])

    def with_models(self, log_density: np.ndarray) -> HeldOut:
        """Return the same rows as these models see them too."""
        return self._replace(log_density=np.concatenate([self.log_density, relative(log_density)]))


class Weights(NamedTuple):
    """The parameters."""

    log_powers: np.ndarray  # (models,)
    offsets: np.ndarray  # (classes,)
    coefficients: np.ndarray  # (features or 0, classes)


def relative(log_density: np.ndarray) -> np.ndarray:
    """Return log densities relative to that of the best class, none of them infinite."""
    return np.asarray(np.maximum(log_density - log_density.max(axis=-1, keepdims=True), LOWEST))


def log_posterior(rows: HeldOut, weights: Weights) -> np.ndarray:
    """Return log P(y | x) of each row and class."""
    # What `tensordot` multiplies, without the time that it takes to find out: this is the loop.
    powers = np.exp(weights.log_powers) @ rows.log_density.reshape(len(weights.log_powers), -1)
    joint = rows.log_prior + powers.reshape(rows.log_prior.shape)
    joint += rows.observed[:, None] * weights.offsets
    if weights.coefficients.size:
        joint += rows.features @ weights.coefficients
    joint -= joint.max(axis=1, keepdims=True)  # finite, so `logsumexp` need not look
    joint -= np.log(np.exp(joint).sum(axis=1, keepdims=True))
    return np.asarray(joint)


def cross_validate(
    rows: HeldOut, strengths: tuple[float, ...], rng: np.random.Generator
) -> np.ndarray:
    """Return the mean log-loss of each strength, each row corrected by the other folds."""
    return CrossValidation(rows, rng).follow(strengths)


class CrossValidation:
    """Losses of one strength after another, each row corrected by the other folds.

    Of few rows the folds are dealt several times, as by which a row is corrected matters there.
    """

    def __init__(self, rows: HeldOut, rng: np.random.Generator):
        most = min(MOST_TO_CHOOSE, MOST_SCORES // rows.log_prior.shape[1])
        if len(rows.codes) > most:
            rows = rows.take(np.sort(rng.permutation(len(rows.codes))[:most]))
        deals = DEALS if len(rows.codes) <= FEW else 1
        n_folds = FOLDS if len(rows.codes) <= MANY else FOLDS_OF_MANY
        self.deals = [_Deal(rows, deal_evenly(rows.codes, n_folds, rng)) for _ in range(deals)]

    def follow(self, strengths: tuple[float, ...]) -> np.ndarray:
        """Return the mean loss of each strength; they are weaker than those before."""
        return np.mean([deal.follow(strengths) for deal in self.deals], axis=0)


class _Deal:
    """Folds of some rows, and where the last strength has ended on each of them."""

    def __init__(self, rows: HeldOut, fold: np.ndarray):
        parts = [(rows.take(fold != k), rows.take(fold == k)) for k in range(fold.max() + 1)]
        self.parts = [
            (learn, test) for learn, test in parts if len(learn.codes) and len(test.codes)
        ]
        self.ends: list[Weights | None] = [None] * len(self.parts)
        self.total, self.least = rows.weights.sum(), np.inf

    def follow(self, strengths: tuple[float, ...]) -> np.ndarray:
        """Return the mean loss of each strength.

        Once the loss is far above the least one, weaker ridges are worse still: theirs is infinite.
        """
        losses = np.full(len(strengths), np.inf)
        for s, strength in enumerate(strengths):
            total = 0.0
            for k, (learn, test) in enumerate(self.parts):
                self.ends[k] = found = solve(learn, strength, self.ends[k], ROUGHLY)
                log_p = log_posterior(test, found)[np.arange(len(test.codes)), test.codes]
                total -= (test.weights * np.maximum(log_p, LOG_LEAST)).sum()
            losses[s] = total / self.total
            self.least = min(self.least, losses[s])
            if (losses[s] - self.least) * self.total > HOPELESS:
                break
        return losses


def solve(
    rows: HeldOut, strength: float, start: Weights | None = None, tolerance: float = 1e-9
) -> Weights:
    """Return the most probable parameters for one strength of the ridge."""
    problem, w = as_problem(rows, strength, start)
    minimise(problem, w, LARGEST, rows.up, tolerance, FLAT, MOST_STEPS)
    return as_weights(w, len(rows.log_density), rows.log_density.shape[2])


def as_problem(
    rows: HeldOut, strength: float, start: Weights | None = None
) -> tuple[StackedRows, np.ndarray]:
    """Return rows and priors as compiled code has them, and the numbers to begin with."""
    n_models, _, n_classes = rows.log_density.shape
    width = rows.features.shape[1] if np.isfinite(strength) else 0
    centre = -float(np.log(n_models))
    density, log_prior, observed, features, codes = map(np.ascontiguousarray, rows[:5])
    ridge = float(strength) if width else 0.0
    problem = StackedRows(
        density, log_prior, observed, features, codes, rows.weights, centre, ridge
    )  # fmt: skip
    first = np.zeros(n_models + n_classes * (1 + width))
    first[:n_models] = centre
    if start is not None:
        known = [start.log_powers, start.offsets]
        if width:
            known.append(start.coefficients.T.ravel())
        together = np.concatenate(known)
        first[: len(together)] = together
    return problem, first


def as_weights(w: np.ndarray, n_models: int, n_classes: int) -> Weights:
    """Return the parameters that are one vector in compiled code."""
    coefficients = w[n_models + n_classes :].reshape(n_classes, -1).T
    return Weights(w[:n_models], w[n_models : n_models + n_classes], coefficients)
