"""Cross-validation and test files: every row is predicted by a model that has not seen it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from infinimix.cli.dates import check_dates
from infinimix.cli.errors import CommandError, hint, listed
from infinimix.cli.files import read_source
from infinimix.cli.goals import bin_target
from infinimix.cli.model_files import fill_absent
from infinimix.cli.out import count, progress, warn
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import InputTable, take_labels, understand
from infinimix.cli.tasks import Task
from infinimix.cli.weights import arguments, read_weights
from infinimix.evaluation import predictions
from infinimix.evaluation.abilities import AnswersBatches, able
from infinimix.evaluation.predictions import Predictions
from infinimix.tables.missing import is_missing

Judge = Callable[[Task, Any], Predictions]  # of an unfitted classifier of the rows of a task


def by_folds(command: str, task: Task, folds: int, seed: int) -> Judge:
    """Return what cross-validates classifiers, all of them on the same folds."""
    counts = Counter(label for label in task.y if label is not None)
    if max(counts.values()) < folds:
        raise CommandError(
            f"--folds {folds} is more than any class has rows; take at most {max(counts.values())}."
        )
    rare = [label for label, n in counts.items() if n < folds]
    if rare:
        warn(command, f"classes with less than {folds} rows are not in every fold: {listed(rare)}.")
    if task.groups is not None:
        check_groups(command, task, folds)

    def judge(own: Task, model: Any) -> Predictions:
        rows = own.recipe.of(own.X)
        groups = None if own.groups is None else group_codes(own.groups)
        with progress("folds", folds) as step:
            found = predictions.cross_validate(
                model, rows, own.y, seed, n_folds=folds, groups=groups, least=2, quiet=False,
                step=step, weights=own.weights,
            )  # fmt: skip
        assert found is not None  # there are two classes, as the task has checked
        return found

    return judge


def check_groups(command: str, task: Task, folds: int) -> None:
    """Refuse fewer groups than folds; rows without a group are noted."""
    groups = task.groups or []
    bare = sum(map(is_missing, groups))
    if bare:
        warn(command, f"{count(bare, 'row')} without a group count as a group each.")
    n = len(np.unique(group_codes(groups)))
    if n < folds:
        raise CommandError(
            f"--groups: there are {count(n, 'group')}, fewer than --folds {folds}; take at most "
            f"{n} folds, or another column."
        )


def group_codes(groups: list[Any]) -> np.ndarray:
    """Return a number for each group; rows without one are groups of their own."""
    place: dict[Any, int] = {}
    keys = [("row", i) if is_missing(g) else ("group", g) for i, g in enumerate(groups)]
    return np.array([place.setdefault(key, len(place)) for key in keys], dtype=int)


def by_table(command: str, task: Task, path: Path, reading: Reading) -> Judge:
    """Return what learns the whole table, and predicts another one."""
    target = task.notes["target"]
    reading = replace(reading, decimals=task.notes["decimals"])
    source = bin_target(read_source(path, reading), target, reading, task.bins)
    table = understand(source, reading, types=task.notes["types"], labels=target)
    check_dates(table, task.dates)
    frame = fill_absent(table, list(task.X.columns), find_absent(table, task))
    y = take_labels(table, target)
    counted = task.notes["weights"]
    if counted is not None and task.weights is None and counted in table.types:
        places, _ = read_weights(command, table, counted)
        frame, y = frame.iloc[places].reset_index(drop=True), [y[i] for i in places]
    new = {label for label in y if label is not None} - set(task.y)
    if new:
        warn(command, f"{path} has classes that the training table lacks: {listed(new)}.")

    def judge(own: Task, model: Any) -> Predictions:
        known = [i for i, label in enumerate(own.y) if label is not None]
        learned = range(len(own.y)) if able(model, AnswersBatches) else known
        X = own.recipe.of(own.X.iloc[list(learned)])
        weights = own.weights and [own.weights[i] for i in learned]
        model.fit(X, [own.y[i] for i in learned], **arguments(weights))
        rows = own.recipe.of(frame[list(own.X.columns)])
        found = predictions.judge_held_out(model, rows, y)
        assert found is not None  # there are labels, as `take_labels` has checked
        return found

    return judge


def find_absent(table: InputTable, task: Task) -> list[str]:
    """Return the columns that a test table lacks; without the target or with none it is refused."""
    absent = [name for name in task.X.columns if name not in table.types]
    target = task.notes["target"]
    if target not in table.types or len(absent) == len(task.X.columns):
        name = target if target not in table.types else absent[0]
        raise CommandError(
            f"{table.source.name} lacks the column {name!r} of the training table; "
            + hint(name, table.source.names)
        )
    return absent
