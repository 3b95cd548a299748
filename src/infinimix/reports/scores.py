"""The section on performance: figures with intervals, calibration, confusion, each class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from infinimix.evaluation.averages import balanced_accuracy, roc_auc
from infinimix.evaluation.calibration import BINS, calibration_error, equal_bins
from infinimix.evaluation.intervals import Interval, mean_interval, share_interval, wilson
from infinimix.evaluation.predictions import Predictions
from infinimix.evaluation.summary import largest_class, verdict
from infinimix.reports import page, pieces
from infinimix.reports.charts import draw_reliability

MOST_LABELS = 15  # of a confusion matrix
MOST_PAIRS = 10


def key_scores(predictions: Predictions) -> list[tuple[str, str, str]]:
    """Return the figures for the top of the page."""
    accuracy = share_interval(predictions.right, predictions.groups)
    common = float((predictions.y == largest_class(predictions)).mean())
    balanced, auc = balanced_accuracy(predictions), roc_auc(predictions)
    loss = mean_interval(predictions.losses, predictions.groups)
    figures = [
        ("accuracy", f"{accuracy.value:.1%}", f"{accuracy.low:.1%} to {accuracy.high:.1%}"),
        ("largest class", f"{common:.1%}", "accuracy if always predicted"),
        ("balanced accuracy", f"{balanced.value:.1%}", _ends(balanced, ".1%")),
        ("ROC AUC", f"{auc.value:.3f}", _ends(auc, ".3f")),
        ("log-loss", f"{loss.value:.3f}", f"{max(loss.low, 0):.3f} to {loss.high:.3f}"),
    ]
    return [figure for figure in figures if figure[1] != "nan"]


def _ends(interval: Interval, form: str) -> str:
    """Return from where to where; nothing if the rows do not tell."""
    if interval.low != interval.low:
        return ""
    return f"{interval.low:{form}} to {interval.high:{form}}"


def show_scores(predictions: Predictions) -> Iterator[str]:
    """Yield the section."""
    labels = [pieces.as_name(label) for label in predictions.labels]
    confidence = predictions.proba.max(axis=1)
    bins = equal_bins(confidence, predictions.right)
    wrong = int((~predictions.right).sum())
    yield page.paragraph(
        f"{pieces.plural(len(predictions.y), 'row')}, {predictions.how}: each row was predicted by "
        f"a model that had not learned it. {pieces.plural(wrong, 'answer')} "
        f"{'was' if wrong == 1 else 'were'} wrong. Ranges are 95% intervals, as if rows were "
        "independent of each other: if several rows come from one person or device, the true "
        "figures are worse and the ranges wider."
    )
    yield page.paragraph(verdict(predictions))
    yield _classes(predictions, labels)
    notes = (
        f"Calibration error: {calibration_error(confidence, predictions.right):.1%}, the mean "
        f"distance of confidence and accuracy over {BINS} bins of equal width. Points on the line "
        "are calibrated, below it overconfident. Larger points stand for more rows; bars are 95% "
        "intervals."
    )
    points = [
        (b.confidence, b.right.value, b.right.low, b.right.high, b.rows / len(predictions.y))
        for b in bins
    ]
    alt = "Calibration: accuracy by confidence; the table below has the figures"
    table = pieces.plain_table(
        "Rows by confidence",
        ["confidence", "rows", "accuracy", "95% interval"],
        ((f"{b.confidence:.1%}", f"{b.rows:,}", f"{b.right.value:.1%}", _range(b.right))
         for b in bins),
    )  # fmt: skip
    picture = draw_reliability(points, alt)
    calibration = pieces.chart("Calibration", picture, notes, pieces.folded("Figures", table))
    yield pieces.side_by_side([calibration, _confusion(predictions, labels)])


def _range(interval: Interval) -> str:
    return f"{interval.low:.0%} to {interval.high:.0%}"


def _classes(predictions: Predictions, labels: list[str]) -> str:
    table = predictions.confusion

    def rows() -> Iterator[tuple[str, ...]]:
        for c, label in enumerate(labels):
            n, predicted, hits = int(table[c].sum()), int(table[:, c].sum()), int(table[c, c])
            recalled, correct = wilson(hits, n), wilson(hits, predicted)
            recall = f"{recalled.value:.1%} ({_range(recalled)})" if n else "no row"
            precision = (
                f"{correct.value:.1%} ({_range(correct)})" if predicted else "never predicted"
            )
            yield label, f"{n:,}", recall, precision

    head = ["class", "rows", "recall", "precision"]
    caption = (
        "Class by class. Recall: the share of the rows of the class that were predicted as it. "
        "Precision: the share of the predictions of the class that are right."
    )
    return pieces.plain_table(caption, head, rows())


def _confusion(predictions: Predictions, labels: list[str]) -> str:
    table = predictions.confusion
    if len(labels) > MOST_LABELS:
        return pieces.chart("Confusion", _pairs(table, labels))
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    rows = (
        (label, [(f"{n:,}" if n else "·", s) for n, s in zip(counts, shares, strict=True)])
        for label, counts, shares in zip(labels, table.tolist(), share.tolist(), strict=True)
    )
    caption = "Rows: true class. Columns: predicted class."
    return pieces.chart("Confusion", pieces.matrix(caption, labels, rows, "Confusion"))


def _pairs(table: np.ndarray, labels: list[str]) -> str:
    """Return the most frequent confusions, where a whole matrix would be too large."""
    off = table * (1 - np.eye(len(table), dtype=int))
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS]
    found = [divmod(int(k), len(table)) for k in order]
    rows = [(labels[i], labels[j], f"{off[i, j]:,}") for i, j in found if off[i, j]]
    return pieces.plain_table("The most frequent", ["true class", "predicted", "rows"], rows)
