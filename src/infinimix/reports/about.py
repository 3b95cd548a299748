"""The end of every report: parameters, columns, versions."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

from infinimix import __version__
from infinimix.evaluation.abilities import KnowsKinds, Parametrised, able
from infinimix.reports import page, pieces

MOST_COLUMNS = 60


def show_about(model: Any) -> Iterator[str]:
    """Yield what the model was told, the kinds of its columns, and what made the page."""
    parts = []
    kinds = model.columns_ if able(model, KnowsKinds) else {}
    if kinds:
        rows = [(pieces.short(str(name)), str(kind)) for name, kind in kinds.items()]
        caption = "The kind of each column"
        if len(rows) > MOST_COLUMNS:
            caption += f" (the first {MOST_COLUMNS} of {len(rows):,})"
        table = pieces.plain_table(caption, ["column", "kind"], rows[:MOST_COLUMNS])
        parts.append(pieces.folded(f"{pieces.plural(len(rows), 'column')}", table))
    given = [(name, pieces.short(repr(value), 60)) for name, value in _parameters(model)]
    if given:
        table = pieces.plain_table("Parameters of the model", ["parameter", "value"], given)
        parts.append(pieces.folded("Parameters", table))
    yield page.section("About the model", parts, "about")
    yield page.footer(
        f"infinimix {__version__}, {type(model).__name__}, Python {platform.python_version()}."
    )


def _parameters(model: Any) -> list[tuple[str, Any]]:
    if not able(model, Parametrised):
        return []
    return sorted(model.get_params(deep=False).items())
