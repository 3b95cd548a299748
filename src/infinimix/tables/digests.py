"""What the partitions of a table say of its columns, in a few values each.

The kind of a column follows from its distinct values, as they first appear, and from how many cells
are observed. A digest has these, if numbers have few distinct values (more of them are real), and
digests of neighbouring partitions merge into that of both. So the schema of a table is found where
none of its rows are. Only a column that has a transform or a resolution is asked whole, elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.codes import encode_codes
from infinimix.tables.column import KINDS, Column
from infinimix.tables.forms import Cells, Columns
from infinimix.tables.judging import MOST_CATEGORIES
from infinimix.tables.kinds import AskedColumn, Rule, decide, make_schema, read_request
from infinimix.tables.missing import is_missing
from infinimix.tables.packed import PackedColumn, PackedFrame, unite
from infinimix.tables.schema import Schema
from infinimix.tables.spreading import find_dates

__all__ = ["Decided", "Digest", "decide_whole", "digest", "merge", "read_schema_of"]

SOME_NUMBERS = Cells(np.zeros(1))  # where there are too many to be listed


class Digest(NamedTuple):
    """A column of some partitions."""

    cells: Cells | None  # distinct values as they first appear, and a missing one; None: too many
    n_observed: int
    is_text: bool
    is_number: bool


class Decided(NamedTuple):
    """What a column is, the type of its values, and its categories if it has any."""

    column: Column
    source: str
    categories: tuple[Any, ...]


def digest(column: PackedColumn, most: int | None = MOST_CATEGORIES) -> Digest:
    """Return the digest of a column of one partition; of more than `most` numbers none are kept."""
    if column.distinct is not None:
        codes = np.asarray(column.values)
        n_observed = int(np.count_nonzero(codes))
        values = [*column.distinct[1:], *([None] if n_observed < len(codes) else [])]
        cells: Cells | None = Cells(values, None, column.category, column.widened)
    else:
        n_observed, cells = _reduced(column.cells(), most)
    return Digest(cells, n_observed, column.is_text, column.is_number)


def merge(digests: Sequence[Digest], most: int | None = MOST_CATEGORIES) -> Digest:
    """Return the digest of partitions one after the other."""
    listed = [one.cells for one in digests if one.cells is not None]
    cells = _reduced(unite(listed), most)[1] if len(listed) == len(digests) else None
    return Digest(
        cells,
        sum(one.n_observed for one in digests),
        any(one.is_text for one in digests),
        any(one.is_number for one in digests),
    )


def _reduced(cells: Cells, most: int | None) -> tuple[int, Cells | None]:
    """Return the number of observed cells, and the distinct ones as they first appear."""
    if isinstance(cells.values, list):
        return _reduced_list(cells, cells.values)
    holes = np.zeros(len(cells.values), bool) if cells.missing is None else cells.missing
    if cells.values.dtype.kind == "f":
        holes = holes | np.isnan(cells.values)
    observed = cells.values[~holes] if holes.any() else cells.values
    few = _first_values(observed, most)
    if few is None:
        return len(observed), None
    if len(observed) == len(cells.values):
        return len(observed), cells._replace(values=few, missing=None)
    missing = np.arange(len(few) + 1) == len(few)
    return len(observed), cells._replace(values=np.append(few, few.dtype.type(0)), missing=missing)


def _first_values(values: NDArray[Any], most: int | None) -> NDArray[Any] | None:
    """Return the distinct numbers as they first appear; None if there are more than so many."""
    if most is not None and len(np.unique(values[:1000])) > most:
        return None
    found: list[Any] = []
    rest = values
    while len(rest):
        if len(found) == most:
            return None
        found.append(rest[0])
        rest = rest[rest != rest[0]]
    return np.array(found, dtype=values.dtype)


def _reduced_list(cells: Cells, values: list[Any]) -> tuple[int, Cells | None]:
    try:
        seen = dict.fromkeys((type(value), value) for value in values if not is_missing(value))
    except TypeError:  # lists and the like: the whole column is refused by name
        return len(values), None
    n_observed = sum(not is_missing(value) for value in values)
    holes = [None] if n_observed < len(values) else []
    return n_observed, cells._replace(values=[*(value for _, value in seen), *holes])


def read_schema_of(
    outline: PackedFrame,
    digests: Sequence[Digest],
    columns: Any,
    rule: Rule,
    ask: Callable[[list[AskedColumn]], list[Decided]],
) -> Schema | None:
    """Return the schema of a table by the digests of its columns; None if it has dates.

    `ask` decides columns by all of their cells (`decide_whole`), wherever these are.
    """

    def pick(j: int) -> Cells:
        return digests[j].cells or SOME_NUMBERS

    first = (outline.names, outline.labels, outline.named)
    table, dates, columns = find_dates(Columns(*first, outline.n_rows, pick=pick), columns)
    if dates:
        return None
    kinds = read_request(columns, table)
    asked = [
        AskedColumn(name, table.labels[j], j, kinds.get(j, "auto"))
        for j, name in enumerate(table.names)
    ]
    found = [_decide_by(one, digests[one.at], rule) for one in asked]
    whole = [one for one, decided in zip(asked, found, strict=True) if decided is None]
    later = iter(ask(whole) if whole else [])
    known = [next(later) if decided is None else decided for decided in found]
    schema = make_schema(table, columns, [one[:2] for one in known])
    categories = tuple(one.categories for one in known if one.column.kind == "categorical")
    return replace(schema, categories=categories)


def _decide_by(asked: AskedColumn, known: Digest, rule: Rule) -> Decided | None:
    """Return what a column is if its digest tells: None if all cells are to be asked."""
    if known.cells is None:
        return None
    try:
        found = decide_whole(known.cells, asked, rule, known.n_observed)
    except (TypeError, ValueError):  # which names the row, where all rows are
        return None
    return None if KINDS[found.column.kind].transformed else found


def decide_whole(
    cells: Cells, asked: AskedColumn, rule: Rule, n_observed: int | None = None
) -> Decided:
    """Return what a column is, by all of its cells or by the distinct ones."""
    column, source = decide(cells, asked, rule, n_observed)
    if column.kind != "categorical":
        return Decided(column, source, ())
    return Decided(column, source, tuple(encode_codes(cells, asked.name, {}, True).values))
