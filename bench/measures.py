"""Measures of probabilistic predictions, and of differences between paired ones."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

SMALLEST = 1e-15  # as scikit-learn clips


def align(proba: np.ndarray, known: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Columns for all classes of a table; 0 for those that training did not have."""
    out = np.zeros((len(proba), len(classes)))
    out[:, np.searchsorted(classes, known)] = proba
    return out


def log_losses(proba: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Nats of each row, with probabilities clipped away from 0."""
    p = np.clip(proba, SMALLEST, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(len(code)), code])


def calibration_error(proba: np.ndarray, code: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error of the most probable class, equal bins of confidence."""
    top = proba.max(axis=1)
    hit = proba.argmax(axis=1) == code
    place = np.minimum((top * bins).astype(int), bins - 1)
    gap = np.bincount(place, weights=hit - top, minlength=bins)
    return float(np.abs(gap).sum() / len(code))


def tempered(proba: np.ndarray, code: np.ndarray) -> tuple[float, float]:
    """The temperature that suits these rows best, and their log-loss with it.

    For diagnosis: it is fitted on the rows it is measured on. More than 1 is overconfidence.
    Rows whose class was never seen in training are left out of the fit, not of the loss.
    """
    logs = np.log(np.clip(proba, SMALLEST, 1.0))
    rows = np.arange(len(code))
    seen = proba[rows, code] > 0.0

    def losses(log_t: float) -> np.ndarray:
        scaled = logs * np.exp(-log_t)
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        return np.log(np.exp(scaled).sum(axis=1)) - scaled[rows, code]

    best = minimize_scalar(
        lambda log_t: losses(log_t)[seen].sum(), bounds=(-2.0, 4.0), method="bounded"
    )
    unseen = log_losses(proba, code)[~seen].sum()
    return float(np.exp(best.x)), float((best.fun + unseen) / len(code))


def standard_error(x: np.ndarray) -> float:
    """Of the mean; 0 for a single value."""
    return float(np.std(x, ddof=1) / np.sqrt(len(x))) if len(x) > 1 else 0.0
