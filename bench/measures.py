"""Diagnosis of probabilistic predictions; scores and intervals are in `infinimix.evaluation`."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from infinimix.evaluation.scores import LEAST, log_losses, probability_of


def tempered(proba: np.ndarray, code: np.ndarray) -> tuple[float, float]:
    """The temperature that suits these rows best, and their log-loss with it.

    For diagnosis: it is fitted on the rows it is measured on. More than 1 is overconfidence.
    Rows whose class was never seen in training are left out of the fit, not of the loss.
    """
    logs = np.log(np.clip(proba, LEAST, 1.0))
    rows = np.arange(len(code))
    p_true = probability_of(code, proba)
    seen = p_true > 0.0

    def losses(log_t: float) -> np.ndarray:
        scaled = logs * np.exp(-log_t)
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        return np.log(np.exp(scaled).sum(axis=1)) - scaled[rows, code]

    best = minimize_scalar(
        lambda log_t: losses(log_t)[seen].sum(), bounds=(-2.0, 4.0), method="bounded"
    )
    unseen = log_losses(p_true[~seen]).sum()
    return float(np.exp(best.x)), float((best.fun + unseen) / len(code))
