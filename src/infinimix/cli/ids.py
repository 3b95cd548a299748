"""Columns that name rows: numbers, keys and texts of which nearly each stands there once.

They say nothing about other rows, so commands leave them out, with a note. Measurements are also
all different, so numbers with decimals are never taken for names, and whole numbers only if
something else speaks for it: their name, that none is left out, or their place in the table.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from infinimix.cli.errors import quoted, shell_word
from infinimix.cli.out import count
from infinimix.cli.stray import explain_text
from infinimix.cli.tables_in import InputTable
from infinimix.tables.missing import is_missing

FEWEST = 20  # rows from which on a column of different values is told from chance
NEARLY_ALL = 0.9
SEVERAL = 3  # words of a text: names of people and places have fewer
WORD = re.compile(r"[^\W\d_]+")
LARGE = 10_000  # a first column that goes beyond it numbers things rather than measures them
ID_NAME = re.compile(
    r"(.*[_\W])?(id|ids|idx|index|uuid|guid|key|nr|no|num|number|row|code|ssn|isbn|ean)|column 1"
    r"|(unnamed.*)|.*[a-z]I[dD]",
)


def find_ids(table: InputTable, names: Iterable[str]) -> dict[str, str]:
    """Return which of the columns name rows, and by what that is seen."""
    found = {}
    for name in names:
        if name in table.ambiguous:
            continue  # numbers in two ways: the user is asked which
        cells = table.columns[name]
        cells = cells if isinstance(cells, list) else cells.tolist()
        kind = "amount" if name in table.styles else table.types[name]  # money is no name
        why = judge_cells(name, cells, kind, name == table.source.names[0])
        if why is None:
            continue
        odd = explain_text(cells, table.markers) if kind == "text" else ""
        found[name] = f"{why} (it {odd})" if odd else why
    return found


def find_stream_ids(columns: Mapping[str, list[Any]]) -> dict[str, str]:
    """Return the same of the first rows of a stream, whose cells are text or numbers already."""
    found = {}
    for place, (name, cells) in enumerate(columns.items()):
        some = [cell for cell in cells if not is_missing(cell)]
        kind = "text" if some and all(isinstance(cell, str) for cell in some) else "other"
        if some and all(type(cell) in (int, float) for cell in some):
            kind = "number"
        why = judge_cells(name, cells, kind, place == 0)
        if why is not None:
            found[name] = why
    return found


def word_ids(ids: Mapping[str, str], texts: Collection[str] = ()) -> list[str]:
    """Return a note for each column that is left out; the words of texts can be learned."""
    said = []
    for name, why in ids.items():
        advice = f"keep it with {quoted([name], '--keep')}"
        if name in texts:
            option = f"--model online-crp --text {shell_word(name)}"
            advice += f", or learn from its words alone with {option}"
        said.append(f"column {name!r} left out, as it seems to name rows: {why}; {advice}")
    return said


def holds_texts(cells: Iterable[Any]) -> bool:
    """Whether most cells are several words."""
    some = [cell for cell in cells if not is_missing(cell)]
    long = [cell for cell in some if isinstance(cell, str) and len(WORD.findall(cell)) >= SEVERAL]
    return len(long) > len(some) / 2


def judge_cells(name: str, cells: Iterable[Any], kind: str, first: bool) -> str | None:
    """Return by what it is seen that cells name rows; None if they do not."""
    some = [cell for cell in cells if not is_missing(cell)]
    distinct = len(set(map(str, some)))
    if len(some) < FEWEST or distinct < NEARLY_ALL * len(some):
        return None
    if kind == "text" or (kind == "number" and _names_rows(name, some, distinct, first)):
        return f"{distinct:,} different values in {count(len(some), 'row')}"
    return None


def _names_rows(name: str, some: list[Any], distinct: int, first: bool) -> bool:
    """Whether whole numbers that are nearly all different are no amounts."""
    if any(value != int(value) for value in some):
        return False
    if ID_NAME.fullmatch(name) or ID_NAME.fullmatch(name.lower()):
        return True
    if max(some) - min(some) == distinct - 1:
        return True  # 1, 2, 3, ...
    return first and max(some) >= LARGE
