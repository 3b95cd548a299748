"""How well the model does, as it learns: error, log-loss, calibration and throughput over time.

A row is scored if it was predicted before its label was learned. `/predict-then-learn` scores all
of its rows; what `/learn` and the sources bring is scored as far as a twentieth of the time allows,
a few rows of a group, as the others wait.
"""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

import numpy as np

from infinimix.evaluation.calibration import BINS, ReliabilityBins
from infinimix.service.answers import Predicted

WINDOW = 1000  # scored rows of the error
POINTS = 600  # of the history, one a second
SHARE = 0.05  # of the time of learning that scoring may take
LEAST = 1e-15  # probability


class Figures:
    """Counters and running means; written by the owner of the model, read by anybody."""

    def __init__(self) -> None:
        self.learned = self.predicted = self.scored = self.repeated = self.bad = 0
        self.learning = self.scoring = 0.0  # seconds
        self.history: deque[dict[str, Any]] = deque(maxlen=POINTS)
        self._rows: deque[tuple[bool, float, float]] = deque(maxlen=WINDOW)
        self._last = (time.monotonic(), 0, 0)

    @property
    def has_time(self) -> bool:
        """Whether rows may be scored that nobody asked to predict."""
        return self.scoring <= SHARE * self.learning

    def score(self, said: Predicted, y: list[Any] | None) -> None:
        """Compare predictions with labels; those without a label, or before any class, are not."""
        if y is None or not said.labels:
            return
        place = {label: k for k, label in enumerate(said.labels)}
        for i, label in enumerate(y[: len(said.best)]):
            if label is None:
                continue
            k = place.get(label)
            loss = math.nan if k is None else -math.log(max(float(said.proba[i, k]), LEAST))
            self._rows.append((said.best[i] == label, loss, float(said.proba[i].max())))
            self.scored += 1

    def now(self) -> dict[str, Any]:
        """Return the figures of the last scored rows."""
        rows = list(self._rows)
        losses = [loss for _, loss, _ in rows if loss == loss]
        return {
            "error": 1.0 - sum(right for right, _, _ in rows) / len(rows) if rows else None,
            "log_loss": sum(losses) / len(losses) if losses else None,
            "learned": self.learned,
            "predicted": self.predicted,
            "scored": self.scored,
            "window": len(rows),
        }

    def calibration(self) -> dict[str, Any]:
        """Return the reliability of the last scored rows, by bins of confidence."""
        rows = list(self._rows)
        bins = ReliabilityBins(BINS)
        bins.add(np.array([c for _, _, c in rows]), np.array([r for r, _, _ in rows], bool))
        some = np.flatnonzero(bins.n)
        points = [
            {
                "rows": int(bins.n[b]),
                "confidence": float(bins.confidence[b] / bins.n[b]),
                "right": float(bins.right[b] / bins.n[b]),
            }
            for b in some.tolist()
        ]
        return {"error": bins.error if rows else None, "bins": points}

    def tick(self) -> dict[str, Any]:
        """Add a point to the history, with the throughput since the last one."""
        before, learned, predicted = self._last
        at = time.monotonic()
        seconds = max(at - before, 1e-9)
        point = self.now() | {
            "time": time.time(),
            "learned_per_second": (self.learned - learned) / seconds,
            "predicted_per_second": (self.predicted - predicted) / seconds,
        }
        self._last = (at, self.learned, self.predicted)
        self.history.append(point)
        return point
