"""Pieces that only reports have: key figures, contents, plain tables, folded tables, matrices.

As in `page`, plain text is escaped by the templates; arguments named `piece` are HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from infinimix.reports.markup import Markup, draw
from infinimix.tables.missing import is_missing

MOST_SHADE = 45  # percent of the accent colour behind text: contrast stays above 4.5 to 1
LONG = 40  # characters of a label before it is cut

_piece = partial(draw, "pieces.html")


class Names(NamedTuple):
    """What things are called: the page, the column of the target, and where the rows are from."""

    title: str | None = None
    target: str | None = None
    source: str | None = None


def contents(entries: Iterable[tuple[str, str]]) -> Markup:
    """Return links to the sections: pairs of anchor and title."""
    return _piece("contents", entries)


def key_figures(entries: Iterable[tuple[str, str, str]]) -> Markup:
    """Return the figures that matter most: name, value and a note each."""
    return _piece("key_figures", entries)


def plain_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "plain"
) -> Markup:
    """Return a table of plain text; the first cell of a row names it. Wide ones scroll."""
    return _piece("plain_table", caption, head, rows, kind)


def matrix(
    caption: str, head: Sequence[str], rows: Iterable[tuple[str, Iterable[tuple[str, float]]]],
    label: str = "",
) -> Markup:  # fmt: skip
    """Return a table of cells (text, share) whose shade says how large the share is, up to 1."""
    return _piece("matrix", caption, head, rows, MOST_SHADE, label or caption)


def scroll(piece: str, label: str) -> Markup:
    """Return a piece that scrolls sideways on a narrow screen, by keyboard too."""
    return _piece("scroll", label, piece)


def folded(title: str, piece: str, opened: bool = False) -> Markup:
    """Return a piece that opens on demand, and is open on paper."""
    return _piece("folded", title, piece, opened)


def side_by_side(pieces: Iterable[str]) -> Markup:
    """Return charts beside each other where there is room."""
    return _piece("side_by_side", pieces)


def chart(title: str, picture: str, note: str = "", below: str = "") -> Markup:
    """Return a chart with a title, and a note and a piece below it."""
    return _piece("chart", title, picture, note, below)


def short(value: Any, length: int = LONG) -> str:
    """Return a label as text that fits: numbers in few digits, long words cut.

    >>> short(0.123456), short(1234567), short(None), short("a" * 50, 5)
    ('0.123', '1,234,567', 'missing', 'aaaa…')
    """
    if is_missing(value):
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, Real):
        return _digits(float(value))
    text = str(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def as_name(value: Any, length: int = LONG) -> str:
    """Return a class or a category as text that fits: a number is a name, without commas.

    >>> as_name(2023), as_name(10115.0), as_name("a" * 50, 5)
    ('2023', '10115', 'aaaa…')
    """
    if (
        isinstance(value, Real)
        and not isinstance(value, bool | np.bool_)
        and float(value).is_integer()
    ):
        value = f"{float(value):.0f}"
    return short(value, length)


def plural(n: int, word: str) -> str:
    """Return a number with its word.

    >>> plural(1, "row"), plural(1200, "row"), plural(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    if n == 1:
        return f"1 {word}"
    return f"{n:,} {word}{'es' if word.endswith('s') else 's'}"


def _digits(value: float) -> str:
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        return f"{value:.2e}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"
