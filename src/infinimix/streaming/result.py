"""What a prequential run returns: numbers, curves, a table to read and a picture."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from infinimix.streaming.bad import BadRecord

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CURVES = ("error", "log_loss", "confidence", "new", "seconds")

PERCENT = {
    "error", "error_known", "calibration_error", "pair_precision", "pair_recall", "pair_f1",
    "rand_index", "new_precision", "new_recall",
}  # fmt: skip


@dataclass(frozen=True)
class PrequentialResult:
    """How well a model did on a stream, every row predicted before it was learned.

    Attributes
    ----------
    rows : int
        Rows that were predicted.
    bad_rows : int
        Rows that were set aside, by the model or by the reader of the stream.
    unlabelled : int
        Rows without a label, which are learned and not counted among `rows`.
    unanswered : int
        Rows for which the model had no answer, as it had learned nothing; they are errors.
    classes : int
        Labels learned by the end.
    error : float
        Share of wrong answers. `NEW_CLASS` is right if the label had not been learned before.
    error_known : float
        The same over the rows whose label had been learned before.
    pair_precision, pair_recall, pair_f1, rand_index : float
        The predicted labels as a clustering of the rows, over all pairs of rows: pairs that have
        one predicted label beside those that have one true label. `NEW_CLASS` and no answer
        count as labels.
    log_loss : float
        Mean of -log P(true label), in nats, over the rows where the model gave it a probability;
        one below 1e-15 counts as that.
    calibration_error : float
        Expected calibration error: mean distance between confidence and accuracy,
        over bins of confidence.
    new_rows : int
        Rows whose label had not been learned before.
    new_precision, new_recall : float
        Of the answers `NEW_CLASS` those that were right; of the new rows those that were noticed.
    new_auroc : float
        Chance that a new row has a higher probability of a new class than an old row; log-odds
        closer than 0.01 are ties.
    seconds, rows_per_second : float
        Wall time in the model, and rows over that; reading and scoring are left out.
    peak_memory_mb : float
        The most memory (resident set, MiB) that this process ever had, not the model alone; NaN
        on systems that do not tell.
    curve : dict of lists
        What `to_frame` shows.
    reliability : dict of arrays
        Rows, sum of confidences and right answers in each bin.
    contingency : dict
        Rows by pair (predicted label, true label).
    bad : list of BadRecord
        The first 1,000 rows that the model refused, counted from 0, and why.
    """

    rows: int
    bad_rows: int
    unlabelled: int
    unanswered: int
    classes: int
    error: float
    error_known: float
    pair_precision: float
    pair_recall: float
    pair_f1: float
    rand_index: float
    log_loss: float
    calibration_error: float
    new_rows: int
    new_precision: float
    new_recall: float
    new_auroc: float
    seconds: float
    rows_per_second: float
    peak_memory_mb: float
    curve: dict[str, list[float]] = field(repr=False)
    reliability: dict[str, np.ndarray] = field(repr=False)
    contingency: dict[tuple[Any, Any], int] = field(repr=False)
    bad: list[BadRecord] = field(repr=False)

    def summary(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.repr}

    def to_frame(self) -> pd.DataFrame:
        """Return the curves as a pandas DataFrame, over the rows so far.

        Means over the window that ends there, of errors, log-loss, confidence, rows of new
        classes and seconds a row. At most 1,000 places and the end.
        """
        import pandas as pd

        return pd.DataFrame(self.curve).set_index("row")

    def __str__(self) -> str:
        words = {name: _show(name, value) for name, value in self.summary().items()}
        names = max(map(len, words))
        values = max(map(len, words.values()))
        lines = (
            f"{name.replace('_', ' '):<{names}}  {word:>{values}}" for name, word in words.items()
        )
        return "\n".join(lines)

    def plot(self) -> Figure:
        """Return a matplotlib Figure: error and log-loss along the stream, and reliability."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(11, 3.4), layout="constrained")
        left, middle, right = figure.subplots(1, 3)
        for axes, name in ((left, "error"), (middle, "log_loss")):
            axes.plot(self.curve["row"], self.curve[name])
            axes.set(
                xlabel="rows", title=f"{name.replace('_', '-')}, sliding window", ylim=(0, None)
            )
        n = self.reliability["rows"]
        some = n > 0
        confidence = self.reliability["confidence"][some] / n[some]
        right.plot([0, 1], [0, 1], color="grey", linewidth=1)
        right.plot(confidence, self.reliability["right"][some] / n[some], marker="o")
        right.set(xlabel="confidence", title="accuracy", xlim=(0, 1), ylim=(0, 1))
        return figure


def _show(name: str, value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if np.isnan(value):
        return "-"
    if name in PERCENT:
        return f"{value:.2%}"
    return f"{value:,.0f}" if name in ("rows_per_second", "peak_memory_mb") else f"{value:.4f}"
