"""Few labels: accuracy by the number of training rows, the other rows being queries; and Table 1.

    python -m bench.few_labels --tables heart_statlog --repeats 100 --cache few.json

In each repeat (seeds from 0 on) the training rows are drawn at random and all other rows are to be
classified: one by one, or as a batch. Every method is told the kinds of the columns, as the "auto"
rule finds them in the whole table (of five rows they cannot be told); all else is default. What
is in the cache is not measured again.

"chosen" is the one of FIVE answers with the least log-loss on training rows held out in three
folds, each fold being a part of the queries: no label of a query is looked at. Table 1 of the paper
is in `infinimix.papers.batch_mixtures`, digits with two labels a class in `few_digits`.
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

from bench.realdata import Table, find, lacking, load
from bench.report import Grid, Line, Section, show, summarise, to_markdown
from infinimix import AClassClassifier, FiniteMixtureClassifier
from infinimix.evaluation.intervals import standard_error
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
FIVE = ("EM", "EM, batch", "naive Bayes", "naive Bayes + EM", "AClass, batch")
FOLDS, FLOOR = 3, 1e-6  # of the choice; the probability of a class that no training row has
Guess = tuple[np.ndarray, np.ndarray]  # classes, and the probability of each in each row
Answers = Callable[[Any, np.ndarray, Any, Any, int], dict[str, Guess]]


def finite(X: Any, y: np.ndarray, queries: Any, columns: Any, seed: int) -> dict[str, Guess]:
    """FiniteMixtureClassifier as it is."""
    model = FiniteMixtureClassifier(columns=columns, random_state=seed).fit(X, y)
    return _both(model, queries, "EM", "EM, batch")


def naive(X: Any, y: np.ndarray, queries: Any, columns: Any, seed: int) -> dict[str, Guess]:
    """One component for each class: naive Bayes, and naive Bayes with EM over the queries."""
    model = FiniteMixtureClassifier(columns, "classes", class_model="owned", n_init=1)
    return _both(model.fit(X, y), queries, "naive Bayes", "naive Bayes + EM")


def grown(X: Any, y: np.ndarray, queries: Any, columns: Any, seed: int) -> dict[str, Guess]:
    """AClassClassifier as it is."""
    model = AClassClassifier(columns=columns, random_state=seed).fit(X, y)
    return _both(model, queries, "AClass", "AClass, batch")


def _both(model: Any, queries: Any, alone: str, batch: str) -> dict[str, Guess]:
    return {
        alone: (model.classes_, model.predict_proba(queries)),
        batch: (model.classes_, model.predict_proba_batch(queries)),
    }


METHODS: dict[str, Answers] = {"finite": finite, "naive": naive, "grown": grown}


def columns_of(table: Table) -> dict[str, str]:
    """The kinds of the columns in the whole table."""
    return read_schema(table.frame).kinds()


def repeat(table: Table, method: str, size: int, seed: int) -> dict[str, float]:
    """Accuracy of each answer of a method, in percent."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    train, rest = order[:size], order[size:]
    guesses = ask(table, METHODS[method], train, rest, seed)
    return {name: accuracy(guess, table.y[rest]) for name, guess in guesses.items()}


def ask(
    table: Table, method: Answers, train: np.ndarray, rest: np.ndarray, seed: int
) -> dict[str, Guess]:
    """The answers of a method that has learned the training rows."""
    X, y, queries = table.frame.iloc[train], table.y[train], table.frame.iloc[rest]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method(X, y, queries, columns_of(table), seed)


def accuracy(guess: Guess, y: np.ndarray) -> float:
    """The share of rows whose most probable class is right, in percent."""
    classes, proba = guess
    return 100 * float(np.mean(classes[proba.argmax(axis=1)] == y))


def surprise(guess: Guess, y: np.ndarray) -> float:
    """The sum of -log P(class) over the first rows, as many as there are classes given."""
    classes, proba = guess
    p = [proba[i, classes == one].sum() for i, one in enumerate(y)]
    return float(-np.log(np.maximum(p, FLOOR)).sum())


def choose(table: Table, size: int, seed: int) -> str:
    """The one of FIVE that was least surprised by the labels of training rows held out."""
    order = np.random.default_rng(seed).permutation(len(table.y))
    train, rest = order[:size], order[size:]
    total = dict.fromkeys(FIVE, 0.0)
    for fold in np.array_split(train, FOLDS):
        others = np.setdiff1d(train, fold)
        for method in METHODS.values():
            guesses = ask(table, method, others, np.concatenate([fold, rest]), seed)
            for name in set(guesses) & set(FIVE):
                total[name] += surprise(guesses[name], table.y[fold])
    return min(FIVE, key=lambda name: total[name])


def measure(
    tables: Sequence[str],
    repeats: int,
    sizes: Sequence[int] = SIZES,
    methods: Sequence[str] = tuple(METHODS),
    cache: Path | None = None,
    n_rows: int | None = None,
    choices: int = 0,
) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Accuracies by table, method and number of training rows, one for each repeat.

    The first `choices` repeats also choose one of FIVE; this needs all methods.
    """
    known = json.loads(cache.read_text(encoding="utf-8")) if cache and cache.exists() else {}
    for name in tables:
        table, found = load(name, n_rows), known.setdefault(name, {})
        for method in methods:
            for size in sizes:
                done = found.setdefault(method, {}).setdefault(str(size), [])
                for seed in range(len(done), repeats):
                    done.append(repeat(table, method, size, seed))
                    if cache and seed % 10 == 9:
                        cache.write_text(json.dumps(known), encoding="utf-8")
        for size in sizes if choices else ():
            done = found.setdefault("chosen", {}).setdefault(str(size), [])
            for seed in range(len(done), choices):
                one = choose(table, size, seed)
                right = {k: v for m in METHODS for k, v in found[m][str(size)][seed].items()}
                done.append({"chosen": right[one]})
            if cache:
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


def run(quick: bool = False) -> Section:
    """Everything, on what is there of the data."""
    names = TABLES[:1] if quick else TABLES
    present = [name for name in names if find(name)]
    notes = [lacking(absent)] if (absent := [n for n in names if n not in present]) else []
    if quick:
        return summary(measure(present, 2, (5, 20), n_rows=60, choices=1), notes)
    return summary(measure(present, 100, choices=30), notes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a part of it from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.few_labels", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, metavar="TABLE")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--cache", type=Path, help="keep results in this file")
    parser.add_argument("--choices", type=int, default=0, help="repeats that also choose a method")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE")
    o = parser.parse_args(arguments)
    done = measure(o.tables, o.repeats, o.sizes, o.methods, o.cache, choices=o.choices)
    section = summary(done)
    console = Console(width=140)
    show(section, console)
    summarise([section], console)
    if o.markdown:
        o.markdown.write_text(to_markdown([section]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
