"""Filling holes of real tables: how far from the cells that were knocked out?

From tables of at most 2,000 rows, 10, 30 and 50% of the observed cells go at random. The
error of numbers is the root of the mean squared error in units of the column's standard
deviation; that of categories the share of wrong ones. The class is not among the columns.

Peers see numbers in standard units and categories one-hot, where a hole is a hole in each;
the largest of the columns of a category answers. `KNNImputer` and `IterativeImputer` are
scikit-learn's defaults, the mean and the mode those of the observed cells.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import infinimix
from bench.realdata import (
    as_objects,
    categorical_columns,
    find,
    knock_out,
    lacking,
    load,
    numeric_columns,
)
from bench.report import Grid, Line, Section
from bench.tables import TABLES

SHARES = (0.1, 0.3, 0.5)
MOST_ROWS = 2000
OURS = "infinimix"

Fill = Callable[[pd.DataFrame], pd.DataFrame]


def ours(frame: pd.DataFrame) -> pd.DataFrame:
    filled = infinimix.CRPImputer(random_state=0).fit_transform(frame)
    return as_objects(pd.DataFrame(filled, columns=frame.columns, index=frame.index))


def mean_or_mode(frame: pd.DataFrame) -> pd.DataFrame:
    frame = as_objects(frame)
    typical = {name: frame[name].mean() for name in numeric_columns(frame)}
    for name in categorical_columns(frame):
        counts = frame[name].value_counts()
        typical[name] = counts.index[0] if len(counts) else ""
    return frame.fillna(typical)


def nearest(frame: pd.DataFrame) -> pd.DataFrame:
    return _by_numbers(KNNImputer(keep_empty_features=True), frame)


def iterative(frame: pd.DataFrame) -> pd.DataFrame:
    return _by_numbers(IterativeImputer(keep_empty_features=True, random_state=0), frame)


METHODS: dict[str, Fill] = {
    OURS: ours,
    "nearest": nearest,
    "iterative": iterative,
    "mean, mode": mean_or_mode,
}


def _by_numbers(imputer: Any, frame: pd.DataFrame) -> pd.DataFrame:
    """Fill by an imputer for numbers."""
    frame = as_objects(frame)
    numbers = frame[numeric_columns(frame)]
    mean, scale = numbers.mean(), numbers.std().replace(0.0, 1.0).fillna(1.0)
    kinds = {name: frame[name].dropna().unique() for name in categorical_columns(frame)}
    blocks = [((numbers - mean) / scale).to_numpy()]
    for name, found in kinds.items():
        hot = (frame[name].to_numpy()[:, None] == found).astype(float)
        hot[frame[name].isna()] = np.nan
        blocks.append(hot)
    full = imputer.fit_transform(np.hstack(blocks))
    width = len(numbers.columns)
    filled = {name: full[:, j] * scale[name] + mean[name] for j, name in enumerate(numbers)}
    for name, found in kinds.items():
        hot, width = full[:, width : width + len(found)], width + len(found)
        filled[name] = found[hot.argmax(axis=1)] if len(found) else np.full(len(frame), "")
    guess = pd.DataFrame(filled, index=frame.index)[list(frame.columns)]
    return frame.where(frame.notna(), guess)


def errors(truth: pd.DataFrame, holed: pd.DataFrame, filled: pd.DataFrame) -> dict[str, float]:
    """Of the cells that were knocked out; NaN where there are none of a kind."""
    truth = as_objects(truth)
    gone = holed.isna() & truth.notna()
    squares, wrong = [], []
    for name in numeric_columns(truth):
        scale = truth[name].std()
        if scale > 0:
            at = gone[name]
            squares.append(((filled[name][at] - truth[name][at]) / scale).to_numpy(float) ** 2)
    for name in categorical_columns(truth):
        at = gone[name]
        wrong.append((filled[name][at].astype(str) != truth[name][at].astype(str)).to_numpy())
    return {
        "numbers": float(np.sqrt(np.concatenate(squares).mean())) if squares else np.nan,
        "categories": float(np.concatenate(wrong).mean()) if wrong else np.nan,
    }


def measure(
    tables: list[str],
    shares: tuple[float, ...] = SHARES,
    methods: tuple[str, ...] = tuple(METHODS),
    n_rows: int = MOST_ROWS,
) -> dict[str, dict[str, dict[str, float]]]:
    """Errors by "table, share", method and kind of column."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name in tables:
        frame = load(name, n_rows).frame
        for share in shares:
            holed = knock_out(frame, share, seed=0)
            by_method = results[f"{name}, {share:.0%}"] = {}
            for method in methods:
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # columns of holes, slow convergence
                    filled = METHODS[method](holed)
                seconds = time.process_time() - start
                by_method[method] = errors(frame, holed, filled) | {"seconds": seconds}
    return results


def run(quick: bool = False) -> Section:
    names = ["zoo", "autos"] if quick else TABLES
    present = [name for name in names if find(name)]
    methods = tuple(m for m in METHODS if m != OURS or hasattr(infinimix, "CRPImputer"))
    sizes = {"shares": (0.3,), "n_rows": 100} if quick else {}
    section = summary(measure(present, methods=methods, **sizes), methods)
    if OURS not in methods:
        section.notes.append("skipped infinimix: it has no CRPImputer")
    if absent := [name for name in names if name not in present]:
        section.notes.append(lacking(absent))
    return section


def summary(results: dict[str, Any], methods: tuple[str, ...]) -> Section:
    """Lines that count wins, and a grid for each kind of column."""
    section = Section("Filling knocked-out cells of real tables")
    section.figures = results
    titles = {
        "numbers": "Numbers: root mean squared error in standard deviations",
        "categories": "Categories: share of wrong ones",
        "seconds": "CPU seconds",
    }
    for kind, title in titles.items():
        rows, won, all_ = [], 0, 0
        for key, found in results.items():
            cells = [found[m][kind] for m in methods]
            if np.isnan(cells).all():
                continue
            best = np.nanmin(cells)
            rows.append([key, *(f"**{c:.3f}**" if c == best else f"{c:.3f}" for c in cells)])
            if OURS in methods:
                won, all_ = won + (found[OURS][kind] == best), all_ + 1
        section.grids.append(Grid(title, ["table", *methods], rows))
        if kind != "seconds" and OURS in methods:
            section.lines.append(Line(f"{kind}: least error", f"{won} of {all_}"))
    return section
