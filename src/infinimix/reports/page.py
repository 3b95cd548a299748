"""The skeleton of a page and its pieces: one HTML file that needs no network and no other file.

Pieces are `Markup`, made by the macros of `templates/pieces.html`; plain text is escaped there.
The look is in `page.css`, which every page carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

from infinimix.artifacts.files import writing
from infinimix.reports.markup import Markup, draw, render

_piece = partial(draw, "pieces.html")


def build_page(
    title: str, pieces: Iterable[str], styles: Sequence[str] = (), script: str = ""
) -> str:
    """Return a whole page; `styles` are files beside `page.css`, `script` is another."""
    style = Markup("").join(asset(name) for name in ("page.css", *styles))
    code = asset(script) if script else ""
    return render("page.html", title=title, style=style, pieces=list(pieces), script=code)


def asset(name: str) -> Markup:
    """Return the text of a file that pages carry as it is."""
    return Markup(files("infinimix.reports").joinpath(name).read_text(encoding="utf-8"))


def write_page(path: Path, text: str) -> None:
    """Write a page, whole or not at all."""
    with writing(path) as file:
        file.write(text.encode())


def header(brand: str, title: str, lead: str) -> Markup:
    """Return the head of a page: its name and one paragraph."""
    return _piece("header", brand, title, lead)


def section(title: str, pieces: Iterable[str], anchor: str = "") -> Markup:
    """Return a section with a heading; links of the page lead to its anchor."""
    return _piece("section", title, pieces, anchor)


def paragraph(text: str, kind: str = "") -> Markup:
    """Return a paragraph of plain text."""
    return _piece("paragraph", text, kind)


def bullets(lines: Iterable[str]) -> Markup:
    """Return a list of plain sentences."""
    return _piece("bullets", lines)


def code(text: str) -> Markup:
    """Return lines of code."""
    return _piece("code", text)


def table(caption: str, head: Sequence[str], rows: Iterable[str], kind: str = "") -> Markup:
    """Return a table of `row`s."""
    return _piece("table", caption, head, rows, kind)


def row(name: str, cells: Iterable[str], own: bool = False) -> Markup:
    """Return a row of a table; `own` sets it apart from the others."""
    return _piece("row", name, cells, own)


def cell(text: str, share: float, best: bool = False) -> Markup:
    """Return a number of a table over a bar that fills this share of the cell."""
    return _piece("cell", text, share, best)


def cell_of(piece: str) -> Markup:
    """Return a cell of a table that holds a piece."""
    return _piece("cell_of", piece)


def figure(picture: str, caption: str, note: str = "") -> Markup:
    """Return a picture with a line below it, and a fainter second one."""
    return _piece("figure", picture, caption, note)


def row_of_figures(figures: Iterable[str]) -> Markup:
    """Return figures side by side, in as many lines as the screen needs."""
    return _piece("row_of_figures", figures)


def group(title: str, note: str, pieces: Iterable[str]) -> Markup:
    """Return a part of a section: a large title with a note beside its pieces."""
    return _piece("group", title, note, pieces)


def legend(entries: Iterable[tuple[str, str]]) -> Markup:
    """Return small pictures with what they mean."""
    return _piece("legend", entries)


def cards(title: str, each: Iterable[str]) -> Markup:
    """Return cards side by side, under a small title."""
    return _piece("cards", title, each)


def card(picture: str, right: bool, text: str, piece: str) -> Markup:
    """Return a picture of a row beside a verdict on its prediction and a piece below that."""
    return _piece("card", picture, right, text, piece)


def verdict(right: bool, text: str) -> Markup:
    """Return a line that says whether a prediction was right."""
    return _piece("verdict", right, text)


def footer(text: str) -> Markup:
    """Return the last line of a page."""
    return _piece("footer", text)


def chances(pairs: Iterable[tuple[str, float]], true: str) -> Markup:
    """Return labels and their probabilities as bars; the true label is marked."""
    return _piece("chances", [(label, p, percent(p), label == true) for label, p in pairs])


def percent(p: float) -> str:
    """Return a probability as a percentage that never claims certainty.

    >>> percent(0.314), percent(0.9996), percent(0.0001)
    ('31%', '> 99%', '< 1%')
    """
    if p > 0.99:
        return "> 99%"
    return "< 1%" if p < 0.01 else f"{p:.0%}"
