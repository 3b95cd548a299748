"""Networks from files: HEPAR II with 21 and 70 nodes, and CPCS with 54 and 179.

    INFINIMIX_DATA=... python -m bench network_files

The data come from `INFINIMIX_DATA`. As in the thesis, the 21 nodes of HEPAR II are a network of
their own: with the edges among them, tables those of the whole network (from a million rows
of it), and rows are drawn from that. sumu gets two equivalent sample sizes.
CPCS has no bar: what it costs, and how far chains that start apart agree.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

import numpy as np

from bench import network_peers
from bench.networks import KINDS, ask, judge, learn, spread
from bench.report import Grid, Line, Section
from infinimix.networks import read_network
from infinimix.papers.blockmodel.worlds import HEPAR, marginal

ROWS, SEEDS = 1_000, range(5)
SWEEPS_21, SWEEPS_70, SWEEPS_CPCS = 300, 100, {"cpcs54": 200, "cpcs179": 20}
SIZES = (1, 10)  # equivalent sample sizes of sumu


def folder() -> Path:
    """Where the networks are."""
    return Path(os.environ.get("INFINIMIX_DATA", "/nowhere")) / "bayesian_networks"


def sumu(X: np.ndarray, seed: int, **options: int) -> tuple[np.ndarray, float, float]:
    """Edge probabilities of sumu, no gap, and CPU seconds."""
    return ask(lambda X, seed: network_peers.sumu(X, seed, **options), X, seed)


def small(section: Section, seeds: range, sweeps: int, rows: int) -> None:
    """HEPAR II, 21 nodes: all priors and all peers."""
    net = marginal(read_network(folder() / "hepar2.bif.gz"), HEPAR)
    peers = network_peers.available()
    has_sumu = peers.pop("sumu", None) is not None
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in seeds:
        X = net.sample(rows, random_state=seed)
        answers = {k: learn(X, sweeps, columns="categorical", **o) for k, o in KINDS.items()}
        if has_sumu:
            answers |= {f"sumu, BDeu {e}": sumu(X, seed, ess=e, steps=10_000) for e in SIZES}
        answers |= {name: ask(one, X, seed) for name, one in peers.items()}
        for name, (P, gap, seconds) in answers.items():
            found.setdefault(name, []).append((*judge(net.adjacency, P), gap, seconds))
    section.grids.append(_grid(f"HEPAR II, 21 nodes, {rows} rows", found))
    section.figures["hepar 21"] = found
    best = max((n for n in found if n not in KINDS), key=lambda n: _mean(found, n), default=None)
    if best:
        ours = max(KINDS, key=lambda name: _mean(found, name))
        less = np.array(found[ours])[:, 1] - np.array(found[best])[:, 1]
        error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else 0.0
        line = Line(
            f"HEPAR II, 21 nodes: AUPR of {ours}, less {best}",
            f"{_mean(found, ours):.3f}", f"{_mean(found, best):.3f}",
            f"{less.mean():+.3f} ± {error:.3f}", ">= -1 s.e.", bool(less.mean() >= -error),
        )  # fmt: skip
        section.lines.append(line)


def large(section: Section, seeds: range, sweeps: int, rows: int) -> None:
    """HEPAR II, 70 nodes: the sparse prior and sumu."""
    net = read_network(folder() / "hepar2.bif.gz")
    found: dict[str, list[tuple[float, ...]]] = {}
    for seed in seeds:
        X = net.sample(rows, random_state=seed)
        answers = {"sparse": learn(X, sweeps, columns="categorical", prior="sparse")}
        if "sumu" in network_peers.available():
            for e in SIZES:
                answers[f"sumu, BDeu {e}"] = sumu(X, seed, ess=e, steps=4_000, most=8)
        for name, (P, gap, seconds) in answers.items():
            found.setdefault(name, []).append((*judge(net.adjacency, P), gap, seconds))
    section.grids.append(_grid(f"HEPAR II, 70 nodes, {rows} rows, {sweeps} sweeps", found))
    section.figures["hepar 70"] = found
    aupr, seconds = _mean(found, "sparse"), float(np.array(found["sparse"])[:, 3].mean())
    bar, met = ">= .435 in 27 CPU s", bool(aupr >= 0.435 and seconds <= 27)
    ours = f"{aupr:.3f} in {seconds:.1f} CPU s"
    section.lines.append(Line("HEPAR II, 70 nodes: AUPR", ours, bar=bar, meets=met))


def cpcs(section: Section, name: str, sweeps: int, rows: int) -> None:
    """What a large network costs, and how far four chains agree."""
    net = read_network(folder() / f"{name}.json.gz")
    P, gap, seconds = learn(net.sample(rows, random_state=0), sweeps, columns="categorical",
                            prior="sparse")  # fmt: skip
    roc, pr = judge(net.adjacency, P)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    figures = [f"{roc:.3f}", f"{pr:.3f}", f"{gap:.2f}", f"{seconds:.0f}", f"{memory:.1f}"]
    headings = ["prior", "AUROC", "AUPR", "largest gap", "CPU s", "peak GB of the process"]
    title = f"{name}, {rows} rows, {sweeps} sweeps of four chains"
    section.grids.append(Grid(title, headings, [["sparse", *figures]]))


def run(quick: bool = False) -> Section:
    section = Section("Networks from files")
    if not folder().exists():
        section.notes.append("skipped: INFINIMIX_DATA has no bayesian_networks")
        return section
    if quick:
        small(section, range(1), 10, 100)
        return section
    small(section, SEEDS, SWEEPS_21, ROWS)
    large(section, SEEDS, SWEEPS_70, ROWS)
    for name, sweeps in SWEEPS_CPCS.items():
        cpcs(section, name, sweeps, ROWS)
    return section


def _mean(found: dict[str, list[tuple[float, ...]]], name: str) -> float:
    return float(np.array(found[name])[:, 1].mean())


def _grid(title: str, found: dict[str, list[tuple[float, ...]]]) -> Grid:
    rows = []
    for name, figures in found.items():
        roc, pr, gap, seconds = np.array(figures).T
        apart = "" if np.isnan(gap).any() else f"{gap.max():.2f}"
        rows.append([name, spread(roc), spread(pr), apart, f"{seconds.mean():.1f}"])
    return Grid(title, ["prior", "AUROC", "AUPR", "largest gap", "CPU s"], rows)
