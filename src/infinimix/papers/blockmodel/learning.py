"""Figures 2-2 to 2-6: what each prior makes of rows from a known network.

As published: single-site moves from ten starts, one constant for all partitions, and the 100 best
states by their scores. By default: `BlockmodelBayesNet(prior=...)`. The one-class prior, which the
thesis asks for in its discussion, stands beside the three that it compares.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from infinimix import BlockmodelBayesNet
from infinimix.papers.blockmodel.worlds import WORLDS, World
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

PRIORS = ("uniform", "blockmodel", "ordered")
BASELINE = "sparse"  # one class: the density alone is learned
FORMS = ("published", "default")
MEASURES = {"aupr": "AUPR of edges", "kl": "KL, nats", "roles": "AUROC of roles"}


def learn(task: Task, X: np.ndarray) -> BlockmodelBayesNet:
    """Return a model of the rows."""
    options = {"prior": task["prior"], "columns": "categorical", "random_state": task["seed"]}
    short = {} if task["sweeps"] is None else {"n_iter": task["sweeps"]}
    if task["form"] == "published":
        model = BlockmodelBayesNet.as_published(**options, **short)
    else:
        model = BlockmodelBayesNet(**options, **short)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains that disagree: the gap is among the figures
        return model.fit(X)


def run(world: str, task: Task) -> dict[str, Any]:
    """Return how well edges, roles and the distribution are found; matrices for the first seed."""
    truth = WORLDS[world](task["seed"])
    X = truth.net.sample(task["rows"], random_state=1000 + task["seed"])
    model = learn(task, X)
    figures = judge(truth, model, task["fresh"], task["seed"])
    return figures | _matrices(model, task["seed"] == 0)


def judge(truth: World, model: BlockmodelBayesNet, n: int, seed: int) -> dict[str, Any]:
    """Return AUPR and AUROC of edges, KL from n rows of the truth, AUROC of roles, and the gap."""
    off = ~np.eye(len(truth.roles), dtype=bool)
    edges, found = truth.net.adjacency[off], model.edge_marginals_[off]
    same = (truth.roles[:, None] == truth.roles)[off]
    roles = roc_auc_score(same, model.co_class_marginals_[off]) if not same.all() else 1.0
    return {
        "aupr": float(average_precision_score(edges, found)),
        "auroc": float(roc_auc_score(edges, found)),
        "kl": model.kl_from(truth.net, n=n, random_state=seed),
        "roles": float(roles),
        "together": float(model.co_class_marginals_[off].mean()),
        "gap": float(model.edge_gap_.max()),
    }


def _matrices(model: BlockmodelBayesNet, wanted: bool) -> dict[str, Any]:
    if not wanted:
        return {}
    return {
        "edge matrix": np.round(model.edge_marginals_, 3).tolist(),
        "role matrix": np.round(model.co_class_marginals_, 3).tolist(),
    }


# --- What is run --------------------------------------------------------------------------------

SIZES: dict[Size, dict[str, Any]] = {
    "tiny": {"rows": (30,), "seeds": 1, "sweeps": 5, "fresh": 50},
    "quick": {"rows": (20, 80, 320), "seeds": 2, "sweeps": 300, "fresh": 1000},
    "full": {"rows": (20, 40, 80, 160, 320, 1000), "seeds": 10, "sweeps": None, "fresh": 5000},
}


def tasks(rows: tuple[int, ...] | None, most: int, size: Size) -> list[dict[str, Any]]:
    """Return the tasks of a world; `rows` are those of the thesis, or None for a curve.

    The quick form has at most so many data sets.
    """
    grid = SIZES[size]
    seeds = grid["seeds"] if size == "full" else min(grid["seeds"], most)
    return [
        {"rows": n, "prior": prior, "form": form, "seed": seed,
         "sweeps": grid["sweeps"], "fresh": grid["fresh"]}
        for seed in range(seeds) for n in (rows or grid["rows"])
        for prior in (*PRIORS, BASELINE) for form in FORMS
    ]  # fmt: skip


def summarise(world: str, results: Results) -> Outcome:
    """Compare the priors by edges, roles and divergence."""
    rows = values_of(results, "rows")

    def found(value: str, n: int, prior: str, form: str) -> Estimate:
        return gather(results, value, rows=n, prior=prior, form=form)

    lines = [
        Comparison(f"{n} rows, {prior}: {name}", None, *(found(key, n, prior, f) for f in FORMS))
        for n in rows for prior in (*PRIORS, BASELINE)
        for key, name in MEASURES.items()
    ]  # fmt: skip
    return Outcome(
        lines, _verdict(world, rows, found),
        notes=["'sparse' is a single class, the baseline that the thesis asks for."],
        draw=partial(_draw, world, results),
    )  # fmt: skip


def _verdict(world: str, rows: list[int], found: Any) -> str:
    parts = []
    for form in FORMS:
        name = "As published" if form == "published" else "By default"
        better = {
            prior: sum(
                found("kl", n, prior, form).mean < found("kl", n, "uniform", form).mean
                for n in rows
            )
            for prior in ("blockmodel", "ordered", BASELINE)
        }
        n = rows[-1]
        edges = ", ".join(f"{p} {found('aupr', n, p, form).mean:.2f}" for p in (*PRIORS, BASELINE))
        parts.append(
            f"{name}, the divergence is below that of the uniform prior at "
            f"{better['blockmodel']} (blockmodel), {better['ordered']} (ordered) and "
            f"{better[BASELINE]} (one class) of {len(rows)} sizes; AUPR of edges with {n} rows: "
            f"{edges}."
        )
    first = rows[0]
    roles = ", ".join(
        f"{found('roles', n, 'blockmodel', 'published').mean:.2f} with {n} rows"
        for n in dict.fromkeys((first, rows[-1]))
    )
    single = found("together", rows[-1], "blockmodel", "published").mean
    last = (
        f"Two variables share a class with a mean probability of {single:.2f}, which is 1 if a "
        "single class is found."
        if world == "no roles"
        else f"AUROC of shared roles, blockmodel as published: {roles}."
    )
    return " ".join([*parts, last])


def _draw(world: str, results: Results, figure: Any) -> None:
    """Draw the truth, edges and roles under each prior, and the divergence over rows."""
    truth = WORLDS[world](0)
    rows = values_of(results, "rows")
    n = rows[-1]
    same = (truth.roles[:, None] == truth.roles).astype(float)
    panels = figure.subplots(2, len(PRIORS) + 2)
    for axes, matrix, title in zip(
        panels[:, 0], (truth.net.adjacency, same), ("true edges", "true roles"), strict=True
    ):
        _show(axes, matrix, title)
    for k, prior in enumerate(PRIORS):
        shown = next(
            r for t, r in results
            if (t["rows"], t["prior"], t["form"], t["seed"]) == (n, prior, "published", 0)
        )  # fmt: skip
        _show(panels[0, k + 1], shown["edge matrix"], f"{prior}: edges")
        _show(panels[1, k + 1], shown["role matrix"], "roles")
    for axes, form in zip(panels[:, -1], FORMS, strict=True):
        for prior in (*PRIORS, BASELINE):
            kl = [gather(results, "kl", rows=m, prior=prior, form=form).mean for m in rows]
            axes.plot(rows, kl, marker=".", label=prior)
        axes.set(title=f"KL, {form}", xlabel="rows", xscale="log", yscale="log")
        axes.set_xticks(rows, [str(m) for m in rows])
        axes.minorticks_off()
    panels[0, -1].legend(fontsize="small")
    figure.suptitle(f"{world}, {n} rows, as published")


def _show(axes: Any, matrix: Any, title: str) -> None:
    axes.imshow(np.asarray(matrix, float), cmap="gray_r", vmin=0, vmax=1)
    axes.set(title=title, xticks=[], yticks=[])
