"""Streams that drift: prequential accuracy and rows a second beside River's adaptive trees.

Each stream in its own order, row by row. `OnlineCRPClassifier(columns="auto")` as it is and with
a half-life of 1,000 rows, `AClassClassifier(effort="fast")`, and the class
of the row before (which is hard to beat on elec2). covtype is cut to its first 50,000 rows, since
the forest would take hours; all accuracies are over the same rows.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from bench.realdata import find, lacking
from bench.realdata import load as load_table
from bench.report import Grid, Line, Section
from infinimix import AClassClassifier, OnlineCRPClassifier
from infinimix.tables import read_schema

ROWS = {"elec2": 45_312, "noaa_weather": 18_159, "outdoor_stream": 4_000,
        "gas_sensor_drift": 6_697, "covtype": 50_000}  # fmt: skip
HALF_LIFE = 1000
OURS = ("OnlineCRP", "OnlineCRP, half-life 1,000", "AClass, fast")


def load(name: str, n_rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows and labels of a stream."""
    folder = find(name)
    assert folder is not None
    if name in ("elec2", "noaa_weather"):
        table = load_table(name)
        frame, y = table.frame, table.y
    elif name == "covtype":
        arrays = np.load(folder / "covtype.npz")
        frame = pd.DataFrame(np.c_[arrays["numeric"], arrays["wilderness"], arrays["soil"]])
        y = arrays["y"]
    else:
        file = {"outdoor_stream": "outdoor.npz", "gas_sensor_drift": "gas.npz"}[name]
        arrays = np.load(folder / file)
        frame, y = pd.DataFrame(arrays["X"]), arrays["y"]
    frame.columns = [str(c) for c in frame.columns]
    return frame[:n_rows], np.unique(y, return_inverse=True)[1][:n_rows]


def ours(make: Callable[[], Any]) -> Callable[[pd.DataFrame, np.ndarray], np.ndarray]:
    """A model with `forecast`."""

    def predict(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
        said = make().forecast(X, y).predicted
        return np.array([-1 if z is None else z for z in said.tolist()])

    return predict


def mixtures(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """`AClassClassifier`: batches of 50 rows are predicted, then learned."""
    columns = read_schema(X).requests()  # a first batch would not show all values
    model = AClassClassifier(columns, effort="fast", max_groups=30, random_state=0)
    said = np.full(len(y), -1)
    for k in range(0, len(y), 50):
        part = slice(k, k + 50)
        if k:
            said[part] = model.predict(X[part])
        model.partial_fit(X[part], y[part])
    return said


def river(make: Callable[[], Any]) -> Callable[[pd.DataFrame, np.ndarray], np.ndarray]:
    """A model of River, row by row."""

    def predict(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
        model, said = make(), []
        for x, label in zip(_dicts(X), y.tolist(), strict=True):
            answer = model.predict_one(x)
            said.append(-1 if answer is None else answer)
            model.learn_one(x, label)
        return np.array(said)

    return predict


def _dicts(X: pd.DataFrame) -> Iterator[dict[str, Any]]:
    names = list(X.columns)
    for row in X.to_numpy(object).tolist():
        yield dict(zip(names, row, strict=True))


def before(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    return np.r_[-1, y[:-1]]


def contestants() -> dict[str, Callable[[pd.DataFrame, np.ndarray], np.ndarray]]:
    found = {
        "OnlineCRP": ours(lambda: OnlineCRPClassifier(columns="auto")),
        "OnlineCRP, half-life 1,000": ours(
            lambda: OnlineCRPClassifier(columns="auto", half_life=HALF_LIFE)
        ),
        "AClass, fast": mixtures,
        "label before": before,
    }
    if importlib.util.find_spec("river") is not None:
        from river import forest, tree

        found["Hoeffding adaptive tree"] = river(
            lambda: tree.HoeffdingAdaptiveTreeClassifier(seed=0)
        )
        found["adaptive random forest"] = river(lambda: forest.ARFClassifier(seed=0))
    return found


def run(quick: bool = False) -> Section:
    section = Section("Streams that drift, prequential accuracy (%)")
    rows: list[list[str]] = []
    for name, most in ROWS.items():
        if find(name) is None:
            section.notes.append(lacking([name]))
            continue
        X, y = load(name, 300 if quick else most)
        figures = {}
        for who, predict in contestants().items():
            if who in OURS:
                predict(X[:60], y[:60])  # load the kernels
            start = time.process_time()
            accuracy = float(np.mean(predict(X, y) == y))
            figures[who] = (accuracy, len(y) / (time.process_time() - start + 1e-9))
        section.figures[name] = figures
        rows.append(
            [
                f"{name}, {len(y):,} rows",
                *(f"{100 * a:.1f} ({r:,.0f}/s)" for a, r in figures.values()),
            ]
        )
    if rows:
        section.grids.append(Grid("accuracy, % (rows a second)", ["", *contestants()], rows))
    section.lines.append(Line("streams", str(len(rows))))
    return section
