"""Columns of dates spread over several columns: found in a first table, repeated in later ones.

Every other file of this room sees the columns that a date has become, in the place where it was.
The schema keeps which they are (`Schema.dates`). A later table may hold the date, or its parts
under their own names, as samples of a model do.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from infinimix.tables import errors
from infinimix.tables.dates import (
    OPEN,
    ORDERS,
    PARTS,
    SPAN,
    TIME,
    DateColumn,
    Moment,
    choose_parts,
    find_order,
    part_of,
    read_moment,
)
from infinimix.tables.forms import Cells, Columns, Table
from infinimix.tables.missing import is_missing
from infinimix.tables.readers import open_table

__all__ = ["find_dates", "spread", "spread_frame"]

KINDS = {"month": "categorical", "weekday": "categorical", "hour": "real", "days": "real"}


def find_dates(
    table: Table, columns: str | Mapping[Any, str]
) -> tuple[Table, tuple[DateColumn, ...], Any]:
    """Spread the dates of a first table; return it, what they are, and what is asked of columns.

    Parameters
    ----------
    table : Table
        As it was opened.
    columns : str or mapping
        As the user asks for; ``"date"``, ``"date:dmy"`` and so on ask for dates.
    """
    asked, rest = _read_request(columns, table)
    if not isinstance(table, Columns) or (isinstance(columns, str) and columns != "auto"):
        return table, (), rest
    named = rest if isinstance(rest, Mapping) else {}
    places = {key for key in named if not isinstance(key, tuple)}
    places |= {name for key in named if isinstance(key, tuple) for name in key}
    found = []
    for j, name in enumerate(table.names):
        if not {name, table.labels[j], j} & places:
            date = _find(table, j, asked.get(j))
            found += [] if date is None else [date]
    if not found:
        return table, (), rest
    kinds = {
        column: KINDS[part]
        for date in found
        for part, column in zip(date.parts, date.columns, strict=True)
        if part in KINDS and column not in places
    }
    dates = tuple(found)
    return spread(table, dates, _spread_names(table.names, dates)), dates, {**kinds, **named}


def _read_request(columns: Any, table: Table) -> tuple[dict[int, str], Any]:
    """Part what is asked of dates, by position, from the rest."""
    if not isinstance(columns, Mapping):
        return {}, columns
    places: dict[Any, int] = {label: j for j, label in enumerate(table.labels)}
    places |= {name: j for j, name in enumerate(table.names)}
    asked, rest = {}, {}
    for key, kind in columns.items():
        if not isinstance(kind, str) or kind.partition(":")[0] != "date":
            rest[key] = kind
        elif key in places:
            asked[places[key]] = _check_request(kind)
        elif not any(name.startswith(f"{key} ") for name in table.names):
            raise ValueError(
                f"columns names {key!r}, which is not a column of X; it has "
                + errors.listed(table.names)
            )
    return asked, rest


def _check_request(kind: str) -> str:
    _, _, rest = kind.partition(":")
    order, _, parts = rest.partition(":")
    good = order in ("", *ORDERS, TIME, SPAN) and {*parts.split("+")} <= {"", *PARTS}
    if not good:
        raise ValueError(
            f"columns: {kind!r} is not a kind of dates; there are 'date', 'date:ymd', 'date:dmy' "
            "and 'date:mdy', and parts as in 'date:ymd:year+month'"
        )
    return rest


def _find(table: Columns, j: int, request: str | None) -> DateColumn | None:
    name, cells = table.names[j], table.column(j)
    given, _, wanted = (request or "").partition(":")
    if not isinstance(cells.values, list) or (cells.category and request is None):
        if request is not None:
            raise errors.not_date(name, 0, cells.values[0])
        return None
    try:
        order = find_order(cells.values, given or None)
    except TypeError:  # lists and the like, which have a refusal of their own
        return None
    if order == OPEN:
        _tell_open(name, request is not None)
        return None
    if order is None and request is None:
        return None
    order = given or order or "ymd"  # the first cell that does not fit is refused
    moments = [m for m in _moments(cells, name, order) if m is not None]
    parts = tuple(wanted.split("+")) if wanted else choose_parts(moments, order)
    parts = parts or ("days",)
    origin = 0 if order in (TIME, SPAN) else int(min((m.day or 0 for m in moments), default=0))
    return DateColumn(name, order, origin, parts, _part_names(name, parts, table.names))


def _part_names(name: str, parts: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Return what the parts are called; no other column has such a name."""
    end = ""
    while any(f"{name} {part}{end}" in taken for part in parts):
        end += "_"
    return tuple(f"{name} {part}{end}" for part in parts)


def _tell_open(name: str, asked: bool) -> None:
    text = (
        f"column {name!r} holds dates in which day and month could change places; say which comes "
        f'first with columns={{{name!r}: "date:dmy"}} or "date:mdy"'
    )
    if asked:
        raise ValueError(text)
    warnings.warn(f"{text}. Until then its values are categories.", stacklevel=4)


def _spread_names(names: Sequence[str], dates: Sequence[DateColumn]) -> tuple[str, ...]:
    parts = {date.name: date.columns for date in dates}
    return tuple(column for name in names for column in parts.get(name, (name,)))


def spread(table: Table, dates: Sequence[DateColumn], names: Sequence[str]) -> Columns:
    """Return a table with the columns `names`, parts of dates among them.

    Columns of the table are found by name; those it lacks are missing cells.
    """
    place = {name: j for j, name in enumerate(table.names)}
    parsed = [_Parsed(table, place[date.name], date) for date in dates if date.name in place]
    owner = {
        column: (one, part)
        for one in parsed
        for part, column in zip(one.date.parts, one.date.columns, strict=True)
    }

    def pick(j: int) -> Cells:
        name = names[j]
        if name in owner:
            dates_of, part = owner[name]
            return dates_of.part(part)
        if name in place:
            return table.column(place[name])
        return Cells([None] * table.n_rows)

    labels = tuple(table.labels[place[n]] if n in place else n for n in names)
    return Columns(tuple(names), labels, table.named, table.n_rows, pick=pick)


def spread_frame(X: Any, dates: Sequence[DateColumn]) -> dict[str, list[Any]]:
    """Return the columns of a frame with its dates spread, for models that take numbers only."""
    table = open_table(X)
    wide = spread(table, dates, _spread_names(table.names, dates))
    found = {}
    for j, name in enumerate(wide.names):
        cells = wide.column(j)
        values = cells.values if isinstance(cells.values, list) else cells.values.tolist()
        holes = [False] * len(values) if cells.missing is None else cells.missing.tolist()
        found[name] = [None if hole else value for value, hole in zip(values, holes, strict=True)]
    return found


class _Parsed:
    """The moments of a column of dates, read once."""

    def __init__(self, table: Table, j: int, date: DateColumn) -> None:
        self.table, self.j, self.date = table, j, date

    @cached_property
    def moments(self) -> list[Moment | None]:
        return _moments(self.table.column(self.j), self.date.name, self.date.order)

    def part(self, part: str) -> Cells:
        cache: dict[Moment | None, Any] = {None: None}
        for moment in self.moments:
            if moment is not None and moment not in cache:
                cache[moment] = part_of(moment, part, self.date.origin)
        return Cells([cache[moment] for moment in self.moments])


def _moments(cells: Cells, name: str, order: str) -> list[Moment | None]:
    if not isinstance(cells.values, list):
        if cells.missing is None or not cells.missing.all():
            holes = [is_missing(value) for value in cells.values.tolist()]
            if not all(holes):
                raise errors.not_date(name, holes.index(False), cells.values[holes.index(False)])
        return [None] * len(cells.values)
    known: dict[Any, Moment | None] = {}
    out: list[Moment | None] = []
    for row, value in enumerate(cells.values):
        if is_missing(value):
            out.append(None)
            continue
        if value not in known:
            known[value] = read_moment(value, order)
        if known[value] is None:
            raise errors.not_date(name, row, value)
        out.append(known[value])
    return out
