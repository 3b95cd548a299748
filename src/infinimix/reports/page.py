"""The skeleton of a page and its pieces: one HTML file that needs no network and no other file.

Pieces are strings of HTML; plain text enters a page only through `escape`. The look is in
`page.css`, which every page carries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from infinimix.artifacts.files import writing

SKELETON = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="infinimix">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
{script}</body>
</html>
"""


def build_page(
    title: str, pieces: Iterable[str], styles: Sequence[str] = (), script: str = ""
) -> str:
    """Return a whole page; `styles` are files beside `page.css`, `script` is trusted code."""
    style = "".join(asset(name) for name in ("page.css", *styles))
    code = f"<script>\n{script}</script>\n" if script else ""
    body = "\n".join(pieces)
    return SKELETON.format(title=escape(title), style=style, body=body, script=code)


def asset(name: str) -> str:
    """Return the text of a file that pages carry."""
    return files("infinimix.reports").joinpath(name).read_text(encoding="utf-8")


def write_page(path: Path, text: str) -> None:
    """Write a page, whole or not at all."""
    with writing(path) as file:
        file.write(text.encode())


def header(brand: str, title: str, lead: str) -> str:
    """Return the head of a page: its name and one paragraph of plain text."""
    return (
        f'<header>\n<p class="brand">{escape(brand)}</p>\n<h1>{escape(title)}</h1>\n'
        f'<p class="lead">{escape(lead)}</p>\n</header>'
    )


def section(title: str, pieces: Iterable[str], anchor: str = "") -> str:
    """Return a section with a heading; links of the page lead to its anchor."""
    name = f' id="{escape(anchor)}"' if anchor else ""
    return f"<section{name}>\n<h2>{escape(title)}</h2>\n" + "\n".join(pieces) + "\n</section>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text."""
    return f"<p{_kind(kind)}>{escape(text)}</p>"


def bullets(lines: Iterable[str]) -> str:
    """Return a list of plain sentences."""
    return "<ul>\n" + "\n".join(f"<li>{escape(line)}</li>" for line in lines) + "\n</ul>"


def code(text: str) -> str:
    """Return lines of code."""
    return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'


def table(caption: str, head: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table of `row`s."""
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "\n".join(rows)
    return (
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{cells}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table>"
    )


def row(name: str, cells: Iterable[str], own: bool = False) -> str:
    """Return a row of a table; `own` sets it apart from the others."""
    return f'<tr{_kind("own" * own)}><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'


def cell(text: str, share: float, best: bool = False) -> str:
    """Return a number of a table over a bar that fills this share of the cell."""
    mark = '<span class="best">best</span>' if best else ""
    return (
        f'<td{_kind("winner" * best)}><span class="number">{mark}{escape(text)}</span>'
        f"{bar(share)}</td>"
    )


def figure(picture: str, caption: str, note: str = "") -> str:
    """Return a picture with a line below it, and a fainter second one."""
    second = f"<span>{escape(note)}</span>" if note else ""
    return f"<figure>\n{picture}\n<figcaption>{escape(caption)}{second}</figcaption>\n</figure>"


def row_of_figures(figures: Iterable[str]) -> str:
    """Return figures side by side, in as many lines as the screen needs."""
    return '<div class="figures">\n' + "\n".join(figures) + "\n</div>"


def group(title: str, note: str, pieces: Iterable[str]) -> str:
    """Return a part of a section: a large title with a note beside its pieces."""
    return (
        f'<div class="class">\n<h3>{escape(title)} <span>{escape(note)}</span></h3>\n'
        + "\n".join(pieces)
        + "\n</div>"
    )


def legend(entries: Iterable[tuple[str, str]]) -> str:
    """Return small pictures with what they mean."""
    lines = (f"<li>{picture} {escape(meaning)}</li>" for picture, meaning in entries)
    return '<ul class="legend">\n' + "\n".join(lines) + "\n</ul>"


def cards(title: str, each: Iterable[str]) -> str:
    """Return cards side by side, under a small title."""
    return (
        f'<h3 class="group">{escape(title)}</h3>\n<div class="cards">\n'
        + "\n".join(each)
        + ("\n</div>")
    )


def card(picture: str, right: bool, text: str, piece: str) -> str:
    """Return a picture of a row beside a verdict on its prediction and a piece below that."""
    return f'<div class="card">\n{picture}\n<div>\n{verdict(right, text)}\n{piece}\n</div>\n</div>'


def verdict(right: bool, text: str) -> str:
    """Return a line that says whether a prediction was right."""
    kind, word = ("verdict", "Right:") if right else ("verdict wrong", "Wrong:")
    return f'<p class="{kind}"><b>{word}</b> {escape(text)}</p>'


def footer(text: str) -> str:
    """Return the last line of a page."""
    return f"<footer>{escape(text)}</footer>"


def chances(pairs: Iterable[tuple[str, float]], true: str) -> str:
    """Return labels and their probabilities as bars; the true label is marked."""
    lines = (
        f'<li{_kind("true" * (label == true))}><span class="label">{escape(label)}</span>'
        f'{bar(p)}<span class="number">{escape(percent(p))}</span></li>'
        for label, p in pairs
    )
    return '<ol class="chances">\n' + "\n".join(lines) + "\n</ol>"


def percent(p: float) -> str:
    """Return a probability as a percentage that never claims certainty.

    >>> percent(0.314), percent(0.9996), percent(0.0001)
    ('31%', '> 99%', '< 1%')
    """
    if p > 0.99:
        return "> 99%"
    return "< 1%" if p < 0.01 else f"{p:.0%}"


def bar(share: float) -> str:
    """Return a bar that fills this share of its place."""
    return f'<span class="bar" aria-hidden="true"><i style="width:{100 * share:.1f}%"></i></span>'


def _kind(name: str) -> str:
    return f' class="{name}"' if name else ""
