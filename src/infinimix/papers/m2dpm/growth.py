"""Table 2: the number of clusters found in the first n0 rows, at one set of hyper-parameters.

The paper prints neither its hyper-parameters nor its Dirichlet process. Here alpha = 1, and
clusters are those of Setting I without a bound on their number. A row opens a cluster when it is
farther than lam / s from all means: lam = 13 and s = 1 are above what is usual within a cluster (a
squared distance of 2.5 on average, of 10 at most among thousands) and about that of a row from a
neighbour's mean (12.5 on average); c = .1. They were chosen on worlds 0 and 1, which are not among
those that are counted. By default lam and s are found anew for each n0, as "auto" does.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from infinimix import MaxMarginDPMeans
from infinimix.papers.experiment import (
    Comparison,
    Outcome,
    Results,
    Size,
    Task,
    gather,
    values_of,
)
from infinimix.papers.m2dpm.worlds import endless

PAPER = {  # n0 -> true clusters, found, seconds
    100: (8, 8, 0.03),
    300: (9, 8, 0.07),
    1000: (11, 11, 0.54),
    3000: (13, 12, 0.91),
    10000: (14, 14, 5.45),
}
WEIGHTS = {"lam": 13.0, "s": 1.0, "c": 0.1}
FIRST = 100  # seed of the first world
SIZES: dict[Size, Any] = {  # rows in all, sizes, worlds
    "tiny": (300, (100, 300), 1),
    "quick": (3_000, (100, 300, 1_000, 3_000), 3),
    "full": (10_000, tuple(PAPER), 20),
}
FORMS = {
    "published": MaxMarginDPMeans.as_published(**WEIGHTS, random_state=0),
    "default": MaxMarginDPMeans(random_state=0),
}


def tasks(size: Size) -> list[dict[str, Any]]:
    """Return one task for each world and number of rows."""
    total, sizes, worlds = SIZES[size]
    seeds = range(FIRST, FIRST + worlds)
    return [{"rows": n, "of": total, "seed": seed} for seed in seeds for n in sizes]


def run(task: Task) -> dict[str, Any]:
    """Return the clusters there are and those found, and the time."""
    X, y, z, _ = endless(task["of"], task["seed"])
    n = task["rows"]
    found: dict[str, Any] = {"true": len(np.unique(z[:n]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clusters of one class
        for form, model in FORMS.items():
            clone(model).fit(X[:50], y[:50])  # loads what the first fit needs
            start = time.process_time()
            found[form] = clone(model).fit(X[:n], y[:n]).n_clusters_
            found[f"{form} seconds"] = time.process_time() - start
    return found


def summarise(results: Results) -> Outcome:
    """Compare numbers of clusters and times, by n0."""
    lines, sizes = [], values_of(results, "rows")
    for n in sizes:
        true, found, _ = PAPER[n]
        lines.append(
            Comparison(f"{n:,} rows: clusters there are", true, gather(results, "true", rows=n))
        )
        ours = {form: gather(results, form, rows=n) for form in FORMS}
        lines.append(Comparison(f"{n:,} rows: clusters found", found, **ours))
    for n in sizes:
        ours = {form: gather(results, f"{form} seconds", rows=n) for form in FORMS}
        lines.append(Comparison(f"{n:,} rows: seconds", PAPER[n][2], **ours))

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        for name, mark in (("true", "k-"), ("published", "o--"), ("default", "s-")):
            means = [gather(results, name, rows=n).mean for n in sizes]
            axes.plot(sizes, means, mark, label={"true": "there are"}.get(name, name))
        axes.plot(sizes, [PAPER[n][1] for n in sizes], "x:", label="found in the paper")
        axes.set(xscale="log", xlabel="rows", ylabel="clusters")
        axes.legend()

    return Outcome(lines, _verdict(results, sizes), "clusters, CPU seconds", draw=draw)


def _verdict(results: Results, sizes: list[int]) -> str:
    far = {
        form: np.mean([abs(result[form] - result["true"]) for _, result in results])
        for form in FORMS
    }
    few, many = sizes[0], sizes[-1]
    growth = {
        form: gather(results, f"{form} seconds", rows=many).mean
        / max(gather(results, f"{form} seconds", rows=few).mean, 1e-9)
        for form in FORMS
    }
    return (
        f"The claim that K adapts to the rows at fixed hyper-parameters: the number found differs "
        f"from the true one by {far['published']:.1f} clusters on average as published and by "
        f"{far['default']:.1f} by default (the paper's: 0.4). The claim of nearly linear time: "
        f"from {few:,} to {many:,} rows ({many / few:.0f} times as many) the time grows "
        f"{growth['published']:.0f} and {growth['default']:.0f} times."
    )
