"""Streams of text, prequential: error and log-loss of `OnlineCRPClassifier()` beside its peers.

All on equal rows, in the same order: counts, and unit-length log-idf for the peers (infinimix takes
the counts and weighs them itself). Log-losses are over the rows whose label was known before. The
probabilities of Vowpal Wabbit are those of `--probabilities` with logistic loss; its error is the
least of hinge and logistic loss, on either kind of rows.

The defaults of infinimix were chosen with an eye on the seven corpora of TEXTS, in one order each;
those of UNSEEN, and the other orders of 20 Newsgroups, had no part in that.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.corpora import NEWS, TEXTS, UNSEEN, Corpus, known_before, load, unit_log_idf
from bench.realdata import find, lacking
from bench.report import Grid, Line, Section
from bench.text_peers import Outcome, has_wabbit, naive_bayes, passive_aggressive, wabbit
from infinimix import OnlineCRPClassifier

SEEDS = 5  # orders of 20 Newsgroups; of the others one
ERROR, LOSS = 0.15, 0.6  # bars of 20 Newsgroups


def infinimix(corpus: Corpus) -> Outcome:
    """Defaults, all rows in one call."""
    start = time.process_time()
    said = OnlineCRPClassifier().forecast(corpus.X, corpus.y)
    predicted = np.array([-1 if z is None else z for z in said.predicted.tolist()])
    return Outcome(predicted, said.proba_true, time.process_time() - start)


def contest(corpus: Corpus) -> dict[str, Outcome]:
    """All contestants on one corpus."""
    weighted, y = unit_log_idf(corpus.X), corpus.y
    found = {"infinimix": infinimix(corpus)}
    for kind, X in (("counts", corpus.X), ("log-idf", weighted)):
        if has_wabbit():
            found[f"wabbit hinge, {kind}"] = wabbit(X, y, "hinge")
            found[f"wabbit logistic, {kind}"] = wabbit(X, y, "logistic")
        found[f"passive-aggressive, {kind}"] = passive_aggressive(X, y)
        found[f"naive Bayes, {kind}"] = naive_bayes(X, y)
    return found


def figures(corpus: Corpus) -> dict[str, dict[str, float]]:
    """Error, log-loss and documents a second of all contestants."""
    known = known_before(corpus.y)
    return {
        name: {
            "error": outcome.error(corpus.y),
            "log_loss": outcome.log_loss(known),
            "rate": len(corpus.y) / max(outcome.seconds, 1e-9),
        }
        for name, outcome in contest(corpus).items()
    }


def run(quick: bool = False) -> Section:
    section = Section("Streams of text, prequential")
    absent = [name for name in (*TEXTS, *UNSEEN) if find(name) is None]
    if absent:
        section.notes.append(lacking(absent))
    if not has_wabbit():
        section.notes.append("Vowpal Wabbit is not installed: pip install 'infinimix[bench]'")
    figures(_tiny())  # load the kernels
    for name in (*TEXTS, *UNSEEN):
        if name not in absent:
            _compare(section, name, quick)
    if quick:
        section.lines.append(Line("a tiny corpus", "ran"))
    return section


def _tiny() -> Corpus:
    import scipy.sparse as sp

    X = sp.random(30, 20, 0.2, format="csr", random_state=0)
    return Corpus("tiny", X, np.arange(30) % 3)


def _compare(section: Section, name: str, quick: bool) -> None:
    seeds = SEEDS if name == NEWS and not quick else 1
    runs = [figures(load(name, seed, 300 if quick else None)) for seed in range(seeds)]
    mean = {
        who: {what: float(np.mean([run[who][what] for run in runs])) for what in runs[0][who]}
        for who in runs[0]
    }
    section.figures[name] = {"seeds": runs, "mean": mean}
    ours = mean["infinimix"]
    wabbits = [value for who, value in mean.items() if who.startswith("wabbit")]
    if wabbits:
        error = min(value["error"] for value in wabbits)
        loss = min(value["log_loss"] for value in wabbits if not np.isnan(value["log_loss"]))
        section.lines.append(_line(f"{name}: error", ours["error"], error))
        section.lines.append(_line(f"{name}: log-loss", ours["log_loss"], loss))
    if name == NEWS:
        for what, bar in (("error", ERROR), ("log_loss", LOSS)):
            worst = max(run["infinimix"][what] for run in runs)
            section.lines.append(
                Line(
                    f"{name}: worst {what} of {seeds} orders",
                    f"{worst:.4f}",
                    bar=f"<= {bar}",
                    meets=worst <= bar,
                )
            )
    headings = ["", "error", "log-loss", "documents/s"]
    rows = [[who, *_cells(value)] for who, value in mean.items()]
    section.grids.append(Grid(name, headings, rows))


def _line(what: str, ours: float, peer: float) -> Line:
    return Line(
        what, f"{ours:.4f}", f"{peer:.4f} Vowpal Wabbit", f"{ours - peer:+.4f}", "not above",
        bool(ours <= peer),
    )  # fmt: skip


def _cells(value: dict[str, Any]) -> list[str]:
    loss = value["log_loss"]
    return [
        f"{value['error']:.4f}",
        "" if np.isnan(loss) else f"{loss:.3f}",
        f"{value['rate']:,.0f}",
    ]
