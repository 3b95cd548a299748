"""Networks: edges of the 12-node layered net, and pair updates a second.

The layered net has three layers of four, full between neighbours, tables from a symmetric Dirichlet
.5. Figures are means over seeds of AUROC and average precision (AUPR) of the edge probabilities of
all ordered pairs. Peers that are installed learn from the same rows (`network_peers`).
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from bench.network_peers import Learner, available
from bench.report import Grid, Line, Section
from bench.timing import count
from infinimix import BlockmodelBayesNet
from infinimix.evaluation.intervals import standard_error
from infinimix.networks import sample_network
from infinimix.networks.engine.candidates import choose_layout
from infinimix.networks.engine.graph_moves import pair_gibbs
from infinimix.networks.engine.scores import discrete_data
from infinimix.networks.learning.chains import GraphChain
from infinimix.networks.learning.problem import Problem

SWEEPS = 2000  # the default
KINDS = {
    "uniform": {"prior": "uniform"},
    "sparse": {"prior": "sparse"},
    "block, global": {"normalise": "global"},
    "block, per partition": {},
    "ordered": {"prior": "ordered"},
}
BARS = {("ordered", 75): (0.95, 0.88), ("block, per partition", 75): (0.89, 0.77),
        ("ordered", 500): (0.995, 0.0), ("block, per partition", 500): (0.995, 0.0)}  # fmt: skip


def judge(A: np.ndarray, P: np.ndarray) -> tuple[float, float]:
    """AUROC and AUPR of edge probabilities."""
    off = ~np.eye(len(A), dtype=bool)
    return float(roc_auc_score(A[off], P[off])), float(average_precision_score(A[off], P[off]))


def learn(X: np.ndarray, sweeps: int, **options: object) -> tuple[np.ndarray, float, float]:
    """Edge probabilities, largest gap between chains and CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = BlockmodelBayesNet(n_iter=sweeps, random_state=0, **options).fit(X)  # type: ignore[arg-type]
    return model.edge_marginals_, float(model.edge_gap_.max()), time.process_time() - start


def ask(learner: Learner, X: np.ndarray, seed: int) -> tuple[np.ndarray, float, float]:
    """Edge probabilities of a peer, no gap, and CPU seconds."""
    start = time.process_time()
    return learner(X, seed), np.nan, time.process_time() - start


def pair_rate(X: np.ndarray, cards: np.ndarray, sweeps: int) -> float:
    """Pair updates in a CPU second, of a chain that has found its place."""
    N = X.shape[1]
    allowed = ~np.eye(N, dtype=bool)
    layout = choose_layout(discrete_data(X, cards), allowed, ~allowed & False)
    few = {"n_iter": min(100, sweeps), "burn_in": min(200, sweeps)}
    problem = Problem(X, np.zeros(X.shape, bool), cards, layout, **few)
    chain = GraphChain(problem, np.random.SeedSequence(0), False)
    chain.run()
    state, pairs = chain.states[0], chain.model.couples.shape[1]
    couples = np.tile(chain.model.couples, 50)
    model = chain.model._replace(couples=np.ascontiguousarray(couples))
    pair_gibbs(model, state, 0, 50 * pairs, 1.0, chain.rng)
    start = time.process_time()
    for _ in range(sweeps):
        pair_gibbs(model, state, 0, 50 * pairs, 1.0, chain.rng)
    return 50 * pairs * sweeps / (time.process_time() - start)


def run(quick: bool = False) -> Section:
    seeds, sweeps, layer = (range(1), 3, 2) if quick else (range(10), SWEEPS, 4)
    section = Section(f"Networks: the 12-node layered net, {len(seeds)} seeds")
    rows = []
    for n in (75,) if quick else (75, 500):
        found: dict[str, list[tuple[float, ...]]] = {}
        for seed in seeds:
            net = sample_network((layer,) * 3, random_state=seed)
            X = net.sample(n, random_state=1000 + seed)
            answers = {name: learn(X, sweeps, **options) for name, options in KINDS.items()}
            answers |= {} if quick else {m: ask(one, X, seed) for m, one in available().items()}
            for name, (P, gap, seconds) in answers.items():
                found.setdefault(name, []).append((*judge(net.adjacency, P), gap, seconds))
        for name, figures in found.items():
            roc, pr, gap, seconds = np.array(figures).T
            rows.append(
                [
                    f"{name}, {n} rows",
                    spread(roc),
                    spread(pr),
                    "" if np.isnan(gap).any() else f"{gap.max():.2f}",  # peers have no chains
                    f"{seconds.mean():.1f}",
                ]
            )
            if (name, n) in BARS:
                low = BARS[name, n]
                met = bool(roc.mean() >= low[0] and pr.mean() >= low[1])
                ours = f"{roc.mean():.3f} / {pr.mean():.3f}"
                bar = f"{low[0]} / {low[1]}" if low[1] else f"{low[0]}"
                section.lines.append(
                    Line(f"{name}, {n} rows: AUROC / AUPR", ours, bar=bar, meets=met)
                )
        section.figures[str(n)] = found
    headings = ["prior", "AUROC", "AUPR", "largest gap", "CPU s"]
    section.grids.append(Grid("Mean ± standard error over seeds", headings, rows))
    _speed(section, quick)
    return section


def _speed(section: Section, quick: bool) -> None:
    for N, bar in ((12, 5e6), (21, 2e6))[: 1 if quick else None]:
        net = sample_network((N // 3,) * 3, random_state=0)
        rate = pair_rate(net.sample(500, random_state=0), net.cards, 2 if quick else 200)
        section.lines.append(
            Line(
                f"pair updates a CPU second, {N} nodes",
                count(rate),
                bar=count(bar),
                meets=rate >= bar,
            )
        )


def spread(x: np.ndarray) -> str:
    """The mean and its standard error."""
    return f"{np.mean(x):.3f} ± {standard_error(x):.3f}"
