"""Pieces that only reports have: key figures, contents, plain tables, folded tables, shades.

As in `page`, plain text enters only through `escape`; arguments named `piece` are HTML.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from numbers import Integral, Real
from typing import Any

import numpy as np

MOST_SHADE = 45  # percent of the accent colour behind text: contrast stays above 4.5 to 1
LONG = 40  # characters of a label before it is cut


def contents(entries: Iterable[tuple[str, str]]) -> str:
    """Return links to the sections: pairs of anchor and title."""
    links = "\n".join(f'<li><a href="#{a}">{escape(title)}</a></li>' for a, title in entries)
    return f'<nav aria-label="Contents"><ul class="contents">\n{links}\n</ul></nav>'


def key_figures(entries: Iterable[tuple[str, str, str]]) -> str:
    """Return the figures that matter most: name, value and a note each."""
    tiles = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}"
        f"{f'<span>{escape(note)}</span>' if note else ''}</dd></div>"
        for name, value, note in entries
    )
    return f'<dl class="key">\n{tiles}\n</dl>'


def plain_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "plain"
) -> str:
    """Return a table of plain text; the first cell of a row names it. Wide ones scroll."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "\n".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return scroll(
        f'<table class="{kind}">\n<caption>{escape(caption)}</caption>\n'
        f"<thead><tr>{names}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>",
        caption,
    )


def scroll(piece: str, label: str) -> str:
    """Return a piece that scrolls sideways on a narrow screen, by keyboard too."""
    return (
        f'<div class="scroll" role="group" tabindex="0" aria-label="{escape(label)}">\n'
        f"{piece}\n</div>"
    )


def folded(title: str, piece: str) -> str:
    """Return a piece that opens on demand, and is open on paper."""
    return f"<details>\n<summary>{escape(title)}</summary>\n{piece}\n</details>"


def side_by_side(pieces: Iterable[str]) -> str:
    """Return charts beside each other where there is room."""
    return '<div class="charts">\n' + "\n".join(pieces) + "\n</div>"


def chart(title: str, picture: str, note: str = "") -> str:
    """Return a chart with a title and a note below it."""
    below = f'<p class="note">{escape(note)}</p>' if note else ""
    return f'<div class="chart">\n<h3>{escape(title)}</h3>\n{picture}\n{below}\n</div>'


def shaded(tag: str, text: str, share: float, attributes: str = "") -> str:
    """Return a cell of a table whose shade says how large it is, from 0 to 1."""
    shade = f' style="--shade:{MOST_SHADE * min(max(share, 0.0), 1.0):.0f}%"' if share > 0 else ""
    return f'<{tag} class="shade"{attributes}{shade}>{escape(text)}</{tag}>'


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


def is_missing(value: Any) -> bool:
    """Return whether a cell says nothing: None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and math.isnan(value)


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
