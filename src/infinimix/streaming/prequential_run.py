"""`prequential`: every row of a stream is a test first and an example after.

That is the honest score of a model that learns all the time (Dawid 1984), and needs no split.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from infinimix.estimators.online.forecast import Forecast
from infinimix.evaluation.calibration import ReliabilityBins
from infinimix.evaluation.running import Contingency, Judged, Mean, Novelty, judge
from infinimix.streaming.bad import BadRecords
from infinimix.streaming.chunks import count_stream, read_chunks
from infinimix.streaming.curve import Curve
from infinimix.streaming.result import CURVES, PrequentialResult
from infinimix.streaming.run import AnsweredRows, Run
from infinimix.tables.missing import is_missing
from infinimix.tables.rows import cut

Advance = Callable[[int], None]


def prequential(
    model: Any,
    stream: Any,
    *,
    window: int = 1000,
    batch: int | None = None,
    warm_up: int = 0,
    max_rows: int | None = None,
    delay: int = 0,
    classes: Any = None,
    bins: int = 15,
    on_bad: str = "raise",
    progress: bool | Advance | None = None,
) -> PrequentialResult:
    """Let a model predict, then learn, the rows of a stream, and say how well it went.

    Parameters
    ----------
    model : classifier
        With `forecast` (see `infinimix.streaming.forecast`), with `partial_fit` as in
        scikit-learn, or with `learn_one` as in River. It is changed: it learns the stream.
    stream : pair (X, y), iterable of rows (x, y) or of chunks (X, y), or `read_stream(...)`
        The rows in their order, with their labels. Streams of single rows are read up to 1,000
        rows ahead. A row whose label is missing is learned, if the model takes it, and no test.
    window : int
        The curves are means over so many of the latest rows.
    batch : int, optional
        Predict so many rows, then learn them, instead of row by row; faster for most models.
    warm_up : int
        Rows at the beginning that are learned, in portions, and not predicted.
    max_rows : int, optional
        Rows after which to stop, with those of the warm-up.
    delay : int
        Rows that are predicted before the label of a row is known and learned.
    classes : sequence of labels, optional
        For models of scikit-learn that must know all labels at their first `partial_fit`.
    bins : int
        Bins of confidence, for calibration.
    on_bad : "raise" or "skip"
        What happens with rows that the model refuses with a ValueError or TypeError; skipped ones
        are counted and listed in the result. A refused call must have changed nothing, as it is
        with the models of infinimix: the other rows of it are then tried one by one.
    progress : bool or callable, optional
        A progress bar; with None if standard error is a terminal. A function is called with the
        number of rows so far.

    Returns
    -------
    PrequentialResult
        Print it, or ask `summary()`, `to_frame()` and `plot()`.

    Examples
    --------
    >>> import numpy as np
    >>> from infinimix import AClassClassifier
    >>> from infinimix.streaming import prequential
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> X = rng.normal(4.0 * y[:, None], size=(200, 2))
    >>> result = prequential(AClassClassifier("real", random_state=0), (X, y), batch=10)
    >>> result.rows, result.error < 0.1
    (200, True)
    """
    least = {"window": (window, 1), "batch": (1 if batch is None else batch, 1), "bins": (bins, 1)}
    least |= {"warm_up": (warm_up, 0), "delay": (delay, 0), "max_rows": (max_rows or 0, 0)}
    for name, (value, bound) in least.items():
        if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < bound:
            raise ValueError(f"{name} must be a whole number from {bound} on; got {value!r}.")
    bad = BadRecords(on_bad)
    run, scores = Run(model, batch, delay, classes, bad), Scores(window, bins)
    with _progress(progress, max_rows or count_stream(stream)) as advance:
        for X, y in read_chunks(stream, max_rows):
            early = max(0, min(warm_up - run.n_read, len(y)))
            if early:
                run.learn(cut(X, 0, early), y[:early])
            if early < len(y):
                before = run.seconds
                answers = run.forecast(cut(X, early, len(y)), y[early:])
                scores.add(answers, run.seconds - before)
            advance(run.n_read)
        run.finish()
    return scores.result(run, bad, getattr(stream, "bad", None))


class Scores:
    """All that is kept of a run."""

    def __init__(self, window: int, bins: int) -> None:
        self.n_rows = self.n_unanswered = self.n_unlabelled = 0
        self.error, self.error_known, self.loss = Mean(), Mean(), Mean()
        self.contingency, self.novelty = Contingency(), Novelty()
        self.calibration = ReliabilityBins(bins)
        self.curve = Curve(window, CURVES)

    def add(self, answers: AnsweredRows, seconds: float) -> None:
        """Take in the answers of a chunk."""
        n_all = len(answers.y)
        found, y, known = _labelled(answers)
        self.n_unlabelled += n_all - len(y)
        if not y:
            return
        judged = judge(found, y, known)
        predicted = found.predicted.tolist()
        self.n_rows += len(y)
        self.n_unanswered += sum(label is None for label in predicted)
        wrong = 1.0 - judged.right
        self.error.add(wrong)
        self.error_known.add(wrong[known])
        self.loss.add(judged.loss)
        self.contingency.add(predicted, y)
        self.calibration.add(judged.confidence, judged.right)
        self.novelty.add(judged)
        self.curve.add(*self._curves(judged, wrong, seconds))

    @staticmethod
    def _curves(judged: Judged, wrong: np.ndarray, seconds: float) -> tuple[np.ndarray, ...]:
        each = np.full(len(wrong), seconds / len(wrong))
        return wrong, judged.loss, judged.confidence, 1.0 - judged.known, each

    def result(self, run: Run, bad: BadRecords, unread: BadRecords | None) -> PrequentialResult:
        """Return the scores as they stand."""
        return PrequentialResult(
            rows=self.n_rows,
            bad_rows=bad.total + (unread.total if unread is not None else 0),
            unlabelled=self.n_unlabelled,
            unanswered=self.n_unanswered,
            classes=len(run.seen),
            error=self.error.value,
            error_known=self.error_known.value,
            **self.contingency.scores(),
            log_loss=self.loss.value,
            calibration_error=self.calibration.error,
            new_rows=self.novelty.n_new,
            **self.novelty.rates(),
            seconds=run.seconds,
            rows_per_second=run.n_read / run.seconds if run.seconds else float("nan"),
            peak_memory_mb=peak_memory_mb(),
            curve=self.curve.columns(),
            reliability={
                "rows": self.calibration.n,
                "confidence": self.calibration.confidence,
                "right": self.calibration.right,
            },
            contingency=dict(self.contingency.cells),
            bad=list(bad),
        )


def _labelled(answers: AnsweredRows) -> AnsweredRows:
    """Return the answers for rows with labels: only these can be right or wrong."""
    found, y, known = answers
    some = [i for i, label in enumerate(y) if not is_missing(label)]
    if len(some) == len(y):
        return answers
    return AnsweredRows(
        Forecast(*(part[some] for part in found)), [y[i] for i in some], known[some]
    )


def peak_memory_mb() -> float:
    """Return the most memory that this process has had resident, in MiB; NaN where unknown."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


@contextmanager
def _progress(progress: bool | Advance | None, total: int | None) -> Iterator[Advance]:
    if callable(progress):
        yield progress
        return
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if not progress:
        yield lambda n_rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("rows"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("rows", total=total)
        yield lambda n_rows: bar.update(task, completed=n_rows)
