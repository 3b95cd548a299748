"""Filling holes of real tables: how far from the cells that were knocked out?

From tables of at most 2,000 rows, 10, 30 and 50% of the observed cells go at random. The
error of numbers is the root of the mean squared error in units of the column's standard
deviation; that of categories the share of wrong ones. The class is not among the columns.

Peers see numbers in standard units and categories one-hot, where a hole is a hole in each;
the largest of the columns of a category answers. `KNNImputer` and `IterativeImputer` are
scikit-learn's defaults, the mean and the mode those of the observed cells.

`python -m bench imputation`, or in parts:

    python -m bench.imputation --tables zoo autos --methods nearest --cache kept.json

What has been measured is kept in the cache, if there is one (or the file that
`INFINIMIX_BENCH_CACHE` names), so a run can be resumed. Holes depend on table and share alone, so
that all methods fill the same cells. What infinimix has filled counts only while its code is that
which filled it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import infinimix
from bench import kept
from bench.catalogue import BENCHMARKS
from bench.realdata import (
    as_objects,
    categorical_columns,
    find,
    knock_out,
    lacking,
    load,
    numeric_columns,
)
from bench.report import Grid, Line, Section, show
from bench.sources import fingerprint
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
    tables: Sequence[str],
    shares: Sequence[float] = SHARES,
    methods: Sequence[str] = tuple(METHODS),
    n_rows: int = MOST_ROWS,
    cache: Path | None = None,
) -> dict[str, dict[str, dict[str, float]]]:
    """Errors by "table, share", method and kind of column."""
    known, results = kept.read(cache), {}
    for name in tables:
        frame = load(name, n_rows).frame
        for share in shares:
            key, holed = f"{name}, {share:.0%}", knock_out(frame, share, seed=0)
            done = known.setdefault(f"imputation of {key}, {len(frame)} rows", {})
            for method in methods:
                if not _is_kept(done.get(method), method):
                    done[method] = _fill(METHODS[method], frame, holed) | {"sources": _sources()}
                    kept.write(cache, known)
            results[key] = {method: _figures(done[method]) for method in methods}
    return results


def _fill(method: Fill, frame: pd.DataFrame, holed: pd.DataFrame) -> dict[str, Any]:
    """Fill a table; return its errors and the CPU time."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of holes, slow convergence
        filled = method(holed)
    seconds = time.process_time() - start
    return errors(frame, holed, filled) | {"seconds": seconds}


def _sources() -> str:
    return fingerprint(BENCHMARKS["imputation"].measures)


def _is_kept(found: dict[str, Any] | None, method: str) -> bool:
    """Has this been measured, and our own by the code of today?"""
    return found is not None and (method != OURS or found["sources"] == _sources())


def _figures(found: dict[str, Any]) -> dict[str, float]:
    return {kind: value for kind, value in found.items() if kind != "sources"}


def run(quick: bool = False) -> Section:
    names = ["zoo", "autos"] if quick else TABLES
    present = [name for name in names if find(name)]
    methods = tuple(m for m in METHODS if m != OURS or hasattr(infinimix, "CRPImputer"))
    sizes = {"shares": (0.3,), "n_rows": 100} if quick else {}
    section = summary(measure(present, methods=methods, cache=kept.place(), **sizes), methods)
    if OURS not in methods:
        section.notes.append("skipped infinimix: it has no CRPImputer")
    if absent := [name for name in names if name not in present]:
        section.notes.append(lacking(absent))
    return section


def summary(results: dict[str, Any], methods: Sequence[str]) -> Section:
    """Lines that count wins, and a grid for each kind of column."""
    section = Section("Filling knocked-out cells of real tables")
    section.figures = results
    titles = {
        "numbers": "Numbers: root mean squared error in standard deviations",
        "categories": "Categories: share of wrong ones",
        "seconds": "CPU seconds",
    }
    for kind, title in titles.items():
        rows = []
        for key, found in results.items():
            cells = [found[m][kind] for m in methods]
            if not np.isnan(cells).all():
                best = np.nanmin(cells)
                rows.append([key, *(f"**{c:.3f}**" if c == best else f"{c:.3f}" for c in cells)])
        section.grids.append(Grid(title, ["table", *methods], rows))
        if kind != "seconds" and OURS in methods:
            section.lines += count_least(results, kind)
    return section


def count_least(results: dict[str, Any], kind: str) -> list[Line]:
    """Count for each share the tables on which our error is the least, ties included."""
    won: dict[str, list[bool]] = {}
    for key, found in results.items():
        cells = {m: figures[kind] for m, figures in found.items()}
        if not np.isnan(list(cells.values())).all():
            least = np.nanmin(list(cells.values()))
            won.setdefault(key.rpartition(", ")[2], []).append(bool(cells[OURS] == least))
    return [
        Line(f"{kind}, {share} missing: least error", f"{sum(all_)} of {len(all_)}")
        for share, all_ in won.items()
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a part of it from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.imputation", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, metavar="TABLE")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument(
        "--cache", type=Path, default=kept.place(), help="keep results in this file"
    )
    o = parser.parse_args(arguments)
    results = measure(o.tables, o.shares, o.methods, cache=o.cache)
    show(summary(results, o.methods), Console(width=120))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
