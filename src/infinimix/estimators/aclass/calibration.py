"""Honest probabilities where the columns say the same thing many times.

A mixture takes the columns of a group as independent. Where they are not, as with many
redundant ones, the densities of the classes differ by too much and the probabilities are too
sure. The cure is a power of the likelihood, P(y | x) ~ P(y) p(x | y)^power, found on the
training rows: each is judged by a model that has not counted it (leave-one-out).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.estimators.common.bounded import minimise
from infinimix.estimators.common.mixture_estimator import Learned
from infinimix.inference.ensemble.agreement import class_rows
from infinimix.kernels.logs import logsumexp

SPREAD = 1.0  # of the Normal prior of the log of the power around 0
LARGEST = 3.0  # of the log of the power, up or down


class Calibration(NamedTuple):
    """What left-out rows say."""

    power: float  # of the likelihood
    loss: float  # mean log-loss of the left-out rows, with that power


NEUTRAL = Calibration(1.0, float("nan"))


def calibrate_left_out(learned: Learned, gamma: float) -> Calibration:
    """Return the power of the likelihood that the left-out rows of a fit call for."""
    own = np.eye(learned.bank.n_classes)[learned.codes[learned.checked]]
    weight = class_rows(learned.bank) - own + gamma  # of each class, without the row
    log_prior = np.log(weight / weight.sum(axis=1, keepdims=True))
    return calibrate(learned.log_density, own.argmax(axis=1), log_prior)


def calibrate(log_density: np.ndarray, codes: np.ndarray, log_prior: np.ndarray) -> Calibration:
    """Return the power that makes the labels of these rows most probable.

    Parameters
    ----------
    log_density : array (rows, classes)
        Of each row in each class, in its own without itself.
    codes : array (rows,)
        The class of each row.
    log_prior : array (rows, classes)
        Log probability of each class, without the row.
    """
    rows = np.arange(len(codes))

    def loss(log_power: float) -> float:
        joint = log_prior + np.exp(log_power) * log_density
        return float((logsumexp(joint, axis=1) - joint[rows, codes]).sum())

    def cost(log_power: float) -> float:
        return loss(log_power) + 0.5 * (log_power / SPREAD) ** 2

    found = minimise(cost, -LARGEST, LARGEST)
    return Calibration(float(np.exp(found)), loss(found) / len(codes))
