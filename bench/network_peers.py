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

from bench.network_sumu import ESS, sumu

Learner = Callable[[np.ndarray, int], np.ndarray]


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

    return _halves(ges(X.astype(int), score_func="local_score_BDeu")["G"].graph)


def causal_learn_pc(X: np.ndarray) -> np.ndarray:
    """The PC algorithm, with chi-squared tests."""
    from causallearn.search.ConstraintBased.PC import pc

    return _halves(pc(X.astype(int), 0.05, "chisq", show_progress=False).G.graph)


def _halves(G: np.ndarray) -> np.ndarray:
    """An edge without direction is half of each."""
    return ((G == -1) & (G.T == 1)) + 0.5 * ((G == -1) & (G.T == -1))


def _adjacency(N: int, edges: list[tuple[int, int]]) -> np.ndarray:
    A = np.zeros((N, N))
    for i, j in edges:
        A[i, j] = 1.0
    return A


ONES: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray]]] = {  # module, and one network
    "pgmpy": ("pgmpy", pgmpy),
    "pyAgrum": ("pyagrum", pyagrum),
    "causal-learn": ("causallearn", causal_learn),
    "causal-learn, PC": ("causallearn", causal_learn_pc),
}
BOOTSTRAPS = {"pgmpy": 10, "pyAgrum": 50, "causal-learn": 10, "causal-learn, PC": 10}
PEERS: dict[str, tuple[str, Learner]] = {"sumu": ("sumu", sumu)} | {
    f"{who}, {BOOTSTRAPS[who]} bootstraps": (module, bootstrap(one, BOOTSTRAPS[who]))
    for who, (module, one) in ONES.items()
}


def available() -> dict[str, Learner]:
    """The peers that are installed."""
    return {
        name: learn
        for name, (module, learn) in PEERS.items()
        if importlib.util.find_spec(module) is not None
    }
