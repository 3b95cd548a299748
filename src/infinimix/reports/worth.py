"""The section on columns: what each is worth, as a table with bars, and as a picture of pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from infinimix.evaluation.intervals import Interval
from infinimix.reports import page, pieces
from infinimix.reports.images import Image
from infinimix.reports.relevance import ColumnWorth

MOST_LISTED = 25


def show_relevance(found: Sequence[ColumnWorth], source: str, image: Image | None) -> Iterator[str]:
    """Yield the section for relevance measured by hiding columns."""
    yield page.paragraph(
        f"Measured by hiding columns, on {source}. Alone: how much the column tells of the class "
        "when all others are hidden. Beyond the others: how much is lost when only this one is "
        "hidden; little where another column says the same. Both in nats (0.69 nats is one yes-no "
        "question answered), with 95% intervals."
    )
    if image is not None:
        worth = {one.name: max(one.alone.value, 0.0) for one in found}
        largest = max(worth.values()) or 1.0
        alt = "What each pixel tells alone: the stronger the shade, the more"
        drawn = image._replace(low=0.0, high=largest)
        picture = drawn.draw(worth, alt, "large")
        yield pieces.chart("Alone, as a picture", picture, f"Strongest: {largest:.2f} nats.")
    most = max([1e-9, *(one.alone.value for one in found)])
    rows = (
        page.row(
            pieces.short(one.name),
            (
                page.cell(_text(one.alone), max(one.alone.value, 0.0) / most),
                page.cell(_text(one.beyond), min(max(one.beyond.value, 0.0) / most, 1.0)),
            ),
        )
        for one in found[:MOST_LISTED]
    )
    caption = "The best alone first"
    if len(found) > MOST_LISTED:
        caption += f"; the best {MOST_LISTED} of {len(found)}"
    table = page.table(caption, ["column", "alone", "beyond the others"], rows, "worth")
    table = pieces.scroll(table, caption)
    yield table if image is None else pieces.folded("Figures", table)


def show_learned(relevance: Sequence[float], names: Sequence[str]) -> Iterator[str]:
    """Yield the section for a model that has learned the relevance of its columns."""
    pairs = sorted(zip(names, relevance, strict=True), key=lambda pair: -pair[1])
    most = max([1e-9, *relevance])
    yield page.paragraph(
        "Relevance of the columns, as the model has learned it: the probability that a column "
        "differs between groups."
    )
    yield page.table(
        "The most relevant first",
        ["column", "relevance"],
        (
            page.row(pieces.short(name), [page.cell(f"{value:.3f}", max(value, 0.0) / most)])
            for name, value in pairs[:MOST_LISTED]
        ),
    )


def _text(interval: Interval) -> str:
    half = interval.high - interval.value
    text = f"{interval.value:.3f}".replace("-", "−")
    return f"{text} ± {half:.3f}" if np.isfinite(half) else text
