"""Cross-validation and test files: every row is answered by a model that has not seen it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.cli.errors import CommandError, hint, listed
from infinimix.cli.learning import Trained, fill_absent
from infinimix.cli.out import progress, warn
from infinimix.cli.reading import Reading
from infinimix.cli.tables_in import InputTable, read_table, take_labels
from infinimix.cli.tasks import Task
from infinimix.evaluation.folds import deal, splits
from infinimix.evaluation.scores import align
from infinimix.evaluation.summary import score
from infinimix.tables.rows import list_labels

if TYPE_CHECKING:
    import pandas as pd


def cross_validate(task: Task, folds: int, seed: int) -> dict[str, Any]:
    """Answer each row by a model of the other folds, and score the answers.

    Rows without label, if the model learns from them, are in all training parts.
    """
    known = np.array([i for i, label in enumerate(task.y) if label is not None])
    bare = np.array([i for i, label in enumerate(task.y) if label is None], dtype=int)
    y = [task.y[i] for i in known]
    counts = Counter(y)
    rare = [label for label, n in counts.items() if n < folds]
    if max(counts.values()) < folds:
        raise CommandError(
            f"--folds {folds} is more than any class has rows; take at most {max(counts.values())}."
        )
    if rare:
        warn(
            "evaluate",
            f"classes with less than {folds} rows are not in every fold: {listed(rare)}.",
        )
    labels = sorted(counts, key=_order(counts))
    proba = np.zeros((len(y), len(labels)))
    predicted: list[Any] = [None] * len(y)
    codes = [labels.index(label) for label in y]
    recipe = task.recipe.with_kinds()
    fold = deal(codes, folds, seed)
    with progress("folds", folds) as step:
        for train, test in splits(fold, folds):
            rows = np.sort(np.concatenate([known[train], bare]))
            learned = task.X.iloc[rows].reset_index(drop=True)
            trained = recipe.fit(learned, [task.y[i] for i in rows], verbose=False)
            held = task.X.iloc[known[test]].reset_index(drop=True)
            proba[test], answers = answer(trained, held, labels)
            for i, label in zip(test, answers, strict=True):
                predicted[i] = label
            step()
    return score(labels, y, predicted, proba)


def test_on(task: Task, path: Path, reading: Reading) -> dict[str, Any]:
    """Learn the whole table, and score the answers for another one."""
    target = task.notes["target"]
    reading = replace(reading, decimals=task.notes["decimals"])
    table = read_table(path, reading, types=task.notes["types"], labels=target)
    absent = _find_absent(table, task)
    y = take_labels(table, target)
    kept = [i for i, label in enumerate(y) if label is not None]
    y = [y[i] for i in kept]
    seen = {label for label in task.y if label is not None}
    labels = sorted(seen | set(y), key=_order(seen | set(y)))
    new = set(y) - seen
    if new:
        warn("evaluate", f"{path} has classes that the training table lacks: {listed(new)}.")
    trained = task.recipe.fit(task.X, task.y)
    frame = fill_absent(table, list(task.X.columns), absent)
    X = frame.iloc[kept].reset_index(drop=True)
    proba, predicted = answer(trained, X, labels)
    return score(labels, y, predicted, proba)


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


def answer(trained: Trained, X: pd.DataFrame, labels: list[Any]) -> tuple[np.ndarray, list[Any]]:
    """Return probabilities in the order of `labels`, and the most probable labels."""
    known = list_labels(trained.model.classes_)
    proba = align(trained.predict_proba(X), known, labels)
    return proba, trained.predict(X)


def _order(labels: Any) -> Any:
    return None if all(isinstance(label, int) for label in labels) else str
