"""Real tables of mixed columns and holes: accuracy, log-loss, calibration, time.

`python -m bench tables`, or in parts:

    python -m bench.tables --tables zoo autos --models infinimix --cache peers.json

Five stratified folds, two repeats, one of large tables; the official split where there is one, its
test rows in five parts. Every table once as it is, and once with 30% of the cells knocked out at
random in training and test rows. Folds and holes depend on the repeat alone, so what is in the
cache stays paired with what is measured anew; infinimix is never taken from the cache.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from bench import kept
from bench.measures import tempered
from bench.realdata import Table, find, knock_out, lacking, load, splits
from bench.report import Grid, Line, Section, show, summarise, to_markdown
from bench.table_peers import MODELS
from infinimix.evaluation.calibration import calibration_error
from infinimix.evaluation.intervals import standard_error
from infinimix.evaluation.scores import align, log_losses, probability_of

SMALL = [
    *("zoo", "lymphography", "hepatitis", "house_votes_84", "horse_colic", "credit_approval"),
    *("dermatology", "autos", "vehicle", "cylinder_bands", "annealing", "vowel", "audiology"),
    *("primary_tumor", "segment"),
]
LARGE = ["hypothyroid", "waveform", "mushroom", "pendigits", "adult"]  # one repeat of minutes
TABLES = [*SMALL, *LARGE]
SHARES = (0.0, 0.3)
REPEATS = 2
OURS = ("infinimix, chosen", "infinimix")  # the first that is there is compared
SLOW = ("infinimix, chosen", "CatBoost")  # hours on all tables: only if they are asked for
USUAL = tuple(model for model in MODELS if model not in SLOW)

Results = dict[str, dict[str, Any]]  # by model; `folds` holds one dict of measures a fold


def evaluate(table: Table, model: str, share: float, repeat: int) -> dict[str, Any]:
    """Measure one model on one table in one repeat."""
    frame, classes = knock_out(table.frame, share, seed=repeat), table.classes
    folds, answers = [], []
    for train, parts in splits(table, seed=repeat):
        rows = np.concatenate(parts)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rare classes, slow convergence
            answer = MODELS[model](frame.iloc[train], table.y[train], frame.iloc[rows])
        seconds = time.process_time() - start
        proba, code = align(*answer, classes), np.searchsorted(classes, table.y[rows])
        ends = np.cumsum([len(part) for part in parts])[:-1]
        for p, c in zip(np.split(proba, ends), np.split(code, ends), strict=True):
            folds.append(_measure(p, c) | {"seconds": seconds})
        answers.append((proba, code))
    temperature, cooled = tempered(*map(np.concatenate, zip(*answers, strict=True)))
    return {"folds": folds, "temperature": [temperature], "tempered_log_loss": [cooled]}


def _join(repeats: list[dict[str, Any]]) -> dict[str, Any]:
    """Lists one after the other."""
    return {key: [x for one in repeats for x in one[key]] for key in repeats[0]}


def _measure(proba: np.ndarray, code: np.ndarray) -> dict[str, float]:
    return {
        "accuracy": float(np.mean(proba.argmax(axis=1) == code)),
        "log_loss": float(log_losses(probability_of(code, proba)).mean()),
        "ece": calibration_error(proba.max(axis=1), proba.argmax(axis=1) == code),
    }


def measure(
    tables: Sequence[str] = TABLES,
    models: Sequence[str] = USUAL,
    shares: Sequence[float] = SHARES,
    repeats: int | None = None,
    n_rows: int | None = None,
    cache: Path | None = None,
    skip: int = 0,
) -> dict[str, Results]:
    """Measure models on tables; the keys are like "zoo" and "zoo, 30% knocked out".

    The first `skip` repeats are left out: a second repeat can be run by itself.
    """
    known = kept.read(cache)
    results: dict[str, Results] = {}
    for name in tables:
        table, times = load(name, n_rows), repeats or (1 if name in LARGE else REPEATS)
        for share in shares:
            for model in set(OURS) & set(models):  # load the kernels
                some = knock_out(table.frame, share, seed=0)[:200]
                MODELS[model](some, table.y[: len(some)], some)
            key = name + (f", {share:.0%} knocked out" if share else "")
            own = known.setdefault(f"{key}, {len(table.y)} rows", {})
            for model in models:
                done = own.setdefault(model, {})
                for repeat in range(skip, times):
                    if model in OURS or str(repeat) not in done:
                        done[str(repeat)] = evaluate(table, model, share, repeat)
            results[key] = {m: _join([own[m][str(r)] for r in range(skip, times)]) for m in models}
            kept.write(cache, known)
    return results


def values(result: dict[str, Any], measure: str) -> np.ndarray:
    """One measure over the folds."""
    return np.array([fold[measure] for fold in result["folds"]])


def ours(results: Results) -> str | None:
    """Which of our models is compared with the peers."""
    return next((model for model in OURS if model in results), None)


def compare(results: Results, own: str | None = None) -> tuple[str, float, float]:
    """The best peer in log-loss, our loss minus its, and the standard error of that."""
    loss = {model: values(result, "log_loss") for model, result in results.items()}
    peer = min((model for model in loss if model not in OURS), key=lambda m: loss[m].mean())
    difference = loss[own or ours(results) or OURS[-1]] - loss[peer]
    return peer, float(difference.mean()), standard_error(difference)


def summary(results: dict[str, Results], notes: Sequence[str] = ()) -> Section:
    """A line with a bar for each table, and a grid for each measure."""
    section = Section("Real tables, log-loss in nats (mean ± standard error over folds)")
    section.notes += notes
    section.figures = results
    for key, by_model in results.items():
        if ours(by_model) and set(by_model) - set(OURS):
            section.lines.append(_line(key, by_model))
    met = sum(bool(line.meets) for line in section.lines)
    section.notes.append(f"best or within one standard error: {met} of {len(section.lines)}")
    pairs = [compare(found, "infinimix") for found in results.values() if _paired(found)]
    near = sum(difference <= error for _, difference, error in pairs)
    section.notes.append(f"the same with defaults: {near} of {len(pairs)}")
    for measure, digits in (("log_loss", 3), ("accuracy", 3), ("ece", 3), ("seconds", 2)):
        section.grids.append(_grid(results, measure, digits))
    section.grids.append(_diagnosis(results))
    return section


def _paired(results: Results) -> bool:
    return "infinimix" in results and bool(set(results) - set(OURS))


def _line(key: str, results: Results) -> Line:
    peer, difference, error = compare(results)
    return Line(
        key,
        _mean(values(results[ours(results) or ""], "log_loss"), 3),
        f"{_mean(values(results[peer], 'log_loss'), 3)} {peer}",
        f"{difference:+.3f} ± {error:.3f}",
        "<= 1 s.e.",
        bool(difference <= error),
    )


def _grid(results: dict[str, Results], measure: str, digits: int) -> Grid:
    models = _models(results)
    rows = []
    for key, by_model in results.items():
        found = {m: values(r, measure) for m, r in by_model.items()}
        best = (max if measure == "accuracy" else min)(x.mean() for x in found.values())
        cells = [_mean(found[m], digits, best) if m in found else "" for m in models]
        rows.append([key, *cells])
    title = {"log_loss": "Log-loss", "ece": "Expected calibration error", "accuracy": "Accuracy"}
    return Grid(title.get(measure, "CPU seconds to fit and predict"), ["table", *models], rows)


def _diagnosis(results: dict[str, Results]) -> Grid:
    models = _models(results)
    rows = []
    for key, by_model in results.items():
        cells = []
        for m in models:
            cells.append(_saving(by_model[m]) if m in by_model else "")
        rows.append([key, *cells])
    title = "One temperature fitted on the test rows (diagnosis only; above 1: overconfident)"
    return Grid(title, ["table", *models], rows)


def _saving(result: dict[str, Any]) -> str:
    saved = values(result, "log_loss").mean() - np.mean(result["tempered_log_loss"])
    return f"{np.mean(result['temperature']):.2f} saves {saved:.3f}"


def _models(results: dict[str, Results]) -> list[str]:
    return [m for m in MODELS if any(m in by_model for by_model in results.values())]


def _mean(x: np.ndarray, digits: int, best: float | None = None) -> str:
    text = f"{x.mean():.{digits}f} ± {standard_error(x):.{digits}f}"
    return f"**{text}**" if best is not None and x.mean() == best else text


def run(quick: bool = False) -> Section:
    """Everything, on what is there of the data."""
    names = ["zoo"] if quick else TABLES
    present = [name for name in names if find(name)]
    notes = [lacking(absent)] if (absent := [n for n in names if n not in present]) else []
    if set(present) & set(LARGE):
        notes.append(f"one repeat only, because of their size: {', '.join(LARGE)}")
    sizes = {"repeats": 1, "n_rows": 100} if quick else {}
    return summary(measure(present, cache=kept.place(), **sizes), notes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a part of it from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.tables", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES, choices=TABLES, metavar="TABLE")
    parser.add_argument("--models", nargs="+", default=USUAL, choices=list(MODELS))
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--repeats", type=int, help="2, for large tables 1, by default")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of the repeats")
    parser.add_argument("--cache", type=Path, help="keep the peers' results in this file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE")
    o = parser.parse_args(arguments)
    results = measure(o.tables, o.models, o.shares, o.repeats, cache=o.cache, skip=o.skip)
    section, console = summary(results), Console(width=160)
    show(section, console)
    summarise([section], console)
    if o.json:
        o.json.write_text(json.dumps(section.to_json(), indent=1) + "\n", encoding="utf-8")
    if o.markdown:
        o.markdown.write_text(to_markdown([section]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
