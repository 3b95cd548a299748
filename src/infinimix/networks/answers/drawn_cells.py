"""Missing cells of a run of rows with very many completions, drawn in turn (Gibbs).

What is drawn from is the distribution of `sequence_cells`, networks included: a network given all
cells, then each cell given the network and the cells around it. The distributions that cells are
drawn from are averaged.
"""

from __future__ import annotations

import numpy as np

from infinimix.networks.answers.predictive import Mixture

BURN_IN, SWEEPS = 20, 200


def draw_run(
    mixture: Mixture, X: np.ndarray, missing: np.ndarray, starts: bool, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the probabilities of the categories of each missing cell of rows (T, N)."""
    cells = np.argwhere(missing).tolist()
    found = [np.zeros(int(mixture.cards[j])) for _, j in cells]
    X = X.copy()
    X[missing] = [rng.integers(len(p)) for p in found]
    for sweep in range(BURN_IN + SWEEPS):
        s = _draw_network(mixture, X, starts, rng)
        children = [np.flatnonzero(row).tolist() for row in _edges(mixture, s)]
        for p, (t, j) in zip(found, cells, strict=True):
            own = _given_rest(mixture, s, X, t, j, children[j], starts)
            X[t, j] = np.searchsorted(own.cumsum()[:-1], rng.random(), side="right")
            if sweep >= BURN_IN:
                p += own / SWEEPS
    return found


def _edges(mixture: Mixture, s: int) -> np.ndarray:
    """Return the edges of network s, [before, now]."""
    N = mixture.N // 2
    return np.asarray(mixture.graphs[s][N:, :N])


def _draw_network(mixture: Mixture, X: np.ndarray, starts: bool, rng: np.random.Generator) -> int:
    """Draw a network given complete rows."""
    N = mixture.N // 2
    logs = np.log(mixture.weights)
    if len(X) > 1:
        logs = logs + mixture.log_families(np.hstack([X[1:], X[:-1]]), slice(N)).sum(axis=1)
    if starts:
        logs = logs + mixture.log_families(np.hstack([X[:1]] * 2), slice(N, None))[:, 0]
    return int(np.argmax(logs + rng.gumbel(size=len(logs))))


def _given_rest(
    mixture: Mixture, s: int, X: np.ndarray, t: int, j: int, children: list[int], starts: bool
) -> np.ndarray:
    """Return the distribution of the cell j of row t in network s, given all others."""
    N, index = mixture.N // 2, mixture.index[s]
    if t > 0:
        p = mixture.cpt(index[j])[_code(mixture, index[j], X[t - 1])].copy()
    else:
        p = mixture.cpt(index[N + j])[0].copy() if starts else np.ones(int(mixture.cards[j]))
    if t + 1 < len(X):
        row = X[t].copy()
        for v in range(len(p)):
            row[j] = v
            for c in children:
                p[v] *= mixture.cpt(index[c])[_code(mixture, index[c], row), X[t + 1, c]]
    return np.asarray(p / p.sum())


def _code(mixture: Mixture, f: int, before: np.ndarray) -> int:
    """Return the number of the configuration of the parents of a family in the row before."""
    N, code = mixture.N // 2, 0
    for parent in mixture.families[f][2].tolist():
        code = code * int(mixture.cards[parent]) + int(before[parent - N])
    return code
