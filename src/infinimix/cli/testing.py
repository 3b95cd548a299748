"""Cross-validation and test files: every row is predicted by a model that has not seen it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from infinimix.cli.errors import CommandError, hint, listed
from infinimix.cli.learning import fill_absent
from infinimix.cli.out import progress, warn
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import InputTable, read_table, take_labels
from infinimix.cli.tasks import Task
from infinimix.evaluation import predictions
from infinimix.evaluation.predictions import Predictions


def cross_validate(task: Task, folds: int, seed: int) -> Predictions:
    """Predict each row by a model of the other folds."""
    counts = Counter(label for label in task.y if label is not None)
    if max(counts.values()) < folds:
        raise CommandError(
            f"--folds {folds} is more than any class has rows; take at most {max(counts.values())}."
        )
    rare = [label for label, n in counts.items() if n < folds]
    if rare:
        warn(
            "evaluate",
            f"classes with less than {folds} rows are not in every fold: {listed(rare)}.",
        )
    model, rows = task.recipe.estimator(), task.recipe.of(task.X)
    with progress("folds", folds) as step:
        found = predictions.cross_validate(
            model, rows, task.y, seed, n_folds=folds, least=2, quiet=False, step=step
        )
    assert found is not None  # there are two classes, as the task has checked
    return found


def test_on(task: Task, path: Path, reading: Reading) -> Predictions:
    """Learn the whole table, and predict another one."""
    target = task.notes["target"]
    reading = replace(reading, decimals=task.notes["decimals"])
    table = read_table(path, reading, types=task.notes["types"], labels=target)
    absent = _find_absent(table, task)
    y = take_labels(table, target)
    seen = {label for label in task.y if label is not None}
    new = {label for label in y if label is not None} - seen
    if new:
        warn("evaluate", f"{path} has classes that the training table lacks: {listed(new)}.")
    model = task.recipe.estimator().fit(task.recipe.of(task.X), task.y)
    rows = task.recipe.of(fill_absent(table, list(task.X.columns), absent))
    found = predictions.judge_held_out(model, rows, y)
    assert found is not None  # there are labels, as `take_labels` has checked
    return found


test_on.__test__ = False  # type: ignore[attr-defined]  # its name is no test's


def _find_absent(table: InputTable, task: Task) -> list[str]:
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
