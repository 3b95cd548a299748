"""Tables for notebooks: HTML in which numbers of one column are bars as well.

Styles are inline and colours half transparent, so that they suit light and dark pages and need no
style sheet. Everything that comes from data is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

from infinimix.tables.missing import is_missing

if TYPE_CHECKING:
    import pandas as pd

AGAINST, FOR = "rgba(213, 94, 0, .45)", "rgba(0, 114, 178, .45)"
CELL = "padding:.15em .6em;text-align:left;vertical-align:top"


def html_table(
    head: Sequence[str],
    rows: Iterable[Sequence[Any]],
    bar: int | None = None,
    caption: str = "",
) -> str:
    """Return a table; the cells of column `bar` are numbers, drawn to the scale of the largest."""
    lines = [list(row) for row in rows]
    largest = 0.0
    if bar is not None:
        largest = max((abs(float(line[bar])) for line in lines), default=0.0)
    parts = ["<table style='border-collapse:collapse'>"]
    if caption:
        parts.append(f"<caption style='text-align:left;padding:.3em 0'>{escape(caption)}</caption>")
    parts.append("<thead><tr>")
    parts += [f"<th scope='col' style='{CELL}'>{escape(name)}</th>" for name in head]
    parts.append("</tr></thead><tbody>")
    for line in lines:
        cells = (
            _bar(float(cell), largest) if j == bar else _cell(cell) for j, cell in enumerate(line)
        )
        parts.append(f"<tr>{''.join(cells)}</tr>")
    return "".join([*parts, "</tbody></table>"])


def _cell(value: Any) -> str:
    return f"<td style='{CELL}'>{escape(short(value))}</td>"


def _bar(value: float, largest: float) -> str:
    """Return a cell with a number, and a bar behind it."""
    share = 100.0 * abs(value) / largest if largest > 0.0 else 0.0
    colour = FOR if value >= 0.0 else AGAINST
    fill = f"background:linear-gradient(90deg,{colour} {share:.0f}%,transparent {share:.0f}%)"
    return f"<td style='{CELL};min-width:8em;{fill}'>{short(value)}</td>"


def short(value: Any) -> str:
    """Return a value as text of few digits.

    >>> short(0.123456), short(None), short("red"), short(3)
    ('0.123', '', 'red', '3')
    """
    if is_missing(value):
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def prototype_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of groups that a notebook shows with bars; parts of it are plain frames."""
    return _prototypes_class()(frame)


@cache
def _prototypes_class() -> Any:
    """Return the class of such frames, made when pandas is needed: it is slow to load."""
    import pandas as pd

    class Prototypes(pd.DataFrame):
        """Groups, one a row: weight, rows and typical values."""

        @property
        def _constructor(self) -> Any:
            return pd.DataFrame

        def __reduce__(self) -> Any:
            return prototype_table, (pd.DataFrame(self),)

        def _repr_html_(self) -> str:
            shown = min(len(self), 60)
            more = "" if shown == len(self) else f"The first {shown} of {len(self)} groups."
            head = [str(self.index.name or ""), *map(str, self.columns)]
            lines = pd.DataFrame(self).head(shown).itertuples(name=None)
            return html_table(head, lines, bar=1, caption=more)

    return Prototypes
