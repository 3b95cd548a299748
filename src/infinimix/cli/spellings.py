"""Values of a column that differ by their spelling only: by spaces around them, or by case.

Spaces around text are never part of a value. Case may be, so such values stay apart, and are named.
"""

from __future__ import annotations

from collections.abc import Iterable

from infinimix.cli.tables_in import InputTable
from infinimix.tables.missing import is_missing

MOST = 100  # different values of a column that are compared: more are texts and no categories
MOST_SHOWN = 5


def tell_spellings(table: InputTable, names: Iterable[str]) -> list[str]:
    """Return a note for each column whose values differ by spaces or case."""
    said = []
    for name in names:
        if table.types[name] != "text":
            continue
        values = dict.fromkeys(v for v in table.columns[name] if not is_missing(v))
        if len(values) > MOST:
            continue
        if name in table.trimmed:
            said.append(
                f"column {name!r}: spaces around {_shown(map(repr, table.trimmed[name]))} ignored."
            )
        if pairs := find_variants(values):
            said.append(
                f"column {name!r} has {_shown(pairs)} as different values; if they mean the same, "
                "write them in one way."
            )
    return said


def find_variants(values: Iterable[str]) -> list[str]:
    """Return which values differ by case only, as words.

    >>> find_variants(["m", "w", "M"])
    ["'m' and 'M'"]
    """
    alike: dict[str, list[str]] = {}
    for value in values:
        alike.setdefault(value.casefold(), []).append(value)
    return [" and ".join(map(repr, found)) for found in alike.values() if len(found) > 1]


def _shown(words: Iterable[str]) -> str:
    words = list(words)
    more = len(words) - MOST_SHOWN
    return ", ".join(words[:MOST_SHOWN]) + (f" and {more} more" if more > 0 else "")
