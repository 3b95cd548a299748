"""Islands, particles or sweeps? Quality by CPU time, on real tables and where the model is true.

`effort` stands on these figures. Real tables: log-loss over the folds of the first repeat. The
true mixture: 500 rows x 50 columns from 20 modes, nats a row lost on 5,000 fresh rows.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.realdata import find, load, splits
from bench.report import Grid, Line, Section
from infinimix import AClassClassifier, CRPMixture
from infinimix.estimators.common.effort import EFFORTS
from infinimix.evaluation.scores import align, log_losses, probability_of

TABLES = ("hepatitis", "house_votes_84", "credit_approval", "lymphography")
TRIALS = (  # islands, particles, sweeps
    (1, 1, 0), (4, 1, 0), (16, 1, 0), (64, 1, 0), (1, 20, 0), (4, 4, 0), (16, 4, 0), (8, 20, 0),
    (4, 1, 20), (16, 1, 5), (16, 4, 20),
)  # fmt: skip


def run(quick: bool = False) -> Section:
    section = Section("Effort: islands, particles and sweeps")
    named = {(e.n_islands, e.n_particles, e.sweeps): name for name, e in EFFORTS.items()}
    tables = [name for name in TABLES[: 1 if quick else None] if find(name)]
    if not tables:
        section.notes.append("no real tables at hand: only the true mixture")
    rows = []
    for trial in (TRIALS[1], TRIALS[-2]) if quick else TRIALS:
        options = dict(zip(("n_islands", "n_particles", "sweeps"), trial, strict=True))
        cells = [_on_table(name, options) for name in tables]
        cells.append(_on_truth(options, *((1, 20) if quick else (5, 500))))
        section.figures[str(trial)] = cells
        if trial in named:
            lost, seconds = cells[-1]
            ours = f"{lost:.3f} nats in {seconds:.2f} s"
            section.lines.append(Line(f'effort="{named[trial]}", true mixture', ours))
        head = [*map(str, trial), named.get(trial, "")]
        rows.append([*head, *(f"{loss:.3f} ({seconds:.2f} s)" for loss, seconds in cells)])
    headings = ["islands", "particles", "sweeps", "effort", *tables, "true mixture"]
    section.grids.append(Grid("Log-loss, or nats lost (CPU seconds of a fit)", headings, rows))
    return section


def _on_table(name: str, options: dict[str, Any]) -> tuple[float, float]:
    """Mean log-loss over the folds, and CPU seconds to fit one."""
    table, losses, seconds = load(name), [], []
    for train, parts in splits(table, seed=0):
        model, rows = AClassClassifier(random_state=0, **options), np.concatenate(parts)
        start = time.process_time()
        model.fit(table.frame.iloc[train], table.y[train])
        seconds.append(time.process_time() - start)
        proba = align(model.predict_proba(table.frame.iloc[rows]), model.classes_, table.classes)
        codes = np.searchsorted(table.classes, table.y[rows])
        losses.append(log_losses(probability_of(codes, proba)))
    return float(np.concatenate(losses).mean()), float(np.median(seconds))


def _on_truth(options: dict[str, Any], seeds: int, n: int) -> tuple[float, float]:
    """Nats a row that the model loses against the truth, and CPU seconds to fit it."""
    lost, seconds = [], []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        p = rng.beta(0.5, 0.5, size=(20, 50))
        X, fresh = (rng.random((m, 50)) < p[rng.integers(20, size=m)] for m in (n, 10 * n))
        with np.errstate(divide="ignore"):
            logs = fresh @ np.log(p).T + ~fresh @ np.log1p(-p).T
        truth = np.logaddexp.reduce(logs, axis=1) - np.log(20)
        model, start = (
            CRPMixture(columns="binary", random_state=seed, **options),
            time.process_time(),
        )
        model.fit(X)
        seconds.append(time.process_time() - start)
        lost.append(float((truth - model.score_samples(fresh)).mean()))
    return float(np.mean(lost)), float(np.median(seconds))
