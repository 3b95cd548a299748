"""What the target is to be: classes as they stand, classes of a number by quantiles, or a number.

If nobody says, a column of numbers with many different values is predicted as a number, and a note
says so. Nothing here loads NumPy: a file may still be refused.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from infinimix.cli.errors import CommandError, listed
from infinimix.cli.out import warn
from infinimix.cli.reading import Reading, Source
from infinimix.cli.tables_in import (
    InputTable,
    check_ambiguous,
    holds_thousands,
    read_labels,
    understand,
)
from infinimix.evaluation.abilities import Regressing, able
from infinimix.tables.missing import is_missing

REGRESSOR = "regressor"  # its name for --model
MOST_WHOLE = 30  # different whole numbers that may still be names of classes
MOST_BROKEN = 10  # different numbers that are not whole
FEWEST = 20  # rows: of fewer nearly all values differ
MOST_SHARE = 0.5  # of the rows: whole numbers that differ in more of them are no classes


@dataclass(frozen=True)
class Goal:
    """What the user wants of the target; None is left to the values."""

    regression: bool | None = None
    bins: int | None = None

    def decide(self, command: str, model: str) -> Goal:
        """Check that the options go together, and with a model."""
        if self.bins is not None and self.regression:
            raise CommandError("--bins makes classes, --regression none; leave one of them out.")
        if model == REGRESSOR and (self.bins is not None or self.regression is False):
            option = "--classes" if self.bins is None else "--bins"
            raise CommandError(f"--model {REGRESSOR} predicts numbers; leave it or {option} out.")
        if self.regression and model not in ("aclass", REGRESSOR):
            raise CommandError(f"--regression: {model} predicts classes; leave --model out.")
        found = self.bins is not None or model not in ("aclass", REGRESSOR)
        if model == REGRESSOR:
            return replace(self, regression=True)
        return replace(self, regression=False) if found else self


def refuse_for_numbers(target: str, given: Mapping[str, Any]) -> None:
    """Refuse options that are for classes, where the target is a number."""
    for option, value in given.items():
        if value:
            raise CommandError(
                f"{option} is for classes, but {target!r} is predicted as a number; leave it out, "
                "or make classes with --bins 4."
            )


def check_answers(model: Any, interval: float | None, cost: str | None) -> None:
    """Refuse a coverage that is none, intervals of classes, and costs of numbers."""
    if cost is not None and able(model, Regressing):
        raise CommandError(
            f"--cost is for classes, but {type(model).__name__} predicts numbers; leave it out."
        )
    if interval is None:
        return
    if not 0.0 < interval < 1.0:
        raise CommandError(
            f"--interval {interval:g} is no share between 0 and 1; 0.9 covers nine rows of ten."
        )
    if not able(model, Regressing):
        raise CommandError(
            f"--interval: {type(model).__name__} predicts classes, which have none; --proba writes "
            "their probabilities."
        )


class Bins(NamedTuple):
    """Classes of numbers."""

    edges: list[float]  # between them
    names: list[str]


def settle(
    command: str, source: Source, target: str, reading: Reading, goal: Goal
) -> tuple[Source, bool, Bins | None]:
    """Return the file, maybe with classes for numbers, and whether the target is a number.

    The bins are by what numbers have become classes, if they have.
    """
    if goal.regression is False and goal.bins is None:
        return source, False, None
    values = _numbers(source, target, reading, asked=goal.regression or goal.bins is not None)
    if values is None:
        if goal.regression or goal.bins is not None:
            option = f"--regression (--model {REGRESSOR})" if goal.regression else "--bins"
            raise CommandError(
                f"{option} needs numbers, but the column {target!r} holds "
                f"{_examples(source, target)}; leave it out to predict classes."
            )
        return source, False, None
    some = [value for value in values if value is not None]
    if goal.bins is not None:
        bins = Bins(*find_bins(some, goal.bins, target))
        return _with_bins(source, target, values, bins), False, bins
    if goal.regression is None and has_many(some):
        warn(
            command,
            f"{target!r} holds {len(set(some)):,} different numbers, so it is predicted as a "
            "number (--regression); for classes by quantiles say --bins 4, to keep each number "
            "as a class --classes.",
        )
        return source, True, None
    return source, bool(goal.regression), None


def has_many(some: list[Any]) -> bool:
    """Return whether numbers have so many values that they are amounts and no classes."""
    distinct = len(set(some))
    if len(some) < FEWEST:
        return False
    if any(value % 1 for value in some):
        return distinct > MOST_BROKEN
    return distinct > MOST_WHOLE or (distinct > FEWEST and distinct > MOST_SHARE * len(some))


def take_numbers(table: InputTable, target: str) -> list[float | None]:
    """Return the target as numbers, None where it is missing; a constant is refused."""
    y = [None if is_missing(v) else float(v) for v in read_labels(table, target)]
    distinct = {value for value in y if value is not None}
    if len(distinct) < 2:
        has = f"is always {distinct.pop():g}" if distinct else "has no values at all"
        raise CommandError(f"the column {target!r} {has}: there is nothing to predict.")
    return y


def _numbers(
    source: Source, target: str, reading: Reading, asked: bool | None = True
) -> list[Any] | None:
    """Return the target as numbers, None where it is missing; None if it holds something else.

    Cells such as 1,234 are numbers in two ways: the other columns may decide it. If they do not,
    the column is refused where numbers are asked for. Those such as 1.234 are plain numbers, unless
    other columns have decimal commas.
    """
    cells = source.cells[source.names.index(target)]
    alone = understand(replace(source, names=[target], cells=[cells]), reading)
    if target in alone.ambiguous or (target not in alone.styles and holds_thousands(cells)):
        alone = understand(source, reading)
        check_ambiguous(alone, [target] if asked else [])
    if alone.types[target] != "number":
        return None
    return [None if is_missing(value) else value for value in list(alone.columns[target])]


def read_numbers(source: Source, target: str, reading: Reading) -> list[Any]:
    """Return the target as numbers, None where it is missing; something else is refused."""
    values = _numbers(source, target, reading)
    if values is None:
        raise CommandError(
            f"the target is a number, but the column {target!r} of {source.name} holds "
            f"{_examples(source, target)}; name another --target."
        )
    return values


def _examples(source: Source, target: str) -> str:
    cells = source.cells[source.names.index(target)]
    return listed(dict.fromkeys(cell for cell in cells if not is_missing(cell)), 3)


def bin_target(source: Source, target: str, reading: Reading, bins: Bins | None) -> Source:
    """Return another file with the same classes for its numbers, if there are any."""
    if bins is None or target not in source.names:
        return source
    return _with_bins(source, target, read_numbers(source, target, reading), bins)


def _with_bins(source: Source, target: str, values: list[Any], bins: Bins) -> Source:
    """Return the file with a class for each number."""
    edges, names = bins
    labels = [None if value is None else names[bisect_right(edges, value)] for value in values]
    j = source.names.index(target)
    cells = list(source.cells)
    cells[j] = [old if new is None else new for old, new in zip(cells[j], labels, strict=True)]
    return replace(source, cells=cells)


def find_bins(some: list[Any], bins: int, target: str) -> tuple[list[float], list[str]]:
    """Return the edges between classes of about as many rows each, and the names of the classes.

    >>> find_bins([1, 2, 3, 4], 2, "size")
    ([3], ['1: below 3', '2: 3 or more'])
    """
    ordered = sorted(some)
    edges = sorted({ordered[round(k * len(ordered) / bins)] for k in range(1, bins)} - {ordered[0]})
    if not edges:
        raise CommandError(
            f"--bins {bins}: the column {target!r} has too few different numbers for classes."
        )
    inner = [f"{a:g} to {b:g}" for a, b in pairwise(edges)]
    names = [f"below {edges[0]:g}", *inner, f"{edges[-1]:g} or more"]
    return edges, [f"{k}: {name}" for k, name in enumerate(names, 1)]
