"""Decisions by cost: predict the class whose loss would cost most, not the most probable one.

With c_k the cost of a row of class k that is predicted as another one, predicting j costs
sum_{k != j} c_k P(k | x), which is least where c_j P(j | x) is largest. For two classes that is a
threshold: the positive class is predicted where its probability is at least fp / (fp + fn), with fn
the cost of a missed positive row and fp that of a false alarm. Costs and probabilities alone decide
it, so nothing is chosen on the rows that it is tested on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from infinimix.evaluation.intervals import Interval, mean_interval
from infinimix.evaluation.predictions import Predictions
from infinimix.evaluation.scores import confusion, score_class

SIDES = {"fn", "fp"}


def costs_by_class(
    labels: Sequence[Any], given: Mapping[str, float], positive: Any = None
) -> np.ndarray:
    """Return the cost of missing a row of each class.

    Parameters
    ----------
    labels : sequence
        The classes.
    given : mapping
        Costs by the names of classes, 1 for the others; or "fn" and "fp" for two classes.
    positive : label
        The class that "fn" is about.
    """
    known = {str(label): k for k, label in enumerate(labels)}
    costs = np.ones(len(labels))
    if set(given) <= SIDES and not set(given) & known.keys():
        if len(labels) != 2:
            example = ",".join(f"{label}={5 - 4 * k}" for k, label in enumerate(labels[:2]))
            raise ValueError(
                f"fn and fp are for two classes, and there are {len(labels)}; give a cost to each "
                f'class that is missed, such as "{example}".'
            )
        one = known[str(positive)]
        costs[one], costs[1 - one] = given.get("fn", 1.0), given.get("fp", 1.0)
        return costs
    for name, cost in given.items():
        if name not in known:
            raise ValueError(f"{name!r} is not a class; there are {', '.join(map(repr, known))}.")
        costs[known[name]] = cost
    return costs


def decide(proba: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Return the code of the class to predict for each row: that of the least expected cost."""
    return np.asarray((proba * costs).argmax(axis=1))


def compare_costs(found: Predictions, costs: np.ndarray) -> dict[str, Any]:
    """Return the mean cost of a held-out row, before and after decisions by cost."""
    after = decide(found.proba, costs)

    def paid(predicted: np.ndarray) -> np.ndarray:
        return np.asarray(costs[found.y] * (predicted != found.y))

    constant = [paid(np.full(len(found.y), k)).mean() for k in range(len(costs))]
    table = confusion(found.y, after, len(costs))
    means = {
        "before": _possible(mean_interval(paid(found.predicted), found.groups), costs),
        "after": _possible(mean_interval(paid(after), found.groups), costs),
        "saved": mean_interval(paid(found.predicted) - paid(after), found.groups),
    }
    return {
        "costs": [
            {"label": label, "cost": cost} for label, cost in zip(found.labels, costs, strict=True)
        ],
        **{name: one.value for name, one in means.items()},
        **{f"{name}_interval": one[1:] for name, one in means.items()},
        "best_constant": found.labels[int(np.argmin(constant))],
        "best_constant_cost": float(min(constant)),
        "classes": [
            {"label": label, **score_class(k, table)} for k, label in enumerate(found.labels)
        ],
    }


def _possible(mean: Interval, costs: np.ndarray) -> Interval:
    """Return the interval of a mean cost: it is not below 0, nor above the largest cost."""
    return Interval(mean.value, max(mean.low, 0.0), min(mean.high, float(costs.max())))


def threshold(costs: np.ndarray, positive: int) -> float:
    """Return the least probability with which the positive one of two classes is predicted."""
    return float(costs[1 - positive] / costs.sum())
