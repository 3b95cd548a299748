"""What people leave around a table in a file: titles above the header, totals below the rows.

Titles are passed over wherever a file is read, and totals and headers that are repeated among the
rows are left out, so that every command has the same rows. A note says so.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from infinimix.cli.out import count

if TYPE_CHECKING:
    from infinimix.cli.reading import Source

HEAD = 10  # lines among which the header is
ALIKE = 3  # rows below a header that must have as many cells as it
TOTALS = {
    "total", "totals", "grand total", "sum", "subtotal", "average", "mean", "summe", "gesamt",
    "gesamtsumme", "somme", "totale", "suma",
}  # fmt: skip


def count_titles(rows: Sequence[Sequence[Any]]) -> int:
    """Return how many of the first rows are titles, by what is in them and below.

    A title stands alone in its row, and the rows below the header are as wide as it.

    >>> count_titles([["Report"], [], ["a", "b"], ["1", "2"], ["3", "4"], ["5", "6"]])
    2
    >>> count_titles([["a", "b"], ["1", "2"]])
    0
    """
    widths = [sum(cell not in (None, "") for cell in row) for row in rows]
    if not widths or widths[0] != 1:
        return 0
    at = next((k for k, width in enumerate(widths) if width > 1), 0)
    below = [row for row, width in zip(rows[at + 1 :], widths[at + 1 :], strict=True) if width]
    alike = [row for row in below[:ALIKE] if len(row) == len(rows[at])]
    named = all(isinstance(cell, str) for cell in rows[at] if cell is not None)
    return at if at and named and len(alike) == ALIKE else 0


def stands_alone(lines: Sequence[str], delimiter: str) -> bool:
    """Whether the first line has one cell that is not blank."""
    row = next(csv.reader(lines[:1], delimiter=delimiter), [])
    return sum(bool(cell.strip()) for cell in row) == 1


def count_title_lines(lines: Sequence[str], delimiter: str) -> int:
    """Return the same for the first lines of a text file."""
    try:
        rows = [next(csv.reader([line], delimiter=delimiter), []) for line in lines[:HEAD]]
    except csv.Error:
        return 0
    return count_titles([[cell.strip() for cell in row] for row in rows])


def tell_titles(name: str, n: int) -> None:
    """Say that lines above the header were passed over."""
    if n:
        what = "line" if n == 1 else f"{n} lines"
        warnings.warn(f"{name}: the first {what} passed over, as no header.", stacklevel=3)


def leave_out_totals(source: Source) -> Source:
    """Return a file without totals at its end and without repetitions of its header.

    A single column has no totals: its last cell may be any word.
    """
    header = [name.casefold() for name in source.names]
    first = [name.rsplit("_", 1)[0] for name in header]  # of names that were told apart
    begins = {header[0], first[0]}
    maybe = [i for i, cell in enumerate(source.cells[0]) if _text(cell) in begins]
    again = {i for i in maybe if _row(source, i) in (header, first)}
    n_rows, last = source.n_rows, source.n_rows - 1
    some = [cell for cell in _row(source, last) if cell]
    total = bool(some) and some[0].rstrip(":") in TOTALS and len(source.names) > 1
    if len(again) + total >= n_rows or not (again or total):
        return source
    if again:
        said = f"{count(len(again), 'repetition')} of the header left out."
        warnings.warn(said, stacklevel=3)
    if total:
        said = f"the last row left out, as it holds totals ({source.where(last)})."
        warnings.warn(said, stacklevel=3)
    kept = [i for i in range(n_rows) if i not in again and not (total and i == last)]
    cells = [[column[i] for i in kept] for column in source.cells]
    return replace(source, cells=cells, lines=[source.lines[i] for i in kept], whole=source)


def _row(source: Source, i: int) -> list[str]:
    return [_text(column[i]) for column in source.cells]


def _text(cell: Any) -> str:
    return cell.strip().casefold() if isinstance(cell, str) else "" if cell is None else str(cell)
