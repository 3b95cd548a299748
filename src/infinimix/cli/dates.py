"""Columns of dates in files: found before anything slow is loaded, and told to the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infinimix.cli.errors import CommandError, listed, quoted
from infinimix.tables.dates import OPEN, ORDERS, SPAN, TIME, find_order, read_moment
from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    from infinimix.cli.tables_in import InputTable

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


def find_orders(kinds: Mapping[str, str]) -> dict[str, str]:
    """Return in which order the columns of dates are read."""
    return {name: kind.split(":")[1] for name, kind in kinds.items() if kind.startswith("date:")}


def check_dates(table: InputTable, orders: Mapping[str, str]) -> None:
    """Refuse a cell of a later table that is no date in the order of its column."""
    for name, order in orders.items():
        for i, cell in enumerate(table.columns.get(name, ())):
            if is_missing(cell) or read_moment(cell, order) is not None:
                continue
            shown = cell if isinstance(cell, str) else str(cell)
            raise CommandError(
                f"{table.source.name}: {table.source.where(i)}: column {name!r} holds "
                f"{_word_order(order)}, but here {shown!r}; correct it, or say with --missing that "
                "it means a missing cell."
            )


def _word_order(order: str) -> str:
    return {TIME: "times of day", SPAN: "durations"}.get(order, f"dates{FIRST.get(order, '')}")


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
        words = [WORDS.get(part, part) for part in parts.split("+")]
        use = " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        which = f"column{'s' if len(names) > 1 else ''} {listed(names)}"
        said.append(f"{which}: read as {_word_order(order)}; the model uses {use}.")
    return said
