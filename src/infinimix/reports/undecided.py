"""The table of pairs that are linked in one direction or the other, the data do not tell which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from infinimix.evaluation.links import undecided_links
from infinimix.reports import pieces
from infinimix.reports.graph import sure


def show_undecided(names: Sequence[str], edges: Any, threshold: float) -> Iterator[str]:
    """Yield the table, if there are such pairs: the graph shows their directions as improbable."""
    found = sorted(undecided_links(edges, threshold), key=lambda pair: -pair[2])
    rows = [
        (f"{names[i]} \u2013 {names[j]}", sure(p), sure(edges[i, j]), sure(edges[j, i]))
        for i, j, p in found
    ]
    if rows:
        yield pieces.plain_table(
            f"Pairs that are linked with a probability of {threshold:.0%} or more, while neither "
            "direction is so probable",
            ["pair", "linked", "from the first to the second", "the other way"],
            rows,
            "plain narrow",
        )
