"""The section on columns: what each is worth, as a table with bars, and as a picture of pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from infinimix.evaluation.importance import ColumnWorth
from infinimix.evaluation.intervals import Interval
from infinimix.reports import page, pieces
from infinimix.reports.images import Image
from infinimix.reports.markup import Markup

MOST_LISTED = 25


def show_importance(
    found: Sequence[ColumnWorth], source: str, image: Image | None
) -> Iterator[str]:
    """Yield the section for importance measured by shuffling and hiding columns."""
    hidden = all(one.alone is not None for one in found)
    text = (
        f"Measured on {source}, in nats (0.69 nats is one yes-no question answered), with 95% "
        "intervals. Importance: the rise of the log-loss when the cells of the column are shuffled "
        "among the rows."
    )
    if hidden:
        text += (
            " Alone: how much the column tells of the class when all others are hidden. Beyond the "
            "others: how much is lost when only this one is hidden; little where another column "
            "says the same."
        )
    yield page.paragraph(text)
    if image is not None and hidden:
        yield _picture(found, image)
    table = _table(found, hidden, _text)
    yield table if image is None else pieces.folded("Figures", table)


def show_error_importance(found: Sequence[ColumnWorth]) -> Iterator[str]:
    """Yield the section of a regressor, whose columns are only shuffled."""
    yield page.paragraph(
        "Measured on rows that were not learned, in units of the target, with 95% intervals. "
        "Importance: the rise of the mean absolute error when the cells of the column are shuffled "
        "among the rows."
    )
    yield _table(found, False, _amount)


def _table(found: Sequence[ColumnWorth], hidden: bool, form: Callable[[Interval], str]) -> Markup:
    names = ["importance", *(["alone", "beyond the others"] if hidden else [])]
    most = max([1e-9, *(figure.value for one in found for figure in _figures(one))])
    rows = (
        page.row(
            pieces.short(one.name),
            [page.cell(form(figure), max(figure.value, 0.0) / most) for figure in _figures(one)],
        )
        for one in found[:MOST_LISTED]
    )
    caption = "The most important first"
    if len(found) > MOST_LISTED:
        caption += f"; the first {MOST_LISTED} of {len(found)}"
    table = page.table(caption, ["column", *names], rows, "worth")
    return pieces.scroll(table, caption)


def _figures(one: ColumnWorth) -> list[Interval]:
    return [figure for figure in (one.shuffled, one.alone, one.beyond) if figure is not None]


def _picture(found: Sequence[ColumnWorth], image: Image) -> str:
    worth = {one.name: max(one.alone.value, 0.0) for one in found if one.alone is not None}
    largest = max(worth.values()) or 1.0
    alt = "What each pixel tells alone: the stronger the shade, the more"
    drawn = image._replace(low=0.0, high=largest)
    picture = drawn.draw(worth, alt, "large")
    return pieces.chart("Alone, as a picture", picture, f"Strongest: {largest:.2f} nats.")


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


def _amount(interval: Interval) -> str:
    half = interval.high - interval.value
    return f"{pieces.short(interval.value)} ± {pieces.short(half)}".replace("-", "−")


def _text(interval: Interval) -> str:
    half = interval.high - interval.value
    text = f"{interval.value:.3f}".replace("-", "−")
    return f"{text} ± {half:.3f}" if np.isfinite(half) else text
