"""Section 4's further idea: an additive part that all classes share, `shared_directions`.

The paper has no experiment on it. Here are worlds in which it should help (rows of all classes vary
along the same two directions), in which it has nothing to find (independent columns) and in which
it is wrong (each class has directions of its own); and three real tables, with few rows and in
folds. Each form of AClass learns the same rows: by the published filter, and by default.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from infinimix import AClassClassifier
from infinimix.papers.aclass.worlds import knock_out
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
from infinimix.papers.real_tables import folds, read_table

CLASSES, COLUMNS, NUISANCE, N_TEST, FOLDS = 3, 10, 2.5, 1000, 3
TABLES = ("vehicle", "vowel", "glass")
FEW = 100  # training rows of the real tables, beside two thirds of them
FORMS: dict[str, dict[str, Any]] = {
    "independent columns": {"columns": "real"},
    "gaussian block": {"columns": "gaussian"},
    "shared part, 2 directions": {"columns": "gaussian", "shared_directions": 2},
    "shared part, 5 directions": {"columns": "gaussian", "shared_directions": 5},
}
PLAIN, SHARED = list(FORMS)[:2], list(FORMS)[2:]
Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # X, y, test X, test y


def draw(modes: int, directions: tuple[int, int], missing: float, n: int, seed: int) -> Rows:
    """Return rows of a world: how many directions all classes share, and each has for itself."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(CLASSES, modes, COLUMNS))
    shared, own = directions
    common = NUISANCE * rng.normal(size=(shared, COLUMNS))
    W = NUISANCE * rng.normal(size=(CLASSES, own, COLUMNS))

    def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(CLASSES, size=n)
        X = means[y, rng.integers(modes, size=n)] + rng.normal(size=(n, COLUMNS))
        X += rng.normal(size=(n, shared)) @ common
        X += np.einsum("ir,ird->id", rng.normal(size=(n, own)), W[y])
        return knock_out(X, missing, rng), y

    return *rows(n), *rows(N_TEST)


WORLDS: dict[str, Callable[[int, int], Rows]] = {
    "shared directions": partial(draw, 1, (2, 0), 0.0),
    "shared directions, 3 modes a class": partial(draw, 3, (2, 0), 0.0),
    "shared directions, 25% missing": partial(draw, 1, (2, 0), 0.25),
    "no directions": partial(draw, 1, (0, 0), 0.0),
    "directions of each class": partial(draw, 1, (0, 2), 0.0),
}


def of_table(name: str, n: int, seed: int) -> list[Rows]:
    """Return folds of a real table; with n, only so many training rows of the first one."""
    frame, y = read_table(name)
    X = frame.select_dtypes("number").to_numpy(float)
    parts = list(folds(y, FOLDS, seed))
    if n:
        train, test = parts[0]
        every = np.unique(y[train], return_index=True)[1]  # no class is without a row
        others = np.setdiff1d(np.arange(len(train)), every)
        drawn = np.random.default_rng(seed).permutation(others)[: n - len(every)]
        parts = [(train[np.append(every, drawn)], test)]
    return [(X[train], y[train], X[test], y[test]) for train, test in parts]


# --- The experiment -----------------------------------------------------------------------------

GRID: dict[Size, Any] = {  # rows of worlds and of tables, repeats, how many worlds and tables
    "tiny": ((40,), (FEW, 0), 1, 1, 1),
    "quick": ((60,), (FEW,), 1, None, None),
    "full": ((60, 300), (FEW, 0), 5, None, None),
}


def tasks(size: Size) -> list[dict[str, Any]]:
    """Return one task for each form and data set; 0 rows of a table are all of its folds."""
    rows, of_tables, repeats, n_worlds, n_tables = GRID[size]
    places = [{"world": world, "rows": n} for world in [*WORLDS][:n_worlds] for n in rows]
    places += [{"world": name, "rows": n} for name in TABLES[:n_tables] for n in of_tables]
    return [
        {**place, "form": form, "seed": seed}
        for seed in range(repeats) for place in places for form in FORMS
    ]  # fmt: skip


def run(task: Task) -> dict[str, Any]:
    """Return the log-loss and the error of both filters, in nats and percent."""
    world, n, seed = task["world"], task["rows"], task["seed"]
    sets = [WORLDS[world](n, seed)] if world in WORLDS else of_table(world, n, seed)
    found = [_judge(FORMS[task["form"]] | {"random_state": seed}, rows) for rows in sets]
    return {key: float(np.mean([each[key] for each in found])) for key in found[0]}


def _judge(options: dict[str, Any], rows: Rows) -> dict[str, float]:
    X, y, test, truth = rows
    models: dict[str, Callable[..., AClassClassifier]] = {
        "published": AClassClassifier.as_published,
        "default": AClassClassifier,
    }
    found = {}
    for name, make in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # classes with few rows
            model = make(**options).fit(X, y)
        p = model.predict_proba(test)
        found[name] = float(log_loss(truth, p, labels=model.classes_))
        found[f"{name} error"] = 100 * float(np.mean(model.classes_[p.argmax(axis=1)] != truth))
    return found


def summarise(results: Results) -> Outcome:
    """Compare the forms by log-loss."""
    places = list(dict.fromkeys((task["world"], task["rows"]) for task, _ in results))

    def loss(name: str, world: str, n: int, form: str) -> Estimate:
        return gather(results, name, world=world, rows=n, form=form)

    lines = [
        Comparison(
            f"{_words(world, n)}: {form}", None,
            *(loss(name, world, n, form) for name in ("published", "default")),
        )
        for world, n in places for form in values_of(results, "form")
    ]  # fmt: skip
    notes = [
        "The paper proposes the idea without equations; docs/how-it-works.md has the chosen model.",
        "'as published' is the paper's filter (40 particles, no calibration) with these columns.",
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for form in values_of(results, "form"):
            means = [loss("default", world, n, form).mean for world, n in places]
            axes.plot(means, range(len(places)), "o", label=form)
        axes.set_yticks(range(len(places)), [_words(*place) for place in places])
        axes.set(xlabel="log-loss, nats", title="AClass by default")
        axes.invert_yaxis()
        axes.legend(fontsize="small")

    return Outcome(lines, _verdict(places, loss), "log-loss, nats", notes, draw)


def _words(world: str, n: int) -> str:
    return f"{world}, {n} rows" if n else f"{world}, {FOLDS} folds"


def _verdict(places: list[tuple[str, int]], loss: Any) -> str:
    found: dict[str, list[str]] = {"lower": [], "higher": []}
    for world, n in places:
        apart, joint = (
            min(loss("default", world, n, form).mean for form in forms) for forms in (PLAIN, SHARED)
        )
        word = "lower" if joint < apart else "higher"
        found[word].append(f"{_words(world, n)} ({joint:.3f} against {apart:.3f})")
    return " ".join(
        f"The better shared part has a {word} log-loss than the better form without one, by "
        f"default, on: {'; '.join(where)}."
        for word, where in found.items() if where
    )  # fmt: skip
