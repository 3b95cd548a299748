"""How good predictions of numbers are: errors, R^2, and how many values intervals cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from infinimix.evaluation.folds import deal, splits
from infinimix.evaluation.intervals import Z, mean_interval, share_interval, standard_error
from infinimix.evaluation.predictions import fresh_copy
from infinimix.tables.rows import pick


class PredictedNumbers(NamedTuple):
    """Rows that were predicted by models that have not learned them."""

    y: np.ndarray
    mean: np.ndarray  # what was predicted
    low: np.ndarray  # ends of intervals
    high: np.ndarray
    baseline: np.ndarray  # the mean of the rows that were learned
    coverage: float  # that the intervals promise
    groups: np.ndarray | None = None  # rows of one group depend on each other
    rows: Any = None  # the rows, and the models that predicted them, to measure importance
    models: Sequence[Any] = ()
    model_of: np.ndarray | None = None  # which of the models predicted the row


def score_numbers(found: PredictedNumbers) -> dict[str, Any]:
    """Return the scores for JSON, with 95% intervals.

    R^2 compares with always predicting the mean of the rows that were learned: it is 1 - the ratio
    of two means of squares, whose interval is that of the delta method.
    """
    error, base = found.y - found.mean, found.y - found.baseline
    inside = (found.low <= found.y) & (found.y <= found.high)
    unit = float((base**2).mean()) or 1.0
    covered = share_interval(inside, found.groups)
    r2 = 1.0 - float((error**2).mean()) / unit
    half = Z * standard_error((error**2 - (1.0 - r2) * base**2) / unit, found.groups)
    return {
        "rows": len(found.y),
        "r2": r2,
        "r2_interval": (r2 - half, min(r2 + half, 1.0)),
        "mean_absolute_error": float(np.abs(error).mean()),
        "mean_absolute_error_interval": mean_interval(np.abs(error), found.groups)[1:],
        "rmse": float(np.sqrt((error**2).mean())),
        "mean_absolute_error_of_mean": float(np.abs(base).mean()),
        "rmse_of_mean": float(np.sqrt((base**2).mean())),
        "promised_coverage": found.coverage,
        "coverage": covered.value,
        "coverage_interval": covered[1:],
        "median_width": float(np.median(found.high - found.low)),
    }


def judge_numbers(scores: dict[str, Any]) -> str:
    """Return in one sentence whether the predictions are of use."""
    low, high = scores["r2_interval"]
    if high <= 0.0:
        return "The predictions are worse than always predicting the mean."
    if low <= 0.0:
        return "The predictions are not clearly better than always predicting the mean."
    return "The predictions are better than always predicting the mean."


# --- rows that models have not learned -----------------------------------------------------------

COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # of the intervals that a report counts
FOLDS = 5


class JudgedNumbers(NamedTuple):
    """Predicted rows, and which of them the intervals of each of COVERAGES cover."""

    numbers: PredictedNumbers
    inside: np.ndarray  # (rows, coverages)
    how: str
    places: np.ndarray  # where the rows were in the table


def judge(model: Any, rows: Any, y: Any, seed: int, held_out: bool) -> JudgedNumbers:
    """Predict rows by the model, if they are new to it, or by models of folds like it.

    Rows without a number in y are left out.
    """
    y = np.asarray(y, dtype=np.float64)
    places = np.flatnonzero(~np.isnan(y))
    if len(places) < len(y):
        y, rows = y[places], pick(rows, places)
    n_folds = min(FOLDS, len(y))
    if len(y) < 2:
        raise ValueError(f"Two rows or more are needed to judge a model; got {len(y)}.")
    if held_out:
        parts: list[tuple[np.ndarray | None, np.ndarray]] = [(None, np.arange(len(y)))]
    else:
        parts = [*splits(deal([0] * len(y), n_folds, seed), n_folds)]
    mean, baseline = np.empty(len(y)), np.empty(len(y))
    ends = np.empty((len(y), 2 * len(COVERAGES)))
    tails = 0.5 * (1.0 - np.array(COVERAGES))
    models: list[Any] = []
    model_of = np.zeros(len(y), dtype=np.intp)
    for learned, held in parts:
        judged = model
        if learned is not None:
            judged = fresh_copy(model, rows, seed).fit(pick(rows, learned), y[learned])
        model_of[held] = len(models)
        models.append(judged)
        some = pick(rows, held)
        mean[held] = judged.predict(some)
        ends[held] = judged.predict_quantiles(some, [*tails, *(1.0 - tails)])
        baseline[held] = y[held if learned is None else learned].mean()
    low, high = ends[:, : len(COVERAGES)], ends[:, len(COVERAGES) :]
    shown = COVERAGES.index(0.9)
    how = "held-out rows" if held_out else f"{n_folds}-fold cross-validation"
    found = PredictedNumbers(
        y, mean, low[:, shown], high[:, shown], baseline, 0.9, None, rows, models, model_of
    )
    return JudgedNumbers(found, (low <= y[:, None]) & (y[:, None] <= high), how, places)
