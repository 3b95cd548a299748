"""Weights of rows and classes on the command line: `--weights COLUMN` and `--class-weight`.

A column of whole numbers counts rows: the table is read as if each row stood in it so often, so
that folds, scores and intervals are those of the rows that are counted. Other weights are relative
and only weigh what a model learns. Nothing here loads NumPy: a file may still be refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infinimix.cli.errors import CommandError, hint, listed
from infinimix.cli.out import count, warn
from infinimix.cli.tables_in import InputTable, check_ambiguous, need_columns
from infinimix.tables.missing import is_missing

MOST_ROWS = 10_000_000  # that counts may stand for
#: models that take weights of classes, and those that take relative weights of rows
CLASS_WEIGHTED = ("aclass", "finite-mixture", "m2dpm", "m2dpm-cv", "dpmeans-svc", "gibbs-svc")
WEIGHTED = (*CLASS_WEIGHTED, "hybrid")


def read_weights(
    command: str, table: InputTable, name: str
) -> tuple[list[int], list[float] | None]:
    """Return the rows of the file to take, maybe several times, and their relative weights.

    Rows of weight 0 are not among them. The weights are None if they are counts.
    """
    need_columns(table.source, [name], "--weights")
    check_ambiguous(table, [name])
    cells = table.plain_columns()[name]
    if table.types[name] not in ("number", "flag"):
        some = list(dict.fromkeys(cell for cell in cells if not is_missing(cell)))
        raise CommandError(
            f"--weights: the column {name!r} holds {listed(some, 3)}; weights are numbers."
        )
    for row, cell in enumerate(cells, 1):
        if is_missing(cell) or cell < 0:
            has = "no weight" if is_missing(cell) else f"the weight {cell:g}"
            raise CommandError(
                f"--weights: row {row} has {has} in {name!r}; give every row a number from 0 on."
            )
    if all(cell == int(cell) for cell in cells):
        return _counted(command, name, cells), None
    places = [i for i, cell in enumerate(cells) if cell > 0]
    warn(
        command,
        f"weights of {name!r} are relative, as they are not all whole numbers: models learn with "
        "them, and scores count every row once.",
    )
    return places, [float(cells[i]) for i in places]


def _counted(command: str, name: str, cells: Sequence[Any]) -> list[int]:
    total = int(sum(cells))
    if total == 0:
        raise CommandError(f"--weights: the column {name!r} is always 0, so no row is left.")
    if total > MOST_ROWS:
        raise CommandError(
            f"--weights: the counts of {name!r} sum to {total:,}, more than {MOST_ROWS:,}; divide "
            "them by a number that makes them fractions, which are relative weights."
        )
    if any(cell != 1 for cell in cells):
        said = f"{count(len(cells), 'row')} of the file counted as {count(total, 'row')}"
        warn(command, f"{said} by {name!r}.")
    return [i for i, cell in enumerate(cells) for _ in range(int(cell))]


def read_class_weight(text: str | None, y: Sequence[Any]) -> Any:
    """Return "balanced" or a mapping from labels to numbers, as the estimators take it.

    >>> read_class_weight("no=1, yes=5", ["no", "yes", None])
    {'no': 1.0, 'yes': 5.0}
    """
    if text is None or text == "balanced":
        return text
    labels = {str(label): label for label in y if label is not None}
    found: dict[Any, float] = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        if name.strip() not in labels:
            if not equals:
                raise CommandError(
                    f"--class-weight: {text!r} is neither balanced nor a list such as "
                    f'"{next(iter(labels))}=5".'
                )
            raise CommandError(
                f"--class-weight: there is no class {name.strip()!r}; "
                + hint(name.strip(), list(labels))
            )
        found[labels[name.strip()]] = _positive(value, name.strip())
    return found


def _positive(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value < float("inf"):
        raise CommandError(f"--class-weight: {text!r} of {name!r} is no number above 0.")
    return value


def check_weighted(model: str, weights: Sequence[float] | None) -> None:
    """Refuse relative weights for a model that can only count rows."""
    if weights is not None and model not in WEIGHTED:
        raise CommandError(
            f"--weights: {model} counts rows, so weights must be whole numbers; "
            f"{', '.join(WEIGHTED)} take others."
        )


def arguments(weights: Any) -> Mapping[str, Any]:
    """Return what `fit` is given for weights."""
    return {} if weights is None else {"sample_weight": weights}
