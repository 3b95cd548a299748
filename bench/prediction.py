"""`predict_proba` of many rows, against scikit-learn's naive Bayes.

Most of it should be one matrix product over the distinct groups; a line says how much is.
"""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import BernoulliNB

from bench.report import Line, Section
from bench.synthetic import two_classes
from bench.timing import count, rate, ratio, take_turns, warm_up
from bench.training import model, train
from infinimix.inference.ensemble.bank import ROWS_AT_ONCE
from infinimix.papers.aclass.worlds import knock_out


def run(quick: bool = False) -> Section:
    n, rounds = (2000, 2) if quick else (20_000, 25)
    bits, y = two_classes(n)
    X = bits.astype(float)
    holes = knock_out(bits, 0.25, np.random.default_rng(1))
    ours, peer = train(model(), X, y), train(BernoulliNB(), X, y)
    slots = len(ours._bank.snapshot().log_mix)
    turns = {
        "ours, float": lambda: ours.predict_proba(X),
        "naive Bayes, float": lambda: peer.predict_proba(X),
        "ours, bool": lambda: ours.predict_proba(bits),
        "naive Bayes, bool": lambda: peer.predict_proba(bits),
        "ours, 25% missing": lambda: ours.predict_proba(holes),
        "product": _product(X, slots),
    }
    warm_up(turns)
    times = take_turns(turns, rounds)
    section = Section(f"Prediction, predict_proba of {n:,} rows x 100, {slots} groups (rows/s)")
    for kind in ("float", "bool"):
        a, b = times[f"ours, {kind}"], times[f"naive Bayes, {kind}"]
        faster = ratio(b, a)
        section.lines.append(
            Line(
                f"against BernoulliNB, {kind} cells",
                count(rate(n, a)),
                count(rate(n, b)),
                str(faster),
                ">= 1",
                faster.median >= 1,
                {"speed_ratio": faster._asdict()},
            )
        )
    complete, missing = times["ours, float"], times["ours, 25% missing"]
    slower = ratio(missing, complete)
    section.lines.append(
        Line(
            "25% missing (ours) takes times complete (peer)",
            count(rate(n, missing)),
            count(rate(n, complete)),
            str(slower),
            figures={"time_ratio": slower._asdict()},
        )
    )
    share = ratio(times["product"], complete)
    section.lines.append(
        Line(
            "share of the time that the matrix product alone takes",
            f"{np.min(complete):.4f} s",
            f"{np.min(times['product']):.4f} s",
            str(share),
            figures={"share": share._asdict()},
        )
    )
    section.figures = {"rows": n, "cpu_seconds": {k: t.tolist() for k, t in times.items()}}
    return section


def _product(X: np.ndarray, slots: int):
    """The product that prediction needs, in the same pieces, and nothing else."""
    table = np.random.default_rng(0).normal(size=(slots, X.shape[1]))

    def multiply() -> None:
        for i in range(0, len(X), ROWS_AT_ONCE):
            X[i : i + ROWS_AT_ONCE] @ table.T

    return multiply
