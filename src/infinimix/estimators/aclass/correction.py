"""A correction of what the mixtures get wrong, found on held-out rows.

    log P(y | x) = log P(y) + a log p(x | y) + o(x) b_y + z . B_y   (unnormalised)

z are the cells as numbers (`features`), and o(x) is the share of cells that are observed: a row
without cells has P(y) as before. The mixtures take the columns of a group as independent;
where they are not, the densities of classes differ by too much (then a < 1), a class is favoured
(b), or a column counts too much or too little (B). This is the AClass paper's hybrid of generative
and discriminative learning, inside the classifier.

The log densities are those of rows that the mixtures had not learned yet (`Island.fit`), so the
correction sees errors as large as on new rows. log a is Normal(0, 1), each b_y Normal(0, 1); B has
a ridge. Its strength is one of STRENGTHS; an infinite one, for which B = 0, is always among them.
Strengths are weighted by their cross-validated loss on the held-out rows, and the parameters
averaged: with many rows one strength has all the weight, with few rows choosing one would be luck.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.aclass.calibration import calibrate
from infinimix.estimators.aclass.features import LinearFeatures
from infinimix.estimators.common.folds import deal_evenly
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.estimators.common.parameters import child_seed
from infinimix.kernels.logs import logsumexp
from infinimix.tables import EncodedTable

STRENGTHS = (np.inf, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)
STRENGTHS_OF_FEW = (np.inf, 100.0, 30.0, 10.0, 3.0)  # few rows never call for a weaker ridge
FOLDS = 5
DEALS, FEW = 2, 300  # folds are dealt so many times for at most so many rows
TEMPERATURE = 4.0  # of the weights of strengths: those of few rows are averaged, not chosen
NEGLIGIBLE = 1e-3  # weight of a strength
ROUGHLY = 1e-5  # relative change of the cost at which a solution is good enough to compare
MOST_TO_CHOOSE = 4000  # rows by which the strength is chosen
MOST_COEFFICIENTS = 20_000  # more are not worth their time: there is no linear part then
LOWEST = -500.0  # a log density so far below the best class is as good as none
LEAST = 1e-6  # a probability below counts as this one when strengths are compared
LARGEST = 3.0  # of the log of the power, up or down


class Correction(NamedTuple):
    """What is added to the log densities of the classes, in the order of the bank."""

    power: float = 1.0
    loss: float = float("nan")  # mean log-loss of held-out rows, corrected by the other folds
    offsets: np.ndarray | None = None  # (C,)
    features: LinearFeatures | None = None
    coefficients: np.ndarray | None = None  # (features, C)

    def shift(self, table: EncodedTable, n_classes: int) -> Any:
        """Return o b_y + z . B_y for each row and class; classes that came later have none."""
        if self.offsets is None:
            return 0.0
        out = np.zeros((table.n_rows, n_classes))
        known = len(self.offsets)
        out[:, :known] = observed_share(table)[:, None] * self.offsets
        if self.features is not None:
            out[:, :known] += self.features.transform(table) @ self.coefficients
        return out


NEUTRAL = Correction()


def observed_share(table: EncodedTable) -> np.ndarray:
    """Return which share of its cells each row has."""
    return np.asarray(1.0 - table.holes().mean(axis=1))


class HeldOut(NamedTuple):
    """Rows that were scored before they were learned."""

    log_density: np.ndarray  # (rows, classes)
    log_prior: np.ndarray  # (rows, classes) without the row
    observed: np.ndarray  # (rows,) share of cells
    features: np.ndarray  # (rows, features)
    codes: np.ndarray  # (rows,) true classes

    def take(self, rows: np.ndarray) -> HeldOut:
        """Return some of the rows."""
        return HeldOut(*(field[rows] for field in self))


class Weights(NamedTuple):
    """The parameters of a correction."""

    log_power: float
    offsets: np.ndarray
    coefficients: np.ndarray


def correct(
    learned: Learned, gamma: float, linear: bool, seed: np.random.SeedSequence
) -> Correction:
    """Return the correction that the held-out rows of `fit` call for: a power, or a linear one."""
    codes = learned.codes[learned.held_out]
    if len(codes) == 0:
        return NEUTRAL
    own = np.eye(learned.bank.n_classes)[codes]
    # Of each class among the rows held out, without the row: small classes are held out less.
    weight = own.sum(axis=0) - own + gamma
    log_prior = np.log(weight / weight.sum(axis=1, keepdims=True))
    if not linear:
        return Correction(*calibrate(learned.log_density, codes, log_prior))
    table = learned.table.take(learned.held_out)
    features = LinearFeatures.learn(table)
    Z, observed = features.transform(table), observed_share(table)
    rows = HeldOut(learned.log_density, log_prior, observed, Z, codes)
    rng = np.random.default_rng(child_seed(seed, 2**32 - 6))
    return find_correction(rows, features, rng)


def find_correction(
    rows: HeldOut, features: LinearFeatures, rng: np.random.Generator
) -> Correction:
    """Return the correction that held-out rows call for."""
    rows = rows._replace(log_density=_relative(rows.log_density))
    strengths: tuple[float, ...] = STRENGTHS
    if len(rows.codes) <= FEW:
        strengths = STRENGTHS_OF_FEW
    if features.width * rows.log_density.shape[1] > MOST_COEFFICIENTS:
        strengths = STRENGTHS[:1]
    losses = cross_validate(rows, strengths, rng)
    share = np.exp(-len(rows.codes) * (losses - losses.min()) / TEMPERATURE)
    share /= share.sum()
    found, start = None, None
    for weight, strength in zip(share.tolist(), strengths, strict=True):
        if weight > NEGLIGIBLE:
            start = solve(rows, strength, start)
            found = _add(found, weight, start)
    assert found is not None
    linear = found.coefficients.size > 0
    return Correction(
        float(np.exp(found.log_power)), float(share @ losses), found.offsets,
        features if linear else None, found.coefficients if linear else None,
    )  # fmt: skip


def _add(total: Weights | None, share: float, weights: Weights) -> Weights:
    """Return a sum of parameters with more of it; no coefficients are coefficients of 0."""
    if total is None:
        total = Weights(0.0, np.zeros_like(weights.offsets), weights.coefficients[:0])
    coefficients = share * weights.coefficients
    if total.coefficients.size:
        coefficients = (
            coefficients + total.coefficients if coefficients.size else total.coefficients
        )
    return Weights(
        total.log_power + share * weights.log_power,
        total.offsets + share * weights.offsets,
        coefficients,
    )


def _relative(log_density: np.ndarray) -> np.ndarray:
    """Return log densities relative to that of the best class, none of them infinite."""
    return np.asarray(np.maximum(log_density - log_density.max(axis=1, keepdims=True), LOWEST))


def cross_validate(
    rows: HeldOut, strengths: tuple[float, ...], rng: np.random.Generator
) -> np.ndarray:
    """Return the mean log-loss of each strength, each row corrected by the other folds.

    Of few rows the folds are dealt several times, as by which a row is corrected matters there.
    """
    if len(rows.codes) > MOST_TO_CHOOSE:
        rows = rows.take(np.sort(rng.permutation(len(rows.codes))[:MOST_TO_CHOOSE]))
    deals = DEALS if len(rows.codes) <= FEW else 1
    losses = [_losses(rows, strengths, deal_evenly(rows.codes, FOLDS, rng)) for _ in range(deals)]
    return np.mean(losses, axis=0)


def _losses(rows: HeldOut, strengths: tuple[float, ...], fold: np.ndarray) -> np.ndarray:
    loss = np.zeros((len(strengths), len(rows.codes)))
    for k in range(FOLDS):
        learn, test = rows.take(fold != k), rows.take(fold == k)
        if len(test.codes) == 0 or len(learn.codes) == 0:
            continue
        start = None
        for s, strength in enumerate(strengths):  # from the strongest on, each starts at the last
            start = solve(learn, strength, start, ROUGHLY)
            log_p = log_posterior(test, start)[np.arange(len(test.codes)), test.codes]
            loss[s, fold == k] = -np.maximum(log_p, np.log(LEAST))
    return np.asarray(loss.mean(axis=1))


def log_posterior(rows: HeldOut, weights: Weights) -> np.ndarray:
    """Return log P(y | x) of each row and class."""
    joint = rows.log_prior + np.exp(weights.log_power) * rows.log_density
    joint = joint + rows.observed[:, None] * weights.offsets
    if weights.coefficients.size:
        joint = joint + rows.features @ weights.coefficients
    return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))


def solve(
    rows: HeldOut, strength: float, start: Weights | None = None, tolerance: float = 1e-9
) -> Weights:
    """Return the most probable parameters for one strength of the ridge."""
    from scipy.optimize import minimize  # slow to load, and only `fit` needs it

    n_classes = rows.log_density.shape[1]
    width = rows.features.shape[1] if np.isfinite(strength) else 0
    indicator = np.eye(n_classes)[rows.codes]
    at = np.arange(len(rows.codes))

    def unpack(w: np.ndarray) -> Weights:
        offsets, rest = w[1 : 1 + n_classes], w[1 + n_classes :]
        return Weights(float(w[0]), offsets, rest.reshape(width, n_classes))

    def cost(w: np.ndarray) -> tuple[float, np.ndarray]:
        weights = unpack(w)
        log_p = log_posterior(rows, weights)
        gap = np.exp(log_p) - indicator
        value = -log_p[at, rows.codes].sum()
        value += 0.5 * (weights.log_power**2 + (weights.offsets**2).sum())
        gradient = np.empty_like(w)
        scaled = np.exp(weights.log_power) * rows.log_density
        gradient[0] = (gap * scaled).sum() + weights.log_power
        gradient[1 : 1 + n_classes] = rows.observed @ gap + weights.offsets
        if width:
            value += 0.5 * strength * (weights.coefficients**2).sum()
            slope = rows.features.T @ gap + strength * weights.coefficients
            gradient[1 + n_classes :] = slope.ravel()
        return float(value), gradient

    first = np.zeros(1 + n_classes + width * n_classes)
    if start is not None:
        known = np.concatenate([[start.log_power], start.offsets, start.coefficients.ravel()])
        first[: len(known)] = known[: len(first)]
    bounds = [(-LARGEST, LARGEST)] + [(None, None)] * (len(first) - 1)
    options = {"maxiter": 200, "ftol": tolerance}
    found = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return unpack(found.x)
