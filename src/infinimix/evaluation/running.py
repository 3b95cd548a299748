"""How well a run goes: sums that take rows as they come and are read at any time.

All of them have a bounded size, except the contingency table: that has a cell for every pair of a
predicted and a true label that occurred together.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.evaluation.scores import log_losses, ratio

STEP, MOST = 0.01, 50.0  # log-odds of a new class are told apart by that, and up to that


class Judged(NamedTuple):
    """Answers and what they were worth, for some rows."""

    right: np.ndarray  # bool
    known: np.ndarray  # bool: had the label been learned before?
    predicted_new: np.ndarray  # bool: was the answer NEW_CLASS?
    loss: np.ndarray  # -log of the probability of the true label, NaN without one
    confidence: np.ndarray
    new: np.ndarray


def judge(found: Forecast, y: list[Any], known: np.ndarray) -> Judged:
    """Say which answers are right; `NEW_CLASS` is, if the label had not been learned before."""
    predicted = found.predicted.tolist()
    predicted_new = np.array([label is NEW_CLASS for label in predicted], dtype=bool)
    same = np.array([a == b for a, b in zip(predicted, y, strict=True)], dtype=bool)
    loss = log_losses(found.proba_true)
    right = np.where(predicted_new, ~known, same)
    return Judged(right, known, predicted_new, loss, found.confidence, found.new)


class Mean:
    """A mean over the values that are not NaN."""

    def __init__(self) -> None:
        self.n, self.total = 0, 0.0

    def add(self, values: np.ndarray) -> None:
        """Take in values."""
        values = values[~np.isnan(values)]
        self.n += len(values)
        if len(values):  # in order, so that the sum does not depend on how the rows are cut
            self.total = float(np.cumsum(np.append(self.total, values))[-1])

    @property
    def value(self) -> float:
        """The mean; NaN of nothing."""
        return ratio(self.total, self.n)


class Contingency:
    """Rows by predicted and true label, and what two rows being together says.

    A pair of rows is together if both have the same label. Precision, recall and F1 compare the
    pairs that the predictions put together with those that truly are; the counts are exact.
    """

    def __init__(self) -> None:
        self.cells: Counter[tuple[Any, Any]] = Counter()

    def add(self, predicted: list[Any], true: list[Any]) -> None:
        """Take in rows."""
        self.cells.update(zip(predicted, true, strict=True))

    def pairs(self) -> tuple[int, int, int, int]:
        """Return the pairs together in both, in the predictions, in truth, and all pairs."""
        rows: Counter[Any] = Counter()
        columns: Counter[Any] = Counter()
        for (a, b), n in self.cells.items():
            rows[a] += n
            columns[b] += n
        n = sum(rows.values())
        sums = (_pairs(self.cells), _pairs(rows), _pairs(columns))
        return (*sums, n * (n - 1) // 2)

    def scores(self) -> dict[str, float]:
        """Return precision, recall and F1 over pairs, and the Rand index."""
        both, predicted, true, every = self.pairs()
        return {
            "pair_precision": ratio(both, predicted),
            "pair_recall": ratio(both, true),
            "pair_f1": ratio(2 * both, predicted + true),
            "rand_index": ratio(every - predicted - true + 2 * both, every),
        }


def _pairs(counts: Counter[Any]) -> int:
    return sum(n * (n - 1) // 2 for n in counts.values())


class Novelty:
    """Are rows of new classes noticed? A row is new if its label had not been learned before."""

    def __init__(self) -> None:
        self.n_new = self.n_predicted = self.n_hit = 0
        self.is_told = False  # whether the model says anything of new classes
        self.scores = np.zeros((2, 2 * round(MOST / STEP) + 1), np.int64)  # old and new rows

    def add(self, judged: Judged) -> None:
        """Take in rows."""
        new = ~judged.known
        self.n_new += int(new.sum())
        self.n_predicted += int(judged.predicted_new.sum())
        self.n_hit += int((new & judged.predicted_new).sum())
        scored = ~np.isnan(judged.new)
        self.is_told |= bool(scored.any() or judged.predicted_new.any())
        with np.errstate(divide="ignore"):
            odds = np.log(judged.new[scored]) - np.log1p(-judged.new[scored])
        place = np.rint((np.clip(odds, -MOST, MOST) + MOST) / STEP).astype(np.int64)
        np.add.at(self.scores, (new[scored].astype(np.int64), place), 1)

    def rates(self) -> dict[str, float]:
        """Return precision, recall and AUROC; NaN if the model says nothing of new classes."""
        precision, recall = ratio(self.n_hit, self.n_predicted), ratio(self.n_hit, self.n_new)
        return {
            "new_precision": precision if self.is_told else float("nan"),
            "new_recall": recall if self.is_told else float("nan"),
            "new_auroc": self.auroc,
        }

    @property
    def auroc(self) -> float:
        """Chance that a new row has a higher probability of being new than an old one."""
        old, new = self.scores.tolist()
        below, wins = 0, 0  # twice the wins: ties count half
        for n_old, n_new in zip(old, new, strict=True):
            wins += n_new * (2 * below + n_old)
            below += n_old
        return ratio(wins, 2 * below * sum(new))
