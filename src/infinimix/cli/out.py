"""What commands show: tables on standard output, notes on standard error, JSON for machines.

On a terminal there are colours and progress bars; elsewhere there are none.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

DECIMAL = re.compile(r"\d+(\.\d+)(e[-+]?\d+)?%?")
NUMERIC = re.compile(r"[-+<±\d.,% ]*")
SHORT = 24  # letters of a name that is never folded


_said: set[str] = set()  # the notes of this command


def warn(command: str, text: str) -> None:
    """Say something that the user should know, once: folds differ in its figures only."""
    key = DECIMAL.sub("#", text)
    if key not in _said:
        _said.add(key)
        typer.echo(f"infinimix {command}: note: {text}", err=True)


def forget_notes() -> None:
    """Begin a command, whose notes are all new."""
    _said.clear()


def mention(text: str) -> None:
    """Say something that only a person who watches wants to know."""
    if is_watched():
        typer.echo(text, err=True)


def is_watched() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def print_json(value: Any) -> None:
    """Write one JSON document to standard output."""
    from infinimix.cli.places import write_text

    text = json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(text + "\n", None)


def plain(value: Any) -> Any:
    """Return a value as JSON has it; what is no number there is null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def show(*things: Any) -> None:
    """Print tables and lines to standard output."""
    from rich.console import Console

    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120
    console = Console(highlight=False, width=wide, file=sys.stdout)
    for thing in things:
        console.print(thing, markup=False, soft_wrap=isinstance(thing, str))


def grid(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str | None = None
) -> Any:
    """Return a table for `show`; columns of numbers, but the first, are aligned on the right."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    cells = [[str(cell) for cell in row] for row in rows]
    table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
    for j, name in enumerate(columns):
        numbers = j > 0 and all(NUMERIC.fullmatch(row[j]) for row in cells)
        justify: Any = "right" if numbers else "left"
        short = j == 0 and all(len(row[0]) <= SHORT for row in cells)  # what a line is about
        table.add_column(Text(name), justify=justify, overflow="fold", no_wrap=short)
    for row in cells:
        table.add_row(*map(Text, row))
    below: list[Any] = [] if caption is None else [Text(f"  {caption}", style="italic"), ""]
    return Group("", Text(title, style="bold"), table, *below)


def percent(share: float) -> str:
    """Return a share in percent, "-" if there is none."""
    return "-" if share != share else f"{share:.1%}"


def number(value: float) -> str:
    """Return a number with four digits behind the point, "-" if there is none."""
    return "-" if value != value else f"{value:.4f}"


def count(n: int, what: str) -> str:
    """Return a number with its noun: "1 row", "2 rows"."""
    return f"{n:,} {what}{'' if n == 1 else 'es' if what.endswith('s') else 's'}"


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal what takes its time, where nobody knows how long."""
    if not is_watched():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(what), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Yield a function that is called after each step; a terminal shows a bar."""
    if not is_watched():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
