"""What priors on networks are worth as rows come in, on the worlds of the thesis.

Diseases and symptoms with noisy-or tables (QMR-like), regulators that act on genes and on each
other, a sparse network without roles, and the layered net. For each prior and number of rows: AUPR
of edges, KL of the posterior predictive from the truth (nats a row, on 5,000 fresh rows), and AUROC
of the probability that two variables share a role. Roles are learned before edges where it is
high while AUPR is still low.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from bench.report import Grid, Line, Section
from infinimix import BlockmodelBayesNet
from infinimix.evaluation.intervals import standard_error
from infinimix.networks import sample_network
from infinimix.networks.interchange.network import BayesNet

Maker = Callable[[int], tuple[BayesNet, np.ndarray]]
ROWS = (20, 40, 80, 160, 320)
PRIORS = {
    "uniform": {"prior": "uniform"},
    "sparse": {"prior": "sparse"},
    "block": {},
    "ordered": {"prior": "ordered"},
}


def _world(classes: tuple[int, ...], template: object = None, tables: str = "dirichlet") -> Maker:
    roles = np.repeat(np.arange(len(classes)), classes)
    return lambda seed: (sample_network(classes, template, tables=tables, random_state=seed), roles)


WORLDS: dict[str, Maker] = {
    "layers": _world((4, 4, 4)),
    "QMR-like": _world((5, 10), [[0, 0.5], [0, 0]], "noisy-or"),
    "regulators": _world((4, 10), [[0.2, 0.5], [0, 0]]),
    "sparse, no roles": _world((12,), [[0.1]]),
}


def judge(net: BayesNet, roles: np.ndarray, model: BlockmodelBayesNet) -> tuple[float, ...]:
    """AUPR of edges, KL, AUROC of shared roles (NaN where all share one), largest gap."""
    off = ~np.eye(len(roles), dtype=bool)
    same = roles[:, None] == roles[None, :]
    edges = average_precision_score(net.adjacency[off], model.edge_marginals_[off])
    together = np.nan
    if not same.all():
        together = roc_auc_score(same[off], model.co_class_marginals_[off])
    kl = model.kl_from(net, n=5_000, random_state=0)
    return float(edges), float(kl), float(together), float(model.edge_gap_.max())


def measure(world: str, n: int, prior: str, seeds: range, sweeps: int) -> np.ndarray:
    """One line of `judge` a seed."""
    out = []
    for seed in seeds:
        net, roles = WORLDS[world](seed)
        X = net.sample(n, random_state=1000 + seed)
        model = BlockmodelBayesNet(n_iter=sweeps, n_chains=2, random_state=0, **PRIORS[prior])  # type: ignore[arg-type]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        out.append(judge(net, roles, model))
    return np.array(out)


def rows_needed(rows: tuple[int, ...], kl: list[float], target: float) -> str:
    """Where the curve of KL over rows comes down to a target, by straight lines between logs."""
    for k, value in enumerate(kl):
        if value <= target:
            if k == 0:
                return f"<= {rows[0]}"
            share = (np.log(kl[k - 1]) - np.log(target)) / (np.log(kl[k - 1]) - np.log(value))
            return f"{np.exp(np.log(rows[k - 1]) + share * np.log(rows[k] / rows[k - 1])):.0f}"
    return f"> {rows[-1]}"


def run(quick: bool = False) -> Section:
    seeds, sweeps = (range(2), 10) if quick else (range(10), 300)
    rows = ROWS[:2] if quick else ROWS
    section = Section(f"Networks: priors and rows, {len(seeds)} seeds")
    cells, needed = [], []
    for world in list(WORLDS)[:1] if quick else WORLDS:
        curves: dict[str, list[float]] = {prior: [] for prior in PRIORS}
        for n in rows:
            found = {prior: measure(world, n, prior, seeds, sweeps) for prior in PRIORS}
            section.figures[f"{world}, {n}"] = {k: v.tolist() for k, v in found.items()}
            for prior, figures in found.items():
                curves[prior].append(float(figures[:, 1].mean()))
            cells += [_row(world, n, prior, figures) for prior, figures in found.items()]
            section.lines += [_line(world, n, p, found) for p in ("block", "ordered")]
        target = curves["uniform"][-1]
        needed.append(
            [world, f"{target:.2f}", *(rows_needed(rows, c, target) for c in curves.values())]
        )
    headings = ["world, rows", "prior", "AUPR", "KL", "shared roles, AUROC", "largest gap"]
    section.grids.append(Grid("Mean ± standard error over seeds", headings, cells))
    headings = ["world", "KL", *PRIORS]
    section.grids.append(Grid("Rows for the KL that uniform ends with", headings, needed))
    return section


def _row(world: str, n: int, prior: str, figures: np.ndarray) -> list[str]:
    edges, kl, together, gap = figures.T
    roles = "" if np.isnan(together).any() else _spread(together)
    return [f"{world}, {n}", prior, _spread(edges), _spread(kl), roles, f"{gap.max():.2f}"]


def _line(world: str, n: int, prior: str, found: dict[str, np.ndarray]) -> Line:
    gap = found[prior][:, 1] - found["uniform"][:, 1]
    error = standard_error(gap)
    return Line(
        f"{world}, {n} rows: KL of {prior} less uniform",
        f"{gap.mean():+.3f}",
        ratio=f"standard error {error:.3f}",
        bar="<= 2 s.e.",
        meets=bool(gap.mean() <= 2 * error),
    )


def _spread(x: np.ndarray) -> str:
    return f"{x.mean():.2f} ± {standard_error(x):.2f}"
