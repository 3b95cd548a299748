"""Table 1: accuracy and time in Settings I and II, 20 data sets each.

Beside the paper's methods stand the SVM of each true cluster and the Bayes classifier: what anyone
could reach on these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from infinimix.papers.experiment import (
    Comparison,
    Estimate,
    Outcome,
    Results,
    Size,
    Task,
    gather,
    values_of,
)
from infinimix.papers.m2dpm.methods import EVERY, GIBBS, M2DPM, METHODS, both_forms, judge, linear
from infinimix.papers.m2dpm.worlds import LabelledWorld, divide, setting_one, setting_two

SETTINGS: dict[str, Callable[[int, int], LabelledWorld]] = {"I": setting_one, "II": setting_two}
ROWS = {"I": 1_000, "II": 10_000}
PAPER: dict[str, dict[str, tuple[float, float]]] = {  # accuracy in percent, seconds
    "I": {
        "linear SVM": (66.4, 0.1), "RBF SVM": (69.5, 0.1), "MNL": (66.2, 0.2),
        "dpMNL": (68.8, 29.8), "DP-means + SVM": (70.8, 0.1), GIBBS: (70.9, 4.2),
        M2DPM: (71.1, 0.1),
    },
    "II": {
        "linear SVM": (54.4, 11.1), "RBF SVM": (65.5, 14.3), "MNL": (54.6, 1.2),
        "dpMNL": (54.6, 126.2), "DP-means + SVM": (58.9, 2.4), GIBBS: (62.9, 40.7),
        M2DPM: (64.4, 3.6),
    },
}  # fmt: skip
BOUNDS = ("SVM in each true cluster", "Bayes")
SIZES: dict[Size, Any] = {  # rows and data sets of each setting, methods
    "tiny": ({"I": (60, 1)}, ["linear SVM", M2DPM, f"{M2DPM} by default"]),
    "quick": ({"I": (1_000, 2), "II": (1_000, 1)}, list(EVERY)),
    "full": ({"I": (ROWS["I"], 20), "II": (ROWS["II"], 20)}, list(EVERY)),
}


def true_partition(world: LabelledWorld, train: np.ndarray, test: np.ndarray) -> float:
    """Return the accuracy of a linear SVM in each true cluster, C chosen on folds of its rows."""
    X, y, z, _ = world
    right = 0.0
    for k in np.unique(z[test]):
        rows, asked = train[z[train] == k], test[z[test] == k]
        if not len(rows):
            continue  # nobody could know its rule: all of them count as errors
        rare = np.bincount(y[rows], minlength=2).min() < 3
        choose = _most_frequent if rare else linear
        right += len(asked) * judge(choose, X[rows], y[rows], X[asked], y[asked])["accuracy"]
    return right / len(test)


def _most_frequent(X: np.ndarray, y: np.ndarray) -> Any:
    return DummyClassifier()


@lru_cache(maxsize=2)
def _world(setting: str, rows: int, seed: int) -> LabelledWorld:
    return SETTINGS[setting](rows, seed)


def tasks(size: Size) -> list[dict[str, Any]]:
    """Return one task for each data set and method."""
    settings, methods = SIZES[size]
    return [
        {"setting": setting, "rows": rows, "seed": seed, "method": method}
        for setting, (rows, sets) in settings.items()
        for seed in range(sets) for method in [*methods, *BOUNDS]
    ]  # fmt: skip


def run(task: Task) -> dict[str, Any]:
    """Return accuracy and time of one method on one data set."""
    world = _world(task["setting"], task["rows"], task["seed"])
    train, test = divide(len(world.y), task["seed"])
    if task["method"] == "Bayes":
        right = (world.p[test] > 0.5) == world.y[test]
        return {"accuracy": 100 * float(right.mean()), "seconds": 0.0}
    if task["method"] in BOUNDS:
        return {"accuracy": true_partition(world, train, test), "seconds": 0.0}
    X, y = world.X, world.y
    return judge(EVERY[task["method"]], X[train], y[train], X[test], y[test])


def summarise(results: Results) -> Outcome:
    """Put the paper's figures beside ours."""
    lines, verdicts = [], []
    present = values_of(results, "method")
    for setting in values_of(results, "setting"):
        accuracy, seconds = (
            lambda name, what=what, setting=setting: gather(
                results, what, setting=setting, method=name
            )
            for what in ("accuracy", "seconds")
        )
        own = [name for name in METHODS if name in present]
        for column, (find, what) in enumerate(((accuracy, "accuracy"), (seconds, "seconds"))):
            lines += [
                Comparison(
                    f"Setting {setting}, {what}: {name}",
                    PAPER[setting][name][column],
                    *both_forms(name, find),
                )
                for name in own
            ]
        lines += [
            Comparison(f"Setting {setting}, accuracy: {name}", None, accuracy(name))
            for name in BOUNDS if name in present
        ]  # fmt: skip
        verdicts.append(_verdict(results, setting, own, accuracy, seconds))
    return Outcome(lines, " ".join(verdicts), "accuracy in %, CPU seconds to learn and predict")


def paired(results: Results, setting: str, one: str, other: str) -> Estimate:
    """Return the mean difference of two methods' accuracies over data sets."""
    found = {
        (task["method"], task["seed"]): result["accuracy"]
        for task, result in results
        if task["setting"] == setting
    }
    return Estimate.of(
        value - found[other, seed] for (name, seed), value in found.items() if name == one
    )


def _verdict(
    results: Results, setting: str, own: list[str],
    accuracy: Callable[[str], Estimate], seconds: Callable[[str], Estimate],
) -> str:  # fmt: skip
    others = [name for name in own if name != M2DPM]
    best = max(others, key=lambda name: accuracy(name).mean)
    gap = paired(results, setting, M2DPM, best)
    error = "" if gap.error != gap.error else f" ± {gap.error:.1f}"
    ours = paired(results, setting, f"{M2DPM} by default", best)
    text = (
        f"Setting {setting}: the claim that M2DPM is comparable with the best: "
        f"{gap.mean:+.1f}{error} points from {best} as published, {ours.mean:+.1f} by default"
    )
    slower = [
        f"{name} takes {_times(seconds(name).mean / max(seconds(M2DPM).mean, 1e-9))}"
        for name in ("dpMNL", GIBBS, "RBF SVM") if name in others
    ]  # fmt: skip
    return "; ".join([text, *slower]) + "."


def _times(ratio: float) -> str:
    """Return how long something takes.

    >>> _times(35.2), _times(0.52), _times(1.04)
    ('35 times its time', '0.5 times its time', 'about as long')
    """
    if 0.8 < ratio < 1.25:
        return "about as long"
    return f"{ratio:.0f} times its time" if ratio > 1.5 else f"{ratio:.1f} times its time"
