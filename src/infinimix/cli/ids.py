"""Columns that name rows: numbers, keys and texts of which nearly each stands there once.

They say nothing about other rows, so commands leave them out, with a note. Measurements are also
all different, so numbers with decimals are never taken for names, and whole numbers only if
something else speaks for it: their name, that none is left out, or their place in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from infinimix.cli.out import count
from infinimix.cli.tables_in import InputTable
from infinimix.tables.missing import is_missing

FEWEST = 20  # rows from which on a column of different values is told from chance
NEARLY_ALL = 0.9
LARGE = 10_000  # a first column that goes beyond it numbers things rather than measures them
ID_NAME = re.compile(
    r"(.*[_\W])?(id|ids|idx|index|uuid|guid|key|nr|no|num|number|row|code|ssn|isbn|ean)|column 1"
    r"|(unnamed.*)|.*[a-z]I[dD]",
)


def find_ids(table: InputTable, names: Iterable[str]) -> dict[str, str]:
    """Return which of the columns name rows, and by what that is seen."""
    found = {}
    for name in names:
        cells = table.columns[name]
        cells = cells if isinstance(cells, list) else cells.tolist()
        some = [cell for cell in cells if not is_missing(cell)]
        distinct = len(set(map(str, some)))
        if len(some) < FEWEST or distinct < NEARLY_ALL * len(some):
            continue
        if table.types[name] == "text" or _names_rows(table, name, some, distinct):
            found[name] = f"{distinct:,} different values in {count(len(some), 'row')}"
    return found


def _names_rows(table: InputTable, name: str, some: list[Any], distinct: int) -> bool:
    """Whether whole numbers that are nearly all different are no amounts."""
    if table.types[name] != "number" or name in table.styles:
        return False  # an amount of money is one
    if any(value != int(value) for value in some):
        return False
    if ID_NAME.fullmatch(name) or ID_NAME.fullmatch(name.lower()):
        return True
    if max(some) - min(some) == distinct - 1:
        return True  # 1, 2, 3, ...
    return name == table.source.names[0] and max(some) >= LARGE
