"""How far four chains agree in networks of 27 to 70 variables, 1,000 rows.

    INFINIMIX_DATA=... python -m bench.network_mixing

Chains that start apart; gaps are differences of edge probabilities between chains. sumu, if it is
installed, has about the CPU time of ours.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from rich.console import Console

from bench import network_peers
from bench.network_files import folder, sumu
from bench.networks import judge
from bench.report import Grid, Line, Section, show
from infinimix import BlockmodelBayesNet
from infinimix.networks import read_network

SWEEPS = {"insurance": 1_000, "alarm": 1_000, "hepar2": 1_000}
BARS = {"insurance": 120, "alarm": 120, "hepar2": 300}  # CPU seconds
PRIORS = ("sparse", "blockmodel", "uniform")
STEPS = 20_000  # of sumu


def gaps(name: str, prior: str, seed: int, sweeps: int) -> tuple[float, ...]:
    """AUPR, the share of edges with a gap up to .1, the largest gap, and CPU seconds."""
    net = read_network(folder() / f"{name}.bif.gz")
    X = net.sample(1_000, random_state=seed)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BlockmodelBayesNet(
            prior=prior, columns="categorical", n_iter=sweeps, random_state=0
        ).fit(X)
    seconds = time.process_time() - start
    gap = model.edge_gap_[~np.eye(len(net.cards), dtype=bool)]
    aupr = judge(net.adjacency, model.edge_marginals_)[1]
    return aupr, float((gap <= 0.1).mean()), float(gap.max()), seconds


def run(quick: bool = False) -> Section:
    section = Section("Networks: how far chains agree")
    if not folder().exists():
        section.notes.append("skipped: INFINIMIX_DATA has no bayesian_networks")
        return section
    rows = []
    for name in ("insurance",) if quick else tuple(SWEEPS):
        for seed in range(1) if quick else range(2):
            for prior in PRIORS[:1] if quick else PRIORS:
                aupr, share, gap, seconds = gaps(name, prior, seed, 20 if quick else SWEEPS[name])
                met = bool(share >= 0.99 and gap <= 0.25 and seconds <= BARS[name])
                ours = f"{share:.4f}, {gap:.2f} in {seconds:.0f} CPU s"
                bar = f">= .99, <= .25 in {BARS[name]} s"
                title = f"{name}, {prior}, draw {seed}: gaps up to .1, largest"
                section.lines.append(Line(title, ours, bar=bar, meets=met))
                rows.append([f"{name}, {prior}, draw {seed}", f"{aupr:.3f}", f"{seconds:.0f}"])
            if not quick and "sumu" in network_peers.available():
                rows.append([f"{name}, sumu, draw {seed}", *_sumu(name, seed)])
    section.grids.append(Grid("Edges", ["who", "AUPR", "CPU s"], rows))
    return section


def _sumu(name: str, seed: int) -> tuple[str, str]:
    net = read_network(folder() / f"{name}.bif.gz")
    P, _, seconds = sumu(net.sample(1_000, random_state=seed), seed, steps=STEPS, most=10)
    return f"{judge(net.adjacency, P)[1]:.3f}", f"{seconds:.0f}"


if __name__ == "__main__":
    show(run(), Console(width=120))
