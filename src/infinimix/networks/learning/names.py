"""Columns by name: the one place where names that users give are found.

A string is the name of a column. A whole number is the column of that name, in tables whose columns
are named by numbers, and otherwise the position of a column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.tables.dates import PARTS

MOST_LISTED = 6  # names in an error


def find_column(names: Sequence[str], name: Any) -> int | None:
    """Return where a column is, None if there is none.

    Examples
    --------
    >>> find_column(("a", "b"), "b"), find_column(("a", "b"), 1), find_column(("a", "b"), "c")
    (1, 1, None)
    >>> find_column(("1", "2"), 1), find_column(("1", "2"), 0)
    (0, None)
    """
    whole = isinstance(name, int | np.integer) and not isinstance(name, bool | np.bool_)
    if not whole and not isinstance(name, str):
        return None
    if str(name) in names:
        return list(names).index(str(name))
    numbered = any(own.lstrip("-").isdigit() for own in names)  # then a number is a name
    return int(name) if whole and not numbered and 0 <= name < len(names) else None


def list_others(names: Sequence[str], name: Any) -> str:
    """Return which columns there are instead of a name: those that a date has become, or some.

    Examples
    --------
    >>> list_others(("when month", "when hour", "a"), "when")
    "; the columns of this date are 'when month', 'when hour'"
    >>> list_others(("size cm", "a"), "size")
    "; there are 'size cm', 'a'"
    """
    parts = [own for own in names if own in {f"{name} {part}" for part in PARTS}]
    if parts:
        return f"; the columns of this date are {', '.join(map(repr, parts))}"
    more = ", ..." if len(names) > MOST_LISTED else ""
    return f"; there are {', '.join(map(repr, names[:MOST_LISTED]))}{more}"


def as_list(columns: Any) -> list[Any]:
    """Return columns as a list; a name by itself is one column, not its letters."""
    alone = isinstance(columns, str | int | np.integer)
    return [columns] if alone else list(columns)


def check_different(names: Sequence[str], at: Iterable[int], where: str) -> None:
    """Raise ValueError for a column that is asked for twice."""
    seen: set[int] = set()
    for j in at:
        if j in seen:
            raise ValueError(f"{where}: {names[j]!r} is asked for twice; name each column once")
        seen.add(j)


def by_place(
    names: Sequence[str], values: Mapping[Any, Any] | None, what: str = "column"
) -> dict[int, Any]:
    """Return cells by the place of their column; ValueError for a column that is not there."""
    found: dict[int, Any] = {}
    for name, value in (values or {}).items():
        j = find_column(names, name)
        if j is None:
            raise ValueError(f"there is no {what} {name!r}{list_others(names, name)}")
        found[j] = value
    return found


def find_targets(
    names: Sequence[str], targets: Any, given: Mapping[Any, Any] | None, what: str = "column"
) -> list[int]:
    """Return where columns are; ValueError for one that is not there, or is given."""
    known, found = by_place(names, given, what), []
    for name in as_list(targets):
        j = find_column(names, name)
        if j is None:
            raise ValueError(f"there is no {what} {name!r}{list_others(names, name)}")
        if j in known:
            raise ValueError(f"{name!r} is both asked for and given")
        found.append(j)
    return found
