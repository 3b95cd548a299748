"""How soon chains know the edges: the largest error against exact probabilities, by CPU seconds.

The 12-node layered net under the uniform prior of infinimix (pseudo-counts of a half in each cell).
sumu has a prior on the number of parents and BDeu; its error is against exact probabilities under
these. Both start anew for each length; compiling is not counted. The bar asks for the CPU time in
which our error is that of sumu's longest run or less, against the time of that run.
"""

from __future__ import annotations

from math import comb, log

import numpy as np

from bench import network_peers
from bench.exact_edges import all_scores, exact_uniform_edges
from bench.networks import ask, learn
from bench.report import Grid, Line, Section
from infinimix.networks import sample_network

SWEEPS = (50, 100, 200, 800, 2_000)
STEPS = (1_000, 4_000, 16_000)


def errors_of_ours(X: np.ndarray, cards: np.ndarray, sweeps: tuple[int, ...]) -> np.ndarray:
    """CPU seconds and largest error, a row for each number of sweeps."""
    exact = exact_uniform_edges(all_scores(X, cards), X.shape[1])
    learn(X, 10, prior="uniform")  # compiles
    out = []
    for n in sweeps:
        P, _, seconds = learn(X, n, prior="uniform")
        out.append((seconds, np.abs(P - exact).max()))
    return np.array(out)


def errors_of_sumu(X: np.ndarray, steps: tuple[int, ...]) -> np.ndarray:
    """CPU seconds and largest error, a row for each number of steps.

    It knows of the values that are in the rows only, and so does what it is judged by.
    """
    N = X.shape[1]
    X = np.stack([np.unique(x, return_inverse=True)[1] for x in X.T], axis=1)
    cards = X.max(axis=0) + 1
    size = np.array([S.bit_count() for S in range(1 << N)])
    fair = np.array([log(comb(N - 1, k)) if k < N else 0.0 for k in size])
    exact = exact_uniform_edges(all_scores(X, cards, network_peers.ESS, True) - fair, N)
    out = []
    for n in steps:
        P, _, seconds = ask(lambda X, seed, n=n: network_peers.sumu(X, seed, n), X, 0)
        out.append((seconds, np.abs(P - exact).max()))
    return np.array(out)


def run(quick: bool = False) -> Section:
    section = Section("Networks: largest error of an edge probability, 12 nodes, uniform prior")
    rows = []
    for seed in range(1) if quick else range(3):
        net = sample_network((2, 2) if quick else (4, 4, 4), random_state=seed)
        X = net.sample(75, random_state=1000 + seed)
        ours = errors_of_ours(X, net.cards, SWEEPS[:1] if quick else SWEEPS)
        rows += [[f"infinimix, seed {seed}", f"{s:.2f}", f"{e:.3f}"] for s, e in ours]
        section.figures[str(seed)] = {"ours": ours.tolist()}
        last = Line(f"seed {seed}: largest error of the longest run", f"{ours[-1, 1]:.3f}")
        section.lines.append(last)
        if quick or "sumu" not in network_peers.available():
            continue
        theirs = errors_of_sumu(X, STEPS)
        rows += [[f"sumu, seed {seed}", f"{s:.2f}", f"{e:.3f}"] for s, e in theirs]
        section.figures[str(seed)]["sumu"] = theirs.tolist()
        section.lines.append(_line(seed, ours, theirs))
    section.grids.append(Grid("Runs", ["who", "CPU s", "largest error"], rows))
    return section


def _line(seed: int, ours: np.ndarray, theirs: np.ndarray) -> Line:
    seconds, error = theirs[-1]
    soon = ours[ours[:, 1] <= error, 0]
    mine = soon.min() if len(soon) else np.inf
    return Line(
        f"seed {seed}: CPU s to an error of {error:.3f}",
        f"{mine:.2f}" if len(soon) else f"not in {ours[-1, 0]:.1f}",
        f"{seconds:.1f}", f"{mine / seconds:.2f}", "<= 0.1", bool(mine <= seconds / 10),
    )  # fmt: skip
