"""The page of a regressor: predicted against true, residuals, and how many rows intervals cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from infinimix.evaluation.importance import measure_number_importance
from infinimix.evaluation.intervals import wilson
from infinimix.evaluation.regression import (
    COVERAGES,
    JudgedNumbers,
    judge,
    judge_numbers,
    score_numbers,
)
from infinimix.reports import page, pieces
from infinimix.reports.about import show_about
from infinimix.reports.charts import Axes
from infinimix.reports.holes import show_missing
from infinimix.reports.markup import Markup, draw
from infinimix.reports.worth import show_error_importance
from infinimix.tables.rows import is_pandas, name_of

MOST_POINTS = 400  # of a chart
MOST_ROWS = 8  # with the largest residuals
Point = tuple[float, float, float, float, float, str]  # x, y, from, to, radius, what it says


def regression_page(
    model: Any, rows: Any, target: Any, seed: int, held_out: bool, names: pieces.Names
) -> str:
    """Return the page of a fitted regressor."""
    found = None
    if rows is not None and target is not None:
        found = judge(model, rows, target, seed, held_out)
    column = names.target or name_of(target)
    name = names.title or (f"{column}: a number predicted" if column else "A number predicted")
    sections = list(_sections(rows, found, seed))
    body = [
        page.header("infinimix report", name, _lead(model, found, column, names.source)),
        pieces.key_figures(_key(model, found)),
        pieces.contents((anchor, heading) for anchor, heading, _ in sections),
        *(page.section(heading, made, anchor) for anchor, heading, made in sections),
        *show_about(model),
    ]
    return page.build_page(f"{name}: infinimix report", body, ["report.css"])


def _lead(model: Any, found: JudgedNumbers | None, target: str | None, source: str | None) -> str:
    kind = f"A fitted {type(model).__name__}" + (f" of {target}" if target else "")
    if found is None:
        return f"{kind}. No rows and targets were given, so this page cannot say how well it does."
    rows = pieces.plural(len(found.numbers.y), "row") + (f" from {source}" if source else "")
    return (
        f"{kind}, evaluated by {found.how}: {rows}. {judge_numbers(score_numbers(found.numbers))}"
    )


def _key(model: Any, found: JudgedNumbers | None) -> Iterator[tuple[str, str, str]]:
    if found is not None:
        scores = score_numbers(found.numbers)
        low, high = scores["r2_interval"]
        least, most = scores["coverage_interval"]
        yield "R²", f"{scores['r2']:.3f}", f"{low:.3f} to {high:.3f}"
        error, plain = (
            pieces.short(scores[k]) for k in ("mean_absolute_error", "mean_absolute_error_of_mean")
        )
        yield "mean absolute error", error, f"{plain} if always the mean"
        yield "covered", f"{scores['coverage']:.1%}", f"by 90% intervals; {least:.0%} to {most:.0%}"
    yield "groups", f"{int(model.n_groups_):,}", "found, not set"


def _sections(
    rows: Any, found: JudgedNumbers | None, seed: int
) -> Iterator[tuple[str, str, Iterator[str]]]:
    if found is not None:
        yield "performance", "How well it does", _show_scores(found, seed)
        yield "coverage", "Intervals", _show_coverage(found)
        if worth := measure_number_importance(found.numbers):
            yield "columns", "Which columns matter", show_error_importance(worth)
        yield "residuals", "The largest residuals", _show_largest(found)
    if is_pandas(rows):
        yield "missing", "Missing cells", show_missing(rows)


def _show_scores(found: JudgedNumbers, seed: int) -> Iterator[str]:
    numbers = found.numbers
    scores = score_numbers(numbers)
    yield page.paragraph(
        f"{pieces.plural(len(numbers.y), 'row')}, {found.how}: each row was predicted by a model "
        "that had not learned it. Ranges are 95% intervals, as if rows were independent of each "
        "other."
    )
    yield pieces.plain_table(
        "Errors, compared with always predicting the mean",
        ["", "model", "always the mean"],
        [
            ("R²", f"{scores['r2']:.3f}", "0"),
            ("mean absolute error", pieces.short(scores["mean_absolute_error"]),
             pieces.short(scores["mean_absolute_error_of_mean"])),
            ("root of the mean squared error", pieces.short(scores["rmse"]),
             pieces.short(scores["rmse_of_mean"])),
        ],
    )  # fmt: skip
    some = np.arange(len(numbers.y))
    if len(some) > MOST_POINTS:
        some = np.sort(np.random.default_rng(seed).permutation(some)[:MOST_POINTS])
    y, mean = numbers.y[some], numbers.mean[some]
    note = "" if len(some) == len(numbers.y) else f" {MOST_POINTS} rows, drawn."
    both = _span(np.concatenate([y, mean]))
    against = draw_points(
        mean, y, both, both, "predicted", "Predicted and true values, a point for each row", (1, 0)
    )
    off = y - mean
    reach = float(np.abs(off).max()) or 1.0
    residuals = draw_points(
        mean, off, _span(mean), (-reach, reach), "predicted",
        "Residuals by prediction, a point for each row", (0, 0),
    )  # fmt: skip
    yield pieces.side_by_side([
        pieces.chart("True value by prediction", against,
                     "Points on the line are predicted exactly." + note),
        pieces.chart("Residual by prediction", residuals,
                     "True value minus prediction: a trend or a funnel shows what the model misses."
                     + note),
    ])  # fmt: skip


def _show_coverage(found: JudgedNumbers) -> Iterator[str]:
    numbers = found.numbers
    width = numbers.high - numbers.low
    yield page.paragraph(
        "The share of rows that lie in their interval, compared with the nominal share. 90% "
        f"intervals are {pieces.short(float(np.median(width)))} wide in the median, from "
        f"{pieces.short(float(width.min()))} to {pieces.short(float(width.max()))}."
    )
    shares = [wilson(int(inside.sum()), len(inside)) for inside in found.inside.T]
    points = [
        (p, s.value, s.low, s.high, 4.0, f"nominal {p:.0%}, covered {s.value:.1%}")
        for p, s in zip(COVERAGES, shares, strict=True)
    ]
    low = min(0.4, *(s.low for s in shares))
    frame = Axes((low, 1.0), (low, 1.0), "{:.0%}".format, height=280)
    picture = _draw(frame, points, (low, 1.0), (1, 0), "nominal", "Coverage", "{:.0%}".format)
    table = pieces.plain_table(
        "Coverage of intervals",
        ["nominal", "covered", "95% interval"],
        [
            (f"{p:.0%}", f"{s.value:.1%}", f"{s.low:.1%} to {s.high:.1%}")
            for p, s in zip(COVERAGES, shares, strict=True)
        ],
    )
    note = "On the line, intervals cover the nominal share of rows; below it, they are too narrow."
    yield pieces.side_by_side([pieces.chart("Coverage", picture, note), table])


def _show_largest(found: JudgedNumbers) -> Iterator[str]:
    numbers = found.numbers
    order = np.argsort(-np.abs(numbers.y - numbers.mean), kind="stable")[:MOST_ROWS]
    yield page.paragraph("Rows are counted from 1, in the order of the file.")
    yield pieces.plain_table(
        "The rows with the largest errors",
        ["row", "true", "predicted", "90% interval"],
        [
            (f"{found.places[i] + 1:,}", pieces.short(float(numbers.y[i])),
             pieces.short(float(numbers.mean[i])),
             f"{pieces.short(float(numbers.low[i]))} to {pieces.short(float(numbers.high[i]))}")
            for i in order.tolist()
        ],
    )  # fmt: skip


def _span(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1.0, high + 1.0)


def draw_points(
    x: np.ndarray, y: np.ndarray, x_span: tuple[float, float], y_span: tuple[float, float],
    x_name: str, label: str, line: tuple[float, float],
) -> Markup:  # fmt: skip
    """Return a scatter plot with the line y = a x + b, where `line` is (a, b)."""
    frame = Axes(x_span, y_span, pieces.short, height=280)
    points = [
        (a, b, b, b, 2.0, f"{x_name} {pieces.short(a)}: {pieces.short(b)}")
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    return _draw(frame, points, x_span, line, x_name, label, pieces.short)


def _draw(
    frame: Axes, points: Sequence[Point], span: tuple[float, float], line: tuple[float, float],
    x_name: str, label: str, form: Any,
) -> Markup:  # fmt: skip
    slope, start = line
    places = [f"{frame.x(x):.1f} {frame.y(slope * x + start):.1f}" for x in span]
    dots = [
        (frame.x(x), frame.y(y), frame.y(low), frame.y(high), r, text)
        for x, y, low, high, r, text in points
    ]
    return draw(
        "pictures.html", "reliability", label, frame.axes(x_name, form),
        f"M{places[0]}L{places[1]}", dots,
    )  # fmt: skip
