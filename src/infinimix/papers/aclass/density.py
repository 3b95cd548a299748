"""Figures 4 and 5: the number of groups found, and the divergence from the true density.

50 binary columns; 1 to 30 equally probable modes. The paper's filter reads the rows once, in their
order, with 1 or more particles; the baseline of figure 5 is one group, which is naive Bayes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from infinimix import CRPMixture
from infinimix.papers.aclass.worlds import BernoulliMixture
from infinimix.papers.experiment import (
    Comparison,
    Estimate,
    Outcome,
    Results,
    Size,
    Task,
    gather,
    values_of,
)

WIDTH = 50
PARTICLES = (1, 10, 40)
N_TEST = 1000
DEFAULT = "default"
ONE_GROUP = "one group"


def learn(form: str | int, rows: np.ndarray, seed: int) -> CRPMixture:
    """Return a mixture that has learned the rows: the paper's with so many particles, or ours."""
    if form == DEFAULT:
        return CRPMixture("binary", random_state=seed).fit(rows)
    one = {"max_groups": 1, "n_particles": 1}
    options = one if form == ONE_GROUP else {"n_particles": form}
    model = CRPMixture.as_published(columns="binary", random_state=seed, **options)
    return model.partial_fit(rows)


def _tasks(grid: dict[Size, Any], forms: tuple[Any, ...], size: Size) -> list[dict[str, Any]]:
    rows, modes, repeats = grid[size]
    return [
        {"form": form, "rows": n, "modes": k, "seed": seed}
        for seed in range(repeats) for n in rows for k in modes for form in forms
    ]  # fmt: skip


def run(task: Task) -> dict[str, Any]:
    """Return the expected number of groups, and the Monte Carlo estimate of KL(truth, model)."""
    rng = np.random.default_rng(task["seed"])
    truth = BernoulliMixture(task["modes"], WIDTH, rng)
    test, rows = truth.draw(N_TEST, rng), truth.draw(task["rows"], rng)
    model = learn(task["form"], rows, task["seed"])
    posterior = np.asarray(model.n_groups_posterior_)
    gap = truth.log_density(test) - model.score_samples(test)
    return {"groups": float(posterior @ np.arange(len(posterior))), "kl": float(gap.mean())}


# --- Figure 4 -----------------------------------------------------------------------------------

FIGURE_4: dict[Size, Any] = {  # rows, modes, repeats
    "tiny": ((50,), (1, 4), 1),
    "quick": ((50, 200), (1, 10, 20), 2),
    "full": ((50, 100, 200, 500, 1000), (1, 5, 10, 15, 20, 25, 30), 10),
}
tasks_4 = partial(_tasks, FIGURE_4, (*PARTICLES, DEFAULT))


def summarise_4(results: Results) -> Outcome:
    """Compare the numbers of groups with the true ones."""
    rows, modes, found = _read(results, "groups")
    best = PARTICLES[-1]
    lines = [
        Comparison(f"{n} rows, {k} modes", None, found(n, k, best), found(n, k, DEFAULT))
        for n in rows for k in modes
    ]  # fmt: skip
    most, few = max(rows), min(rows)
    error = {
        form: np.mean([abs(found(most, k, form).mean - k) for k in modes])
        for form in (best, DEFAULT)
    }
    under = found(few, max(modes), best).mean
    verdict = (
        f"The claim that the right number of groups is found: with {most} rows and {best} "
        f"particles as published, the number is off by {error[best]:.1f} on average (by default "
        f"{error[DEFAULT]:.1f}). The claim that few rows hide some of many groups: with {few} "
        f"rows, {under:.1f} of {max(modes)} are found."
    )

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
        for axes, n in zip(panels, rows, strict=True):
            axes.plot(modes, modes, color="0.8", label="truth")
            for form in (*PARTICLES, DEFAULT):
                means = [found(n, k, form).mean for k in modes]
                axes.plot(modes, means, marker=".", label=_label(form))
            axes.set(xlabel="true groups", title=f"{n} rows")
        panels[0].set_ylabel("groups found")
        panels[0].legend()

    return Outcome(lines, verdict, "groups found", _NOTES, draw)


# --- Figure 5 -----------------------------------------------------------------------------------

FIGURE_5: dict[Size, Any] = {
    "tiny": ((50,), (1, 4), 1),
    "quick": ((50, 200, 500), (1, 10, 30), 3),
    "full": ((50, 100, 200, 500, 1000), (1, 5, 10, 20, 30), 10),
}
tasks_5 = partial(_tasks, FIGURE_5, (ONE_GROUP, *PARTICLES, DEFAULT))


def summarise_5(results: Results) -> Outcome:
    """Compare divergences from the truth."""
    rows, modes, found = _read(results, "kl")
    best = PARTICLES[-1]
    lines = [
        Comparison(f"{n} rows, {k} modes", None, found(n, k, best), found(n, k, DEFAULT))
        for k in modes for n in rows
    ]  # fmt: skip
    n, k = max(rows), max(modes)
    one, many, alone, ours = (found(n, k, form).mean for form in (1, best, ONE_GROUP, DEFAULT))
    single = [found(n, 1, form).mean for form in (best, ONE_GROUP)] if 1 in modes else [0.0, 0.0]
    verdict = (
        f"With {k} modes and {n} rows the divergence is {alone:.2f} nats for one group, {one:.2f} "
        f"for 1 particle, {many:.2f} for {best} particles ({one / max(many, 1e-9):.1f} times as "
        f"accurate as 1; the paper says about twice) and {ours:.2f} by default. With a single mode "
        f"the filter and one group agree: {single[0]:.3f} and {single[1]:.3f}."
    )

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, len(modes), squeeze=False)[0]
        for axes, k in zip(panels, modes, strict=True):
            for form in (ONE_GROUP, *PARTICLES, DEFAULT):
                axes.plot(rows, [found(n, k, form).mean for n in rows], marker=".",
                          label=_label(form))  # fmt: skip
            axes.set(xlabel="training rows", title=f"{k} modes", xscale="log", yscale="log")
        panels[0].set_ylabel("KL divergence, nats")
        panels[0].legend()

    return Outcome(lines, verdict, "KL divergence from the truth, nats", _NOTES, draw)


_NOTES = [
    "'as published' has 40 particles; the figure shows 1 and 10 as well.",
    "The paper plots its figures and prints no numbers.",
]


def _read(results: Results, name: str) -> tuple[list[Any], list[Any], Callable[..., Estimate]]:
    """Return the numbers of rows and of modes, and what was found at each of them by a form."""

    def found(n: int, k: int, form: Any) -> Estimate:
        return gather(results, name, rows=n, modes=k, form=form)

    return values_of(results, "rows"), values_of(results, "modes"), found


def _label(form: Any) -> str:
    if form == DEFAULT:
        return "by default"
    return str(form) if isinstance(form, str) else f"{form} particle{'s' if form > 1 else ''}"
