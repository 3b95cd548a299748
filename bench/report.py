"""What a benchmark returns, and how it is shown: lines with bars, grids of figures, notes.

A missed bar is printed as such and changes nothing else: timings decide no test.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table


@dataclass
class Line:
    """One comparison; `meets` is None when there is no bar."""

    what: str
    ours: str
    peer: str = ""
    ratio: str = ""
    bar: str = ""
    meets: bool | None = None
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass
class Grid:
    """A wide table of figures."""

    title: str
    headings: list[str]
    rows: list[list[str]]


@dataclass
class Section:
    """All that one benchmark has to say; `figures` are for `--json` only."""

    title: str
    lines: list[Line] = field(default_factory=list)
    grids: list[Grid] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def show(section: Section, console: Console) -> None:
    """Print a section."""
    table = Table(title=section.title, title_justify="left", title_style="bold")
    for heading in ("what", "ours", "peer", "ratio", "bar", "meets?"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for line in section.lines:
        table.add_row(line.what, line.ours, line.peer, line.ratio, line.bar, _verdict(line.meets))
    console.print(table)
    for grid in section.grids:
        console.print(_grid(grid))
    for note in section.notes:
        console.print(f"  {note}", highlight=False)
    console.print()


def summarise(sections: list[Section], console: Console) -> None:
    """Print how many bars were met, and which were not."""
    barred = [(s, line) for s in sections for line in s.lines if line.meets is not None]
    missed = [(s, line) for s, line in barred if not line.meets]
    console.print(f"[bold]{len(barred) - len(missed)} of {len(barred)} bars met[/bold]")
    for section, line in missed:
        console.print(f"  missed: {section.title}: {line.what}", highlight=False)


def to_markdown(sections: list[Section]) -> str:
    """Return all tables as Markdown, for docs/benchmarks.md."""
    head = ["what", "ours", "peer", "ratio", "bar", "met"]
    blocks = []
    for section in sections:
        rows = [
            [line.what, line.ours, line.peer, line.ratio, line.bar, _word(line.meets)]
            for line in section.lines
        ]
        blocks += [f"### {section.title}", _markdown_table(head, rows)]
        for grid in section.grids:
            blocks += [f"{grid.title}:", _markdown_table(grid.headings, grid.rows)]
        blocks += [f"{note[0].upper()}{note[1:]}." for note in section.notes]
    return "\n\n".join(blocks) + "\n"


def _markdown_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _word(meets: bool | None) -> str:
    return "" if meets is None else "yes" if meets else "**no**"


def _grid(grid: Grid) -> Table:
    table = Table(title=grid.title, title_justify="left", title_style="italic")
    for k, heading in enumerate(grid.headings):
        table.add_column(heading, justify="right" if k else "left")
    for row in grid.rows:
        table.add_row(*row)
    return table


def _verdict(meets: bool | None) -> str:
    return "" if meets is None else "[green]yes[/green]" if meets else "[red]MISSED[/red]"
