"""Predicting numbers: R^2 against scikit-learn's regressors, and how many rows intervals cover.

Five folds, the same for all. The tables are scikit-learn's diabetes and two of Friedman's
functions, and real tables in which one of the numbers is the target and the class is a column like
the others; at most 3,000 rows of each. Peers have missing cells filled by the mean or the most
frequent value, categories one-hot and numbers in standard units; otherwise their defaults, with a
strength of the ridge found by cross-validation and 300 trees in the forest.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from bench.realdata import categorical_columns, find, lacking, numeric_columns
from bench.report import Grid, Line, Section
from infinimix import CRPRegressor

FOLDS = 5
REAL = {  # target, columns that name rows or tell the target, most rows
    "pima_diabetes": ("bmi", [], None),
    "heart_cleveland": ("thalach", [], None),
    "parkinsons": ("HNR", ["name"], None),
    "autos": ("price", [], None),
    "glass": ("ri", [], None),
    "adult": ("hours_per_week", ["split"], 3000),
    "elec2": ("nswprice", [], 3000),
    "noaa_weather": ("temperature", ["max_temperature", "min_temperature"], 2000),
}
OURS, FAST = "infinimix", "infinimix, fast"

Table = tuple[pd.DataFrame, np.ndarray]


def _made(maker: Callable[..., Any], noise: float) -> Table:
    X, y = maker(500, noise=noise, random_state=0)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), y


def _real(name: str) -> Table:
    target, drop, n_rows = REAL[name]
    folder = find(name)
    if folder is None:
        raise FileNotFoundError(lacking([name]))
    frame = pd.read_csv(folder / "data.csv.gz", na_values="?").drop(columns=drop)
    frame = frame[frame[target].notna()]
    if n_rows is not None:
        frame = frame.sample(n_rows, random_state=0)
    frame = frame.reset_index(drop=True)
    return frame.drop(columns=[target]), frame[target].to_numpy(float)


def tables() -> dict[str, Callable[[], Table]]:
    """All tables that are here, by name."""
    found: dict[str, Callable[[], Table]] = {
        "friedman1": lambda: _made(make_friedman1, 1.0),
        "friedman2": lambda: _made(make_friedman2, 100.0),
        "diabetes": lambda: load_diabetes(as_frame=True, return_X_y=True),
    }
    for name in filter(find, REAL):
        found[f"{name} {REAL[name][0]}"] = lambda name=name: _real(name)  # type: ignore[misc]
    return found


def models(X: pd.DataFrame, quick: bool = False) -> dict[str, Callable[[], Any]]:
    """All models, ours first; `quick` has few islands and trees."""

    def before() -> Any:
        codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        words = make_pipeline(SimpleImputer(strategy="most_frequent"), codes)
        numbers = make_pipeline(SimpleImputer(), StandardScaler())
        return make_column_transformer(
            (words, categorical_columns(X)), (numbers, numeric_columns(X))
        )

    forest, boosting = RandomForestRegressor, HistGradientBoostingRegressor
    islands, trees, rounds = (2, 5, 5) if quick else (None, 300, 100)
    return {
        OURS: lambda: CRPRegressor(random_state=0, n_islands=islands),
        FAST: lambda: CRPRegressor(random_state=0, effort="fast"),
        "ridge": lambda: make_pipeline(before(), RidgeCV(np.logspace(-2, 3, 11))),
        "forest": lambda: make_pipeline(before(), forest(trees, random_state=0)),
        "boosting": lambda: make_pipeline(before(), boosting(max_iter=rounds, random_state=0)),
    }


def judge(
    make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray, folds: int = FOLDS
) -> dict[str, float]:
    """R^2, the coverage of 90% intervals if there are any, and CPU seconds."""
    mean, covered = np.empty(len(y)), np.full(len(y), np.nan)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns without values in a fold
        for train, test in KFold(folds, shuffle=True, random_state=1).split(X):
            model = make().fit(X.iloc[train], y[train])
            mean[test] = model.predict(X.iloc[test])
            if isinstance(model, CRPRegressor):
                low, high = model.predict_interval(X.iloc[test], 0.9).T
                covered[test] = (low <= y[test]) & (y[test] <= high)
    seconds = time.process_time() - start
    return {"r2": r2_score(y, mean), "coverage": float(covered.mean()), "seconds": seconds}


def measure(
    names: list[str], n_rows: int | None = None, folds: int = FOLDS, quick: bool = False
) -> dict[str, dict[str, dict[str, float]]]:
    """Figures by table and model."""
    results = {}
    for name in names:
        X, y = tables()[name]()
        X, y = X.iloc[:n_rows], np.asarray(y, float)[:n_rows]
        found = {m: judge(make, X, y, folds) for m, make in models(X, quick).items()}
        results[f"{name}, {len(y):,}"] = found
    return results


def summary(results: dict[str, dict[str, dict[str, float]]]) -> Section:
    """A grid of R^2 and coverage, and lines that count wins."""
    section = Section("Predicting numbers", figures=results)
    rows, won = [], 0
    for name, found in results.items():
        best = max(one["r2"] for m, one in found.items() if m != FAST)
        won += found[OURS]["r2"] == best
        values = [one["r2"] for one in found.values()]
        cells = [f"**{r2:.3f}**" if r2 == best else f"{r2:.3f}" for r2 in values]
        rows.append([name, *cells, *(f"{found[m]['coverage']:.1%}" for m in (OURS, FAST))])
    head = ["table, rows", *next(iter(results.values())), "90% covers", "fast covers"]
    section.grids.append(Grid("R^2, and the share of rows that 90% intervals cover", head, rows))
    section.lines.append(Line("largest R^2 (without fast)", f"{won} of {len(results)}"))
    seconds = {
        m: sum(found[m]["seconds"] for found in results.values())
        for m in next(iter(results.values()))
    }
    told = ", ".join(f"{m} {s:.0f}" for m, s in seconds.items())
    section.notes.append(f"CPU seconds, five folds of all tables: {told}")
    return section


def run(quick: bool = False) -> Section:
    names = ["diabetes"] if quick else list(tables())
    section = summary(
        measure(names, **({"n_rows": 40, "folds": 2, "quick": True} if quick else {}))
    )
    if absent := [name for name in REAL if not find(name)]:
        section.notes.append(lacking(absent))
    return section
