"""The page of a run over a stream: error, new classes and throughput along the way."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from infinimix import __version__
from infinimix.evaluation.intervals import wilson
from infinimix.reports import page, pieces
from infinimix.reports.charts import draw_line, draw_reliability
from infinimix.reports.shown import Report
from infinimix.streaming.result import PrequentialResult
from infinimix.tables.rows import is_pandas

MOST_LINES = 40  # of the table of a curve


class PageCurve(NamedTuple):
    """One curve of the page."""

    title: str
    note: str
    values: np.ndarray
    show: Callable[[float], str]


def write_stream_report(
    history: Any, path: str | os.PathLike[str], *, title: str | None = None
) -> Report:
    """Write a self-contained HTML page about a run over a stream.

    Parameters
    ----------
    history : PrequentialResult, DataFrame or mapping of lists
        What `infinimix.streaming.prequential` returns, what `to_frame()` of that does, or its
        curves: `row` (rows so far), `error` and, where there are any, `log_loss`, `confidence`,
        `new` (share of rows of new classes) and `seconds` (of a row).
    path : str or path
        The page to write, in a folder that exists.
    title : str, optional
        What the page is called.

    Returns
    -------
    Report
        The page, which a notebook shows inline; `path` is its file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from infinimix.reports import write_stream_report
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "stream.html"
    >>> report = write_stream_report({"row": [10, 20, 30], "error": [0.5, 0.2, 0.1]}, page)
    >>> "Error" in page.read_text("utf-8")
    True
    """
    text = stream_page(history, title)
    page.write_page(Path(path), text)
    return Report(Path(path), text)


def stream_page(history: Any, title: str | None = None) -> str:
    """Return the page."""
    rows, columns = _read(history)
    curves = list(_curves(columns))
    name = title or f"A stream of {pieces.plural(int(rows[-1]), 'row')}"
    lead = (
        "Every row was predicted first and learned after, so all figures are about rows that the "
        "model had not learned."
    )
    summary = history.summary() if isinstance(history, PrequentialResult) else {}
    body = [
        page.header("infinimix report", name, lead),
        pieces.key_figures(_key(summary, columns)),
        page.section("Along the stream", _show_curves(rows, curves), "curves"),
    ]
    if isinstance(history, PrequentialResult):
        body.append(page.section("Calibration", _show_reliability(history.reliability), "trust"))
    if summary:
        body.append(page.section("All figures", [_show_summary(history, summary)], "figures"))
    body.append(page.footer(f"infinimix {__version__}."))
    return page.build_page(f"{name}: infinimix report", body, ["report.css"])


def _read(history: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the places of the curves, and the curves by name."""
    curve: Any = history.curve if isinstance(history, PrequentialResult) else history
    if is_pandas(curve):
        frame = curve.reset_index() if "row" not in curve.columns else curve
        curve = {str(name): frame[name].tolist() for name in frame.columns}
    if not isinstance(curve, Mapping) or "row" not in curve or "error" not in curve:
        raise TypeError(
            "history must be what prequential returns, its to_frame(), or a mapping of lists "
            "with 'row' and 'error'."
        )
    columns = {name: np.asarray(values, dtype=float) for name, values in curve.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the curves of history differ in length: {lengths!r}.")
    if not len(columns["row"]):
        raise ValueError("history is empty: no row was predicted.")
    return columns.pop("row"), columns


def _curves(columns: Mapping[str, np.ndarray]) -> Iterator[PageCurve]:
    percent: Callable[[float], str] = _percent
    yield PageCurve(
        "Error", "Share of wrong answers among the latest rows.", columns["error"], percent
    )
    if "new" in columns:
        note = "Share of the latest rows whose class had not been learned before."
        yield PageCurve("New classes", note, columns["new"], percent)
    if "seconds" in columns:
        with np.errstate(divide="ignore"):
            speed = 1.0 / columns["seconds"]
        speed[~np.isfinite(speed)] = np.nan
        yield PageCurve("Throughput", "Rows a second, predicted and learned.", speed, _speed)
    if "log_loss" in columns:
        note = "Minus the log of the probability of the true class: low is good."
        yield PageCurve("Log-loss", note, columns["log_loss"], "{:.2g}".format)
    if "confidence" in columns:
        yield PageCurve(
            "Confidence", "Mean probability of the predicted class.", columns["confidence"], percent
        )


def _percent(value: float) -> str:
    return f"{value:.0%}" if value == 0 or value >= 0.1 else f"{value:.1%}"


def _speed(value: float) -> str:
    return f"{value / 1000:,.3g}k" if value >= 1000 else f"{value:,.3g}"


def _show_curves(rows: np.ndarray, curves: Sequence[PageCurve]) -> Iterator[str]:
    yield page.paragraph("Means over a window of the latest rows that slides along the stream.")
    charts = []
    for curve in curves:
        finite = curve.values[np.isfinite(curve.values)]
        if not len(finite):
            continue
        ends = f"from {curve.show(finite[0])} to {curve.show(finite[-1])}"
        label = f"{curve.title} along the stream, {ends}; the table below has the figures"
        picture = draw_line(rows.tolist(), curve.values.tolist(), label, "rows", curve.show)
        charts.append(pieces.chart(curve.title, picture, curve.note))
    yield pieces.side_by_side(charts)
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_LINES)).round().astype(int))
    lines = (
        (f"{rows[i]:,.0f}", *(_cell(curve, float(curve.values[i])) for curve in curves))
        for i in some.tolist()
    )
    head = ["rows", *(curve.title for curve in curves)]
    yield pieces.folded("Figures", pieces.plain_table("The curves", head, lines))


def _cell(curve: PageCurve, value: float) -> str:
    return curve.show(value) if math.isfinite(value) else "–"


def _key(
    summary: Mapping[str, Any], columns: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, str, str]]:
    last = columns["error"][-1]
    if summary:
        n = int(summary["rows"])
        error = wilson(summary["error"] * n, n)
        yield "error", f"{error.value:.1%}", f"{error.low:.1%} to {error.high:.1%} of all rows"
    yield "error at the end", f"{last:.1%}", "of the latest rows"
    if summary:
        yield "classes", f"{summary['classes']:,}", "learned by the end"
        yield "rows a second", f"{summary['rows_per_second']:,.0f}", "in the model alone"


def _show_reliability(reliability: Mapping[str, np.ndarray]) -> Iterator[str]:
    n = np.asarray(reliability["rows"], dtype=float)
    if not n.sum():
        yield page.paragraph("The model gave no probabilities.")
        return
    some = np.flatnonzero(n)
    points = []
    for i in some:
        right = wilson(float(reliability["right"][i]), int(n[i]))
        confidence = float(reliability["confidence"][i] / n[i])
        points.append((confidence, *right, float(n[i] / n.sum())))
    alt = "Calibration: accuracy by confidence; the table below has the figures"
    note = "Points on the line are calibrated, below it overconfident; bars are 95% intervals."
    yield pieces.chart("Accuracy by confidence", draw_reliability(points, alt), note)
    lines = (
        (f"{c:.1%}", f"{int(n[i]):,}", f"{r:.1%}", f"{low:.0%} to {high:.0%}")
        for i, (c, r, low, high, _) in zip(some.tolist(), points, strict=True)
    )
    head = ["confidence", "rows", "accuracy", "95% interval"]
    yield pieces.folded("Figures", pieces.plain_table("Rows by confidence", head, lines))


def _show_summary(history: Any, summary: Mapping[str, Any]) -> str:
    lines = ((name.replace("_", " "), pieces.short(value)) for name, value in summary.items())
    caption = "What the names mean is in the documentation of PrequentialResult."
    return pieces.plain_table(caption, ["figure", "value"], lines, "plain narrow")
