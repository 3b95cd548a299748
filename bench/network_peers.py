"""Peers that learn networks: edge probabilities of sumu, pgmpy, pyAgrum and causal-learn.

All score by BDeu with an equivalent sample size of 10, the best of 1 and 10 on the layered net.
sumu averages over its own chain (partition MCMC, six coupled chains); the others find one network
each, so theirs is the share of networks of bootstrap samples that have an edge; one without
direction is half of each. Only those that are installed take part.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

ESS = 10
CHAINS = 6  # of sumu, coupled by temperatures; one alone stays in its place
Learner = Callable[[np.ndarray, int], np.ndarray]


def sumu(X: np.ndarray, seed: int, steps: int = 4000, most: int = 12, ess: int = ESS) -> np.ndarray:
    """Edge probabilities by partition MCMC, of at most so many candidate parents."""
    import sumu

    N = X.shape[1]
    full = np.full
    np.random.seed(seed)  # noqa: NPY002 - it draws from NumPy's global generator
    try:
        np.full = _whole_full(full)  # type: ignore[assignment]
        chain = sumu.Gadget(
            data=sumu.Data(np.ascontiguousarray(X, np.int32)), scoref="bdeu", ess=ess, max_id=-1,
            K=min(N - 1, most), d=2, cp_algo="top" if most >= N - 1 else "greedy-lite",
            cp_path=None, mc3_chains=CHAINS, burn_in=steps // 2, iterations=steps, thinning=10,
            tolerance=2.0**-32,
        )  # fmt: skip
        graphs, _ = chain.sample()
    finally:
        np.full = full
    P = np.zeros((N, N))
    for graph in graphs:
        for child, *parents in graph:
            for parent in parents[0] if parents else ():
                P[parent, child] += 1
    return P / len(graphs)


def _whole_full(full: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """`np.full` that takes sizes like 4096.0, which sumu's compiled code asks for."""

    def whole(shape: object, *args: object, **options: object) -> np.ndarray:
        sizes = tuple(int(n) for n in np.atleast_1d(shape))  # type: ignore[call-overload]
        return full(sizes, *args, **options)

    return whole


def bootstrap(one: Callable[[np.ndarray], np.ndarray], n: int) -> Learner:
    """The mean network of so many samples of the rows."""

    def learn(X: np.ndarray, seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [one(X[rng.integers(len(X), size=len(X))]) for _ in range(n)]
        return np.mean(found, axis=0)

    return learn


def pgmpy(X: np.ndarray) -> np.ndarray:
    """Hill climbing."""
    from pgmpy.estimators import BDeu, HillClimbSearch

    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])]).astype("category")
    score = BDeu(frame, equivalent_sample_size=ESS)
    found = HillClimbSearch(frame).estimate(scoring_method=score, show_progress=False)
    return _adjacency(X.shape[1], [(int(i), int(j)) for i, j in found.edges()])


def pyagrum(X: np.ndarray) -> np.ndarray:
    """Greedy hill climbing."""
    import pyagrum

    learner = pyagrum.BNLearner(pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]))
    learner.useScoreBDeu()
    learner.useBDeuPrior(ESS)
    learner.useGreedyHillClimbing()
    arcs = learner.learnDAG().arcs()
    names = [int(learner.nameFromId(j)[1:]) for j in range(X.shape[1])]
    return _adjacency(X.shape[1], [(names[i], names[j]) for i, j in arcs])


def causal_learn(X: np.ndarray) -> np.ndarray:
    """Greedy equivalence search."""
    from causallearn.search.ScoreBased.GES import ges

    G = ges(X.astype(int), score_func="local_score_BDeu")["G"].graph
    return ((G == -1) & (G.T == 1)) + 0.5 * ((G == -1) & (G.T == -1))


def _adjacency(N: int, edges: list[tuple[int, int]]) -> np.ndarray:
    A = np.zeros((N, N))
    for i, j in edges:
        A[i, j] = 1.0
    return A


PEERS: dict[str, tuple[str, Learner]] = {  # module, and how it learns
    "sumu": ("sumu", sumu),
    "pgmpy, 10 bootstraps": ("pgmpy", bootstrap(pgmpy, 10)),
    "pyAgrum, 50 bootstraps": ("pyagrum", bootstrap(pyagrum, 50)),
    "causal-learn, 10 bootstraps": ("causallearn", bootstrap(causal_learn, 10)),
}


def available() -> dict[str, Learner]:
    """The peers that are installed."""
    return {
        name: learn
        for name, (module, learn) in PEERS.items()
        if importlib.util.find_spec(module) is not None
    }
