"""Why a row is of a class: its log odds, and the share of each column in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from infinimix.estimators.answers.explanation import evidence_by_orders, show_probability
from infinimix.estimators.common.labels import Labels
from infinimix.kernels.logs import logsumexp
from infinimix.tables import EncodedTable


def weigh_class(
    log_classes: Callable[[EncodedTable], np.ndarray],
    row: EncodedTable,
    labels: Labels,
    c: int | None,
    rival: int | None,
) -> tuple[Any, float, str, np.ndarray]:
    """Return a class, its probability, a sentence about it, and the evidence of each column.

    `log_classes` are unnormalised log probabilities in the order of the bank; c is the class to
    speak for, by default the most probable one, and `rival` the one to compare with, by default
    all others together.
    """
    joint = log_classes(row)[0]
    c = int(joint.argmax()) if c is None else c
    rivals = np.delete(np.arange(len(joint)), c) if rival is None else np.array([rival])
    if len(rivals) == 0 or rivals[0] == c:
        raise ValueError("explain compares two classes, and here there is only one.")

    def log_odds(rows: EncodedTable) -> np.ndarray:
        found = log_classes(rows)
        return np.asarray(found[:, c] - logsumexp(found[:, rivals], axis=1))

    evidence = evidence_by_orders(row, log_odds)
    answer, p = labels.array[c], float(np.exp(joint[c] - logsumexp(joint)))
    answer = answer.item() if isinstance(answer, np.generic) else answer
    rest = "the others" if rival is None else f"{labels.values[rival]!r}"
    total = evidence.sum()
    before = float(log_odds(row)[0]) - total
    summary = (
        f"Class {answer!r} with probability {show_probability(p)}; against {rest} its log odds are "
        f"{before + total:.3g}: {_rounded(before):.3g} before the row, {total:+.3g} from its "
        "columns."
    )
    return answer, p, summary, evidence


def _rounded(log_odds: float) -> float:
    """Return log odds without the dust of rounding: 0 for classes that are equally probable."""
    return 0.0 if abs(log_odds) < 1e-9 else log_odds
