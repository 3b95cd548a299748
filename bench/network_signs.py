"""Effects with signs: `effects="signed"` against "any", where effects are monotone and where not.

Four variables excite, four inhibit, and eight others depend on three of these each, drawn at
random: log odds of -1, and 2.2 more for each active exciter, 2.2 less for each active inhibitor. Or
the same graphs have tables from a symmetric Dirichlet .5, whose effects have no signs. Figures are
means over seeds of AUPR of ordered pairs; of the log density of 2,000 other rows, in nats a row
below the truth; and, of true edges, of the probability of the true sign, given that there is one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bench.networks import judge
from bench.report import Grid, Line, Section
from infinimix import BlockmodelBayesNet
from infinimix.evaluation.intervals import standard_error
from infinimix.networks import BayesNet

SOURCES, TARGETS, PARENTS, STRENGTH = 8, 8, 3, 2.2
ROWS = (25, 50, 100, 200)


def draw_world(seed: int, monotone: bool) -> BayesNet:
    """Return a network in which the first half of the sources excite, and the others inhibit."""
    rng = np.random.default_rng(seed)
    names = tuple(f"x{j}" for j in range(SOURCES + TARGETS))
    parents: list[tuple[int, ...]] = [() for _ in range(SOURCES)]
    tables = [np.array([0.5, 0.5]) for _ in range(SOURCES)]
    for _ in range(TARGETS):
        own = np.sort(rng.choice(SOURCES, PARENTS, replace=False))
        parents.append(tuple(int(i) for i in own))
        active = np.indices((2,) * PARENTS)
        signs = np.where(own < SOURCES // 2, 1.0, -1.0)
        p = 1.0 / (1.0 + np.exp(1.0 - STRENGTH * np.tensordot(signs, active, 1)))
        p = p if monotone else rng.beta(0.5, 0.5, p.shape)
        tables.append(np.stack([1.0 - p, p], axis=-1))
    return BayesNet(names, (("0", "1"),) * len(names), tuple(parents), tuple(tables))


def fit(X: Any, sweeps: int, effects: str) -> BlockmodelBayesNet:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BlockmodelBayesNet(
            effects=effects, max_parents=3, n_iter=sweeps, n_chains=2, random_state=0
        )
        return model.fit(X)


def true_sign(model: BlockmodelBayesNet, truth: BayesNet) -> float:
    """Return the mean probability of the true sign, over true edges."""
    edge, negative = model.edge_marginals_, model.negative_marginals_
    found = []
    for i, j in np.argwhere(truth.adjacency):
        if edge[i, j] > 0.0:
            minus = negative[i, j] / edge[i, j]
            found.append(1.0 - minus if i < SOURCES // 2 else minus)
    return float(np.mean(found))


def compare(seed: int, n: int, monotone: bool, sweeps: int) -> dict[str, tuple[float, ...]]:
    """Return AUPR and the nats a row below the truth of each model, and of signs."""
    truth = draw_world(seed, monotone)
    X, held = truth.sample(n, random_state=seed), truth.sample(2000, random_state=1000 + seed)
    best, out = float(np.mean(truth.log_probability(held))), {}
    for effects in ("any", "signed"):
        model = fit(X, sweeps, effects)
        right = true_sign(model, truth) if effects == "signed" else np.nan
        lost = best - float(np.mean(model.score_samples(held)))
        out[effects] = (judge(truth.adjacency, model.edge_marginals_)[1], lost, right)
    return out


def run(quick: bool = False) -> Section:
    seeds, sweeps, sizes = (range(1), 3, ROWS[:1]) if quick else (range(6), 400, ROWS)
    section = Section(f"Effects with signs, {SOURCES + TARGETS} variables, {len(seeds)} seeds")
    for monotone, title in ((True, "excitation and inhibition"), (False, "tables at random")):
        rows = []
        for n in sizes:
            every = [compare(seed, n, monotone, sweeps) for seed in seeds]
            any_, signed = (np.array([x[k] for x in every]) for k in ("any", "signed"))
            gain = signed - any_
            cells = [f"{x.mean():.3f}" for x in (any_[:, 0], signed[:, 0])]
            cells.append(_pm(gain[:, 0]))
            cells += [f"{x.mean():.3f}" for x in (any_[:, 1], signed[:, 1])]
            cells.append(_pm(gain[:, 1]))
            rows.append([str(n), *cells, f"{signed[:, 2].mean():.2f}" if monotone else ""])
            section.figures[f"{title}, {n}"] = {"any": any_.tolist(), "signed": signed.tolist()}
        head = ["rows", "AUPR, any", "signed", "difference", "nats lost, any", "signed",
                "difference", "true sign"]  # fmt: skip
        section.grids.append(Grid(f"Means over seeds: {title}", head, rows))
        for row in rows:
            section.lines.append(Line(f"AUPR gained, {row[0]} rows, {title}", row[3]))
    return section


def _pm(x: np.ndarray) -> str:
    return f"{x.mean():+.3f} ± {standard_error(x):.3f}"
