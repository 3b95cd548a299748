"""How the roles of several networks are shared out: one restaurant, or a franchise of them.

"common": one Chinese restaurant process with concentration alpha over all variables. "franchise":
the roles have weights w ~ GEM(alpha), and the roles of each network are drawn from proportions of
its own, a Dirichlet process around w with concentration c (Teh and others 2006). With c to infinity
the franchise becomes the common process. Counts n are (networks, roles).
"""

from __future__ import annotations

from math import lgamma, log

import numpy as np


def draw_weights(
    n: np.ndarray, w: np.ndarray, alpha: float, c: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Draw the weights of the roles in use and of the rest, given the counts n.

    Each network seats its variables at tables, the m + 1st of a role at a new one with probability
    c w / (c w + m); given the numbers of tables the weights are Dirichlet.
    """
    tables = np.zeros(n.shape[1])
    for g, k in np.argwhere(n):
        mass = c * w[k]
        tables[k] += (rng.random(n[g, k]) * (mass + np.arange(n[g, k])) < mass).sum()
    used = np.flatnonzero(tables)
    drawn = np.maximum(rng.standard_gamma([*tables[used], alpha]), 1e-100)
    drawn /= drawn.sum()
    new = np.zeros(len(w))
    new[used] = drawn[:-1]
    return new, float(drawn[-1])


def log_common(n: np.ndarray, alpha: float) -> float:
    """Return log P(z) of one Chinese restaurant process over all variables."""
    sizes = n.sum(axis=0)
    total = sum(log(alpha) + lgamma(m) for m in sizes if m)
    return total + lgamma(alpha) - lgamma(alpha + sizes.sum())


def log_franchise(n: np.ndarray, alpha: float, c: float) -> float:
    """Return log P(z) of the franchise: the sum over all numbers of tables.

    prod_gk |s(n_gk, t_gk)| c^t_gk / prod_g (c)_n_g, s the Stirling numbers of the first kind, times
    alpha^K prod_k Gamma(t_k) Gamma(alpha) / Gamma(alpha + t), t_k the tables of role k and t all.
    """
    logs = np.zeros(1)  # [t]: log of the sum over all with t tables
    for k in np.flatnonzero(n.sum(axis=0)):
        role = np.zeros(1)
        for m in n[:, k]:
            role = _convolve(role, _log_seatings(int(m), c))
        t = np.arange(1, len(role))
        role[0] = -np.inf
        role[1:] += log(alpha) + np.array([lgamma(x) for x in t])
        logs = _convolve(logs, role)
    logs += [lgamma(alpha) - lgamma(alpha + t) for t in range(len(logs))]
    sizes = n.sum(axis=1)
    return float(np.logaddexp.reduce(logs) + sum(lgamma(c) - lgamma(c + m) for m in sizes))


def _log_seatings(m: int, c: float) -> np.ndarray:
    """Return log |s(m, t)| c^t for t from 0 to m."""
    logs = np.zeros(1)
    for i in range(m):  # one more: at one of the i seats taken, or at a new table
        stay = np.append(logs, -np.inf) + (log(i) if i else -np.inf)
        logs = np.logaddexp(stay, np.append(-np.inf, logs + log(c)))
    return logs


def _convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    out = np.full(len(a) + len(b) - 1, -np.inf)
    for i, x in enumerate(a):
        if x > -np.inf:
            out[i : i + len(b)] = np.logaddexp(out[i : i + len(b)], x + b)
    return out
