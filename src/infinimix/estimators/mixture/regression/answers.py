"""Answers in the natural units of the target, from its distribution in those of the transform.

A Student's t of a logarithm has no mean: its tails are too long. So under a transform the mean and
the standard deviation are those of the target when values beyond the training values count as the
nearest of these.
"""

from __future__ import annotations

import numpy as np

from infinimix.estimators.mixture.regression.calibration import Outlook
from infinimix.estimators.mixture.regression.target import decode_target
from infinimix.tables.column import Column

Range = tuple[float, float]  # of the training values


def mean_and_std(outlook: Outlook, target: Column, within: Range) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of each row."""
    if target.transform is None:
        return outlook.mean, outlook.scale * np.sqrt(outlook.conditional.variance)
    middles, share = outlook.shares_of_cells()
    values = np.clip(decode_target(target, middles), *within)
    mean = (share * values).sum(axis=1)
    variance = (share * (values - mean[:, None]) ** 2).sum(axis=1)
    return mean, np.sqrt(variance)


def quantiles(outlook: Outlook, target: Column, p: np.ndarray) -> np.ndarray:
    """Return quantiles (rows, levels), where p has the same shape."""
    found = np.stack([outlook.quantile(level) for level in p.T], axis=1)
    return decode_target(target, found)
