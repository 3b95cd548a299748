"""Columns of dates in files: found before anything slow is loaded, and told to the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from infinimix.cli.errors import CommandError, listed, quoted
from infinimix.tables.dates import OPEN, ORDERS, SPAN, TIME, find_order, read_moment
from infinimix.tables.missing import is_missing

FIRST = {"ymd": "", "dmy": ", day first", "mdy": ", month first"}
WORDS = {"days": "elapsed days"}


def check_order(order: str | None) -> None:
    """Refuse an order of dates that there is not."""
    if order not in (None, *ORDERS):
        raise CommandError(f"--date-order: {order!r} is none of {', '.join(ORDERS)}.")


def find_dates(columns: Mapping[str, Sequence[Any]], order: str | None) -> dict[str, str]:
    """Return the columns of dates and the kinds that they have; refuse dates in an open order."""
    found = {}
    for name, cells in columns.items():
        try:
            own = find_order(cells, order)
        except TypeError:  # lists and the like in cells, which the model refuses
            continue
        if own == OPEN:
            raise CommandError(_word_open(name, cells))
        if own is not None:
            found[name] = f"date:{own}"
    return found


def _word_open(name: str, cells: Sequence[Any]) -> str:
    some = (cell for cell in cells if not is_missing(cell))
    word = next(cell for cell in some if read_moment(cell, "dmy") != read_moment(cell, "mdy"))
    return (
        f"column {name!r} holds dates such as {word!r}, in which day and month could change "
        "places; say what comes first with --date-order dmy or --date-order mdy (or "
        f"{quoted([name], '--category')}, if these are no dates)."
    )


def tell_dates(kinds: dict[str, str]) -> list[str]:
    """Return a note for columns of dates that are read in the same way."""
    alike: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        if kind.startswith("date:"):
            alike.setdefault(kind, []).append(name)
    said = []
    for kind, names in alike.items():
        _, order, parts = kind.split(":")
        what = {TIME: "times of day", SPAN: "durations"}.get(order, f"dates{FIRST.get(order, '')}")
        words = [WORDS.get(part, part) for part in parts.split("+")]
        use = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        which = f"column{'s' if len(names) > 1 else ''} {listed(names)}"
        said.append(f"{which}: read as {what}; the model uses {use}.")
    return said
