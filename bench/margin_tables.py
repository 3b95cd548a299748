"""Max-margin mixtures on real tables of numbers, beside peers that are tuned alike.

Tables have five stratified folds, the largest a random part of their rows; so have streams (gas
sensors, outdoor objects, covertype), whose drift is thereby spread evenly and no part of the
question. The paper's own tables, Parkinson's disease and protein folds, are tables 3 and 4 of
`infinimix reproduce m2dpm`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench import drift
from bench.realdata import Table, find, lacking, load, numeric_columns
from bench.report import Grid, Line, Section
from infinimix.papers.m2dpm import methods
from infinimix.papers.real_tables import folds

MOST = 1_000  # rows
FOLDS = 5
FEWER = 3  # of the folds are used where there are more than MANY rows
MANY = 500
TABLES = (
    "iris", "glass", "ecoli", "vehicle", "vowel", "segment", "waveform", "pendigits",
    "ionosphere", "pima_diabetes", "autos", "dermatology", "hypothyroid", "annealing",
)  # fmt: skip
STREAMS = ("gas_sensor_drift", "outdoor_stream", "covtype")
SKIPPED = {  # too slow for them
    "dpMNL": {"pendigits", "segment", "waveform", "vowel", "vehicle", "annealing", "hypothyroid",
              "dermatology", "ionosphere", *STREAMS},
}  # fmt: skip

PEERS: dict[str, methods.Choose] = {
    "linear SVM": methods.linear,
    "logistic": methods.logistic,
    "RBF SVM": methods.rbf,
    "DPMeansSVC": methods.pipeline,
    "M2DPM": methods.max_margin_default,
    "M2DPM soft": methods.max_margin_soft,
    "Gibbs": methods.gibbs_default,
    "dpMNL": methods.dp_mnl,
}
Split = tuple[np.ndarray, np.ndarray]


def numbers(table: Table) -> np.ndarray:
    """The numeric columns, holes filled with their means."""
    X = table.frame[numeric_columns(table.frame)].to_numpy(float)
    X = X[:, ~np.isnan(X).all(axis=0)]
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def folds_of(table: Table) -> Iterator[Split]:
    if table.test is not None:
        yield np.flatnonzero(~table.test), np.flatnonzero(table.test)
    else:
        yield from folds(table.y, FOLDS, seed=0)


def judge(table: Table, names: list[str], most: int) -> dict[str, list[float]]:
    """Accuracy, macro F1 and CPU seconds of each peer, means over folds."""
    X, y = numbers(table), table.y
    out: dict[str, list[list[float]]] = {name: [] for name in ["majority", *names]}
    for train, test in list(folds_of(table))[: min(most, FEWER if len(y) > MANY else FOLDS)]:
        values, counts = np.unique(y[train], return_counts=True)
        out["majority"].append([float((y[test] == values[counts.argmax()]).mean()), 0.0, 0.0])
        for name in names:
            found = methods.judge(PEERS[name], X[train], y[train], X[test], y[test])
            out[name].append([found["accuracy"] / 100, found["f1"] / 100, found["seconds"]])
    return {name: np.mean(scores, axis=0).tolist() for name, scores in out.items()}


def tasks(quick: bool) -> list[Table]:
    if quick:
        return [load("iris")] if find("iris") else []
    tables = [load(name, MOST) for name in TABLES if find(name)]
    return tables + [part_of_stream(name) for name in STREAMS if find(name)]


def part_of_stream(name: str) -> Table:
    """MOST rows of a stream, taken at random from all of it."""
    frame, y = drift.load(name, None)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST]
    return Table(name, frame.iloc[rows].reset_index(drop=True), y[rows], None)


def run(quick: bool = False) -> Section:
    section = Section("Max-margin mixtures on real tables")
    wanted = ["iris"] if quick else list(TABLES)
    gone = [name for name in wanted if not find(name)]
    if gone:
        section.notes.append(lacking(gone))
    names = ["linear SVM", "DPMeansSVC", "M2DPM"] if quick else list(PEERS)
    rows, seconds = [], []
    for table in tasks(quick):
        title = table.name
        own = [n for n in names if table.name not in SKIPPED.get(n, ())]
        found = judge(table, own, 2 if quick else FOLDS)
        best = max(found, key=lambda n: found[n][0])
        cells = [
            "" if n not in found else f"**{100 * found[n][0]:.1f}**" if n == best
            else f"{100 * found[n][0]:.1f}" for n in ["majority", *names]
        ]  # fmt: skip
        rows.append([f"{title} ({len(table.y)} x {numbers(table).shape[1]})", *cells])
        seconds.append([title, *[f"{found[n][2]:.1f}" if n in found else "" for n in names]])
        gap = 100 * (found["M2DPM"][0] - found["DPMeansSVC"][0])
        line = Line(f"{title}: M2DPM less DPMeansSVC, points", f"{gap:+.1f}")
        line.figures = {n: found[n] for n in found}
        section.lines.append(line)
    section.grids.append(Grid("Accuracy, percent", ["table", "majority", *names], rows))
    section.grids.append(
        Grid("CPU seconds of a fit and its answers, without choices", ["table", *names], seconds)
    )
    return section
