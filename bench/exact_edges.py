"""Exact edge probabilities of all networks of up to a dozen variables, by dynamic programming."""

from __future__ import annotations

import numpy as np
from numba import njit

from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.scores import compute_score, discrete_data, new_cache


def all_scores(
    X: np.ndarray, cards: np.ndarray, gamma: float = 0.5, shared_by: int = 0
) -> np.ndarray:
    """Return the log score of each variable c with each set S of parents, (N, 2^N)."""
    N = X.shape[1]
    data, layout = discrete_data(X, cards, gamma, shared_by), full_layout(~np.eye(N, dtype=bool))
    cache, score = new_cache(data, layout), np.full((N, 1 << N), -np.inf)
    for c in range(N):
        for mask in range(1 << (N - 1)):
            spread = (mask & ((1 << c) - 1)) | (mask >> c << (c + 1))
            score[c, spread] = compute_score(data, layout, cache, c, np.uint64(mask))
    return score


@njit  # type: ignore[untyped-decorator]
def _sum_over_graphs(weights: np.ndarray, N: int) -> float:
    """Tian and He's recurrence: weights[c, S] is the sum over parent sets inside S."""
    full = 1 << N
    R = np.zeros(full)
    R[0] = 1.0
    P = np.zeros(full)
    for U in range(full):  # T is added to U as the set of sinks of U + T
        if R[U] == 0.0:
            continue
        rest = (full - 1) & ~U
        T = 0
        P[0] = 1.0
        while True:
            T = (T - rest) & rest
            if T == 0:
                break
            low = T & -T
            j, k = 0, low
            while k > 1:
                k >>= 1
                j += 1
            P[T] = -P[T & ~low] * weights[j, U]
            R[U | T] -= R[U] * P[T]
    return R[full - 1]


def exact_uniform_edges(score: np.ndarray, N: int) -> np.ndarray:
    """Exact edge probabilities under the uniform prior; score[c, S] for all sets S without c."""
    w = np.zeros((N, 1 << N))
    for c in range(N):
        sets = [S for S in range(1 << N) if not S >> c & 1]
        w[c, sets] = np.exp(score[c, sets] - score[c, sets].max())

    def inside(v: np.ndarray) -> np.ndarray:  # sums over subsets
        v = v.copy()
        for j in range(N):
            halves = v.reshape(*v.shape[:-1], -1, 2, 1 << j)  # sets without j, and with it
            halves[..., 1, :] += halves[..., 0, :]
        return v

    A = inside(w)
    A /= A.max(axis=1, keepdims=True)
    total = _sum_over_graphs(A, N)
    edges = np.zeros((N, N))
    for j in range(N):
        scale = inside(w[j]).max()
        for i in range(N):
            held = np.where(np.arange(1 << N) >> i & 1, w[j], 0.0)
            if held.any():  # else i is never a parent of j
                B = A.copy()
                B[j] = inside(held) / scale
                edges[i, j] = _sum_over_graphs(B, N) / total
    return edges
