"""Honest probabilities where the columns say the same thing many times.

A mixture takes the columns of a group as independent. Where they are not, as with many
redundant ones, the densities of the classes differ by too much and the probabilities are too
sure. The cure is a power of the likelihood, P(y | x) ~ P(y) p(x | y)^power, found on training rows
that the mixtures had not learned when they scored them. `correction` goes further.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from infinimix.estimators.common.bounded import minimise
from infinimix.kernels.logs import logsumexp

SPREAD = 1.0  # of the Normal prior of the log of the power around 0
LARGEST = 3.0  # of the log of the power, up or down


class Calibration(NamedTuple):
    """What held-out rows say."""

    power: float  # of the likelihood
    loss: float  # mean log-loss of the held-out rows, with that power


def calibrate(
    log_density: np.ndarray,
    codes: np.ndarray,
    log_prior: np.ndarray,
    weight: np.ndarray | None = None,
    up: float = LARGEST,
) -> Calibration:
    """Return the power that makes the labels of these rows most probable.

    Parameters
    ----------
    log_density : array (rows, classes)
        Of each row in each class, before the row was learned.
    codes : array (rows,)
        The class of each row.
    log_prior : array (rows, classes)
        Log probability of each class, without the row.
    weight : array (rows,), optional
        How much each row counts; by default all count 1.
    up : float
        What the log of the power may be at most.
    """
    rows = np.arange(len(codes))
    weight = np.ones(len(codes)) if weight is None else weight

    def loss(log_power: float) -> float:
        joint = log_prior + np.exp(log_power) * log_density
        return float((weight * (logsumexp(joint, axis=1) - joint[rows, codes])).sum())

    def cost(log_power: float) -> float:
        return loss(log_power) + 0.5 * (log_power / SPREAD) ** 2

    found = min(minimise(cost, -LARGEST, LARGEST), up)
    return Calibration(float(np.exp(found)), loss(found) / weight.sum())
