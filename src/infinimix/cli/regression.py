"""What `fit`, `evaluate` and `predict` do where the target is a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from infinimix.cli.dates import check_dates
from infinimix.cli.errors import CommandError
from infinimix.cli.goals import take_numbers
from infinimix.cli.learning import Trained
from infinimix.cli.model_files import fill_absent
from infinimix.cli.out import count, grid, percent, progress, warn
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import read_table
from infinimix.cli.tasks import Task
from infinimix.cli.testing import check_groups, find_absent, group_codes
from infinimix.cli.weights import read_weights
from infinimix.evaluation.folds import deal, deal_groups, splits
from infinimix.evaluation.importance import ColumnWorth, measure_number_importance
from infinimix.evaluation.regression import PredictedNumbers, judge_numbers, score_numbers

COVERAGE = 0.9  # of the intervals that `evaluate` counts


def figure(value: float) -> str:
    """Return a number of a target in five digits."""
    return "-" if value != value else f"{value:.5g}"


# --- fit -----------------------------------------------------------------------------------------


def tell_fit(model: Any, y: list[float]) -> dict[str, Any]:
    """Return what `fit` says of a regressor, for JSON."""
    return {
        "target": {"kind": model.target_, "least": min(y), "mean": float(np.mean(y)),
                   "largest": max(y)},
        "groups": model.n_groups_,
        "held_out_r2": model.held_out_r2_,
    }  # fmt: skip


def show_fit(model: Any, y: list[float], target: str) -> list[Any]:
    """Return what `fit` shows of a regressor."""
    told = tell_fit(model, y)
    values = told["target"]
    rows = [
        ("kind", values["kind"]),
        ("values", f"{figure(values['least'])} to {figure(values['largest'])}"),
        ("mean", figure(values["mean"])),
        ("groups", told["groups"]),
    ]
    shown: list[Any] = [grid(f"Target {target!r}, a number", ("", ""), rows)]
    if model.held_out_r2_ == model.held_out_r2_:
        r2 = f"{model.held_out_r2_:.3f}"
        shown.append(f"R^2 of training rows, held out while the others were learned: {r2}")
    return shown


# --- evaluate ------------------------------------------------------------------------------------


Judge = Callable[[], PredictedNumbers]


def plan_numbers(
    task: Task, test: Path | None, folds: int, seed: int, reading: Reading
) -> tuple[Judge, str]:
    """Return what lets regressors predict rows that they have not learned, and how it does so.

    What can be refused is refused here, before anything is shown or learned.
    """
    if test is not None:
        return _by_table(task, test, reading), f"tested on {test}"
    how = f"{folds}-fold cross-validation"
    return _by_folds(task, folds, seed), how if task.groups is None else f"{how} by groups"


def evaluate_numbers(judge: Judge) -> tuple[dict[str, Any], list[ColumnWorth]]:
    """Return the scores of a regressor, and what columns are worth to it."""
    found = judge()
    scores = score_numbers(found)
    return {**scores, "verdict": judge_numbers(scores)}, measure_number_importance(found)


def show_number_scores(found: dict[str, Any], title: str) -> list[Any]:
    """Return the table of the scores of a regressor."""
    (low, high), share = found["r2_interval"], percent(found["promised_coverage"])
    low_error, high_error = found["mean_absolute_error_interval"]
    least, most = found["coverage_interval"]
    rows = [
        ("rows", f"{found['rows']:,}", "", ""),
        ("R^2", f"{found['r2']:.3f}", f"95% interval {low:.3f} to {high:.3f}", "0"),
        ("mean absolute error", figure(found["mean_absolute_error"]),
         f"95% interval {figure(low_error)} to {figure(high_error)}",
         figure(found["mean_absolute_error_of_mean"])),
        ("RMSE", figure(found["rmse"]), "root of the mean squared error",
         figure(found["rmse_of_mean"])),
        (f"coverage of {share} intervals", percent(found["coverage"]),
         f"95% interval {percent(least)} to {percent(most)}", ""),
        ("width of these intervals", figure(found["median_width"]), "median", ""),
    ]  # fmt: skip
    return [grid(title, ("", "", "", "always the mean"), rows), found["verdict"]]


def _by_folds(task: Task, folds: int, seed: int) -> Judge:
    y = np.array(task.y, float)
    if folds > len(y):
        raise CommandError(f"--folds {folds} is more than the {count(len(y), 'row')} of the table.")
    groups = None if task.groups is None else group_codes(task.groups)
    if groups is None:
        fold = deal([0] * len(y), folds, seed)
    else:
        check_groups("evaluate", task, folds)
        fold = deal_groups([0] * len(y), groups, folds, seed)
    n_folds = int(fold.max()) + 1

    def judge() -> PredictedNumbers:
        out = np.empty((4, len(y)))
        recipe, models = task.recipe.with_kinds(), []
        with progress("folds", n_folds) as step:
            for learned, held in splits(fold, n_folds):
                X = task.X.iloc[learned].reset_index(drop=True)
                trained = recipe.fit(X, y[learned].tolist(), verbose=False)
                models.append(trained.model)
                rows = task.X.iloc[held].reset_index(drop=True)
                out[:3, held] = _answer(trained, rows, COVERAGE)
                out[3, held] = y[learned].mean()
                step()
        mean, low, high, baseline = out
        return PredictedNumbers(
            y, mean, low, high, baseline, COVERAGE, groups, task.X, models, fold
        )

    return judge


def _by_table(task: Task, path: Path, reading: Reading) -> Judge:
    target = task.notes["target"]
    reading = replace(reading, decimals=task.notes["decimals"])
    table = read_table(path, reading, types={**task.notes["types"], target: "number"})
    check_dates(table, task.dates)
    frame = fill_absent(table, list(task.X.columns), find_absent(table, task))
    values = take_numbers(table, target)
    counted = task.notes["weights"]
    if counted in table.types:
        places, _ = read_weights("evaluate", table, counted)
        frame, values = frame.iloc[places].reset_index(drop=True), [values[i] for i in places]
    kept = [i for i, value in enumerate(values) if value is not None]
    if len(kept) < len(values):
        warn("evaluate", f"{count(len(values) - len(kept), 'row')} without {target!r} left out.")
    X = frame.iloc[kept].reset_index(drop=True)
    y = np.array([values[i] for i in kept], float)

    def judge() -> PredictedNumbers:
        trained = task.recipe.fit(task.X, task.y)
        mean, low, high = _answer(trained, X, COVERAGE)
        baseline = np.full(len(y), float(np.mean(task.y)))
        ours = [trained.model], np.zeros(len(y), dtype=int)
        return PredictedNumbers(y, mean, low, high, baseline, COVERAGE, None, X, *ours)

    return judge


def _answer(trained: Trained, X: Any, coverage: float) -> np.ndarray:
    """Return means and the ends of intervals, one below the other."""
    rows = trained.rows(X)
    mean, ends = trained.model.predict(rows), trained.model.predict_interval(rows, coverage)
    return np.stack([mean, ends[:, 0], ends[:, 1]])


# --- predict -------------------------------------------------------------------------------------


def answer_numbers(trained: Trained, X: Any, interval: float | None) -> dict[str, list[Any]]:
    """Return the columns that `predict` writes for a regressor, in seven digits."""
    rows = trained.rows(X)
    answers = {"prediction": trained.model.predict(rows)}
    if interval is not None:
        answers["low"], answers["high"] = trained.model.predict_interval(rows, interval).T
    return {name: [float(f"{v:.7g}") for v in values] for name, values in answers.items()}
