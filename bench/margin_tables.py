"""Max-margin mixtures on real tables of numbers, beside peers that are tuned alike.

Parkinson's recordings are several of each subject: folds of rows put the same voice on both sides,
folds of subjects do not. Protein folds have their official split. Other tables have five stratified
folds, the largest a random part of their rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from bench.margin_peers import PEERS, fit_scaled
from bench.realdata import Table, find, lacking, load, numeric_columns
from bench.report import Grid, Line, Section

MOST = 2_000  # rows
FOLDS = 5
TABLES = (
    "iris", "glass", "ecoli", "vehicle", "vowel", "segment", "waveform", "pendigits",
    "ionosphere", "pima_diabetes",
)  # fmt: skip
SKIPPED = {"dpMNL": {"pendigits", "segment", "waveform", "vowel"}}  # too slow for them

Split = tuple[np.ndarray, np.ndarray]


def numbers(table: Table) -> np.ndarray:
    """The numeric columns, holes filled with their means."""
    X = table.frame[numeric_columns(table.frame)].to_numpy(float)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def folds_of(table: Table, by: str) -> Iterator[Split]:
    if table.test is not None:
        yield np.flatnonzero(~table.test), np.flatnonzero(table.test)
        return
    rows = np.arange(len(table.y))
    if by == "subject":
        subjects = table.frame["name"].str.extract(r"_(S\d+)_")[0].to_numpy()
        folding = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
        yield from folding.split(rows, table.y, subjects)
    else:
        yield from StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(rows, table.y)


def judge(table: Table, by: str, names: list[str], most: int) -> dict[str, list[float]]:
    """Accuracy, macro F1 and CPU seconds of each peer, means over folds."""
    X, y = numbers(table), table.y
    out: dict[str, list[list[float]]] = {name: [] for name in ["majority", *names]}
    for train, test in list(folds_of(table, by))[:most]:
        values, counts = np.unique(y[train], return_counts=True)
        out["majority"].append([float((y[test] == values[counts.argmax()]).mean()), 0.0, 0.0])
        for name in names:
            start = time.process_time()
            answer = fit_scaled(PEERS[name], X[train], y[train]).predict(X[test])
            spent = time.process_time() - start
            f1 = f1_score(y[test], answer, average="macro", zero_division=0)
            out[name].append([float((answer == y[test]).mean()), float(f1), spent])
    return {name: np.mean(scores, axis=0).tolist() for name, scores in out.items()}


def tasks(quick: bool) -> list[tuple[str, Table, str]]:
    if quick:
        return [("iris", load("iris"), "row")] if find("iris") else []
    out = []
    for name, by in (("parkinsons", "row"), ("parkinsons", "subject")):
        if find(name):
            out.append((f"{name}, by {by}", load(name), by))
    if find("protein_fold_ding_dubchak"):
        out.append(("protein folds, 311 / 383", load("protein_fold_ding_dubchak"), "row"))
    out += [(name, load(name, MOST), "row") for name in TABLES if find(name)]
    return out


def run(quick: bool = False) -> Section:
    section = Section("Max-margin mixtures on real tables")
    wanted = ["iris"] if quick else ["parkinsons", "protein_fold_ding_dubchak", *TABLES]
    gone = [name for name in wanted if not find(name)]
    if gone:
        section.notes.append(lacking(gone))
    names = ["linear SVM", "DPMeansSVC", "M2DPM"] if quick else list(PEERS)
    rows, seconds = [], []
    for title, table, by in tasks(quick):
        own = [n for n in names if table.name not in SKIPPED.get(n, ())]
        found = judge(table, by, own, 2 if quick else FOLDS)
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
    section.grids.append(Grid("CPU seconds of a fit, choices included", ["table", *names], seconds))
    return section
