"""Few labels: accuracy by the number of training rows, the other rows being queries; and Table 1.

    python -m bench.few_labels --tables heart_statlog --repeats 100 --cache few.json

In each repeat (seeds from 0 on) the training rows are drawn at random and all other rows are to be
classified: one by one, or as a batch. Every method is told the kinds of the columns, as the "auto"
rule finds them in the whole table (of five rows they cannot be told); all else is default. What
is in the cache is not measured again.

Table 1 is that of the paper: 10-fold cross-validation, single rows (IC) and batches (BC).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bench.measures import standard_error
from bench.realdata import Table, find, lacking, load, splits
from bench.report import Grid, Line, Section, show, summarise, to_markdown
from infinimix import AClassClassifier, FiniteMixtureClassifier
from infinimix.tables import read_schema

TABLES = [
    *("heart_statlog", "hepatitis", "house_votes_84", "lymphography", "australian_credit"),
    *("pima_diabetes", "primary_tumor"),
]
SIZES = (5, 10, 20, 40, 80)
BARS = {
    "EM, batch": dict(zip(SIZES, (70.0, 76.5, 79.0, 80.0, 80.5), strict=True)),
    "AClass, batch": dict(zip(SIZES[:3], (72.0, 77.0, 79.5), strict=True)),
}
PAPER = {  # Table 1 of the paper: accuracy one by one, and in batch
    "lymphography": (73.0, 73.3),
    "hepatitis": (79.5, 79.6),
    "heart_statlog": (81.9, 81.9),
    "primary_tumor": (41.5, 41.8),
    "australian_credit": (81.3, 80.6),
    "pima_diabetes": (68.6, 68.6),
}
Answers = Callable[[Any, np.ndarray, Any, Any, int], dict[str, np.ndarray]]


def finite(X: Any, y: np.ndarray, queries: Any, columns: Any, seed: int) -> dict[str, np.ndarray]:
    """FiniteMixtureClassifier as it is."""
    model = FiniteMixtureClassifier(columns=columns, random_state=seed).fit(X, y)
    return {"EM": model.predict(queries), "EM, batch": model.predict_batch(queries)}


def naive(X: Any, y: np.ndarray, queries: Any, columns: Any, seed: int) -> dict[str, np.ndarray]:
    """One component for each class: naive Bayes, and naive Bayes with EM over the queries."""
    model = FiniteMixtureClassifier(columns, "classes", class_model="owned", n_init=1)
    model.fit(X, y)
    both = model.predict(queries), model.predict_batch(queries)
    return dict(zip(("naive Bayes", "naive Bayes + EM"), both, strict=True))


def grown(X: Any, y: np.ndarray, queries: Any, columns: Any, seed: int) -> dict[str, np.ndarray]:
    """AClassClassifier as it is."""
    model = AClassClassifier(columns=columns, random_state=seed).fit(X, y)
    return {"AClass": model.predict(queries), "AClass, batch": model.predict_batch(queries)}


METHODS: dict[str, Answers] = {"finite": finite, "naive": naive, "grown": grown}


def columns_of(table: Table) -> dict[str, str]:
    """The kinds of the columns in the whole table."""
    return read_schema(table.frame).kinds()


def repeat(table: Table, method: Answers, size: int, seed: int) -> dict[str, float]:
    """Accuracy of each answer of a method, in percent."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    train, rest = order[:size], order[size:]
    return _accuracy(table, method, train, rest, seed)


def _accuracy(
    table: Table, method: Answers, train: np.ndarray, rest: np.ndarray, seed: int
) -> dict[str, float]:
    X, y, queries = table.frame.iloc[train], table.y[train], table.frame.iloc[rest]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = method(X, y, queries, columns_of(table), seed)
    return {name: 100 * float(np.mean(found == table.y[rest])) for name, found in answers.items()}


def measure(
    tables: Sequence[str],
    repeats: int,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    cache: Path | None = None,
    n_rows: int | None = None,
) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Accuracies by table, method and number of training rows, one for each repeat."""
    known = json.loads(cache.read_text(encoding="utf-8")) if cache and cache.exists() else {}
    for name in tables:
        table, found = load(name, n_rows), known.setdefault(name, {})
        for method in methods:
            for size in sizes:
                done = found.setdefault(method, {}).setdefault(str(size), [])
                for seed in range(len(done), repeats):
                    done.append(repeat(table, METHODS[method], size, seed))
                    if cache and seed % 10 == 9:
                        cache.write_text(json.dumps(known), encoding="utf-8")
    if cache:
        cache.write_text(json.dumps(known), encoding="utf-8")
    return {name: _by_answer(known[name]) for name in tables}


def _by_answer(found: dict[str, Any]) -> dict[str, dict[str, list[float]]]:
    out: dict[str, dict[str, list[float]]] = {}
    for by_size in found.values():
        for size, done in by_size.items():
            for answer in done[0] if done else ():
                out.setdefault(answer, {})[size] = [one[answer] for one in done]
    return out


def summary(results: dict[str, Any], notes: Sequence[str] = ()) -> Section:
    """Lines for the bars, a grid for each table."""
    section = Section("Few labels: accuracy in percent by number of training rows", notes=[*notes])
    section.figures = results
    for answer, bars in BARS.items():
        for size, bar in bars.items():
            done = results.get("heart_statlog", {}).get(answer, {}).get(str(size))
            if done:
                mean = np.mean(done)
                text = f"{mean:.1f} ± {standard_error(np.array(done)):.1f}"
                what = f"heart_statlog, {size} training rows, {answer}"
                section.lines.append(Line(what, text, "", "", f">= {bar}", bool(mean >= bar)))
    for name, by_answer in results.items():
        sizes = sorted({int(s) for by_size in by_answer.values() for s in by_size})
        rows = []
        for answer, by_size in by_answer.items():
            cells = [_cell(by_size.get(str(size))) for size in sizes]
            rows.append([answer, *cells])
        repeats = max(len(d) for by_size in by_answer.values() for d in by_size.values())
        title = f"{name} ({repeats} repeats)"
        section.grids.append(Grid(title, ["method", *map(str, sizes)], rows))
    return section


def _cell(done: list[float] | None) -> str:
    return f"{np.mean(done):.1f} ± {standard_error(np.array(done)):.1f}" if done else ""


def table_one(tables: Sequence[str], repeats: int = 10, n_rows: int | None = None) -> Grid:
    """The paper's Table 1 beside ours."""
    rows = []
    for name in tables:
        table, done = load(name, n_rows), []
        for seed in range(repeats):
            shares = [
                (len(s.parts[0]), _accuracy(table, finite, s.train, s.parts[0], seed))
                for s in splits(table, seed, folds=10)
            ]
            total = sum(n for n, _ in shares)
            done.append([sum(n * a[k] for n, a in shares) / total for k in ("EM", "EM, batch")])
        ours = np.mean(done, axis=0)
        near = [f"{x:.1f}" for x in (*PAPER[name], *ours)]
        rows.append([name, *near, "yes" if (ours >= np.array(PAPER[name]) - 2).all() else "no"])
    headings = ["table", "paper IC", "paper BC", "IC", "BC", "within 2 points or better"]
    return Grid(f"Table 1 of the paper, {repeats} x 10 folds", headings, rows)


def run(quick: bool = False) -> Section:
    """Everything, on what is there of the data."""
    names = TABLES[:1] if quick else TABLES
    present = [name for name in names if find(name)]
    notes = [lacking(absent)] if (absent := [n for n in names if n not in present]) else []
    sizes, repeats = ((5, 20), 2) if quick else (SIZES, 100)
    section = summary(measure(present, repeats, sizes, n_rows=60 if quick else None), notes)
    if not quick:
        section.grids.append(table_one([name for name in PAPER if name in present]))
    return section


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a part of it from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.few_labels", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, metavar="TABLE")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--cache", type=Path, help="keep results in this file")
    parser.add_argument("--table-one", type=int, metavar="REPEATS", help="the paper's Table 1")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE")
    o = parser.parse_args(arguments)
    if o.table_one:
        section = Section("Table 1")
        section.grids.append(table_one([t for t in o.tables if t in PAPER], o.table_one))
    else:
        section = summary(measure(o.tables, o.repeats, o.sizes, o.methods, o.cache))
    console = Console(width=140)
    show(section, console)
    summarise([section], console)
    if o.markdown:
        o.markdown.write_text(to_markdown([section]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
