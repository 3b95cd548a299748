"""Several networks at once: three layered nets of eight or nine variables with one template.

Layers are full between neighbours, tables from a symmetric Dirichlet .5, 60 rows each. Figures are
means over the networks, then over seeds, of AUROC and average precision (AUPR) of ordered pairs;
"third" is the last network alone, given the roles of the first two, or with them.
"""

from __future__ import annotations

import warnings

import numpy as np

from bench.networks import judge, learn
from bench.report import Grid, Line, Section
from infinimix.evaluation.intervals import standard_error
from infinimix.networks import NetworkFranchise, sample_network

SIZES = ((3, 3, 3), (3, 3, 2), (2, 3, 3))
ROWS = 60
ALONE = {"global": "global", "network": "partition"}  # of one network the same


def learn_all(tables: list[np.ndarray], sweeps: int, **options: object) -> NetworkFranchise:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NetworkFranchise(n_iter=sweeps, n_chains=2, random_state=0, **options)  # type: ignore[arg-type]
        return model.fit(tables)


def ways(tables: list[np.ndarray], sweeps: int) -> dict[str, list[np.ndarray]]:
    """Edge probabilities of each network, by how they were learned."""
    found = {}
    for normalise, alone in ALONE.items():
        options = {"normalise": alone, "n_chains": 2}
        found[f"apart, {alone}"] = [learn(X, sweeps, **options)[0] for X in tables]
        for sharing in ("common", "franchise"):
            model = learn_all(tables, sweeps, sharing=sharing, normalise=normalise)
            found[f"{sharing}, {normalise}"] = list(model.edge_marginals_.values())
        shared = learn_all(tables[:-1], sweeps, normalise=normalise).share_roles()
        last = learn(tables[-1], sweeps, shared_roles=shared, **options)[0]
        found[f"given two, {alone}"] = [last]
    return found


def run(quick: bool = False) -> Section:
    seeds, sweeps = (range(1), 3) if quick else (range(5), 600)
    section = Section(f"Three networks that share roles, {ROWS} rows each, {len(seeds)} seeds")
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in seeds:
        nets = [sample_network(c, random_state=100 * seed + g) for g, c in enumerate(SIZES)]
        tables = [net.sample(ROWS, random_state=1000 + seed) for net in nets]
        for name, marginals in ways(tables, sweeps).items():
            last = nets[-len(marginals) :]
            each = [judge(n.adjacency, P) for n, P in zip(last, marginals, strict=True)]
            found.setdefault(name, []).append((*np.mean(each, axis=0), *each[-1]))
    rows = []
    for name, figures in found.items():
        cells = [f"{x.mean():.3f} ± {standard_error(x):.3f}" for x in np.array(figures).T]
        rows.append([name, *(["", ""] if name.startswith("given") else cells[:2]), *cells[2:]])
    headings = ["how", "AUROC", "AUPR", "third, AUROC", "third, AUPR"]
    section.grids.append(Grid("Mean ± standard error over seeds", headings, rows))
    for normalise, alone in ALONE.items():
        gain = np.array(found[f"franchise, {normalise}"]) - np.array(found[f"apart, {alone}"])
        text = f"{gain[:, 1].mean():+.3f} ± {standard_error(gain[:, 1]):.3f}"
        section.lines.append(Line(f"AUPR gained by learning together, {normalise}", text))
    section.figures[str(ROWS)] = found
    return section
