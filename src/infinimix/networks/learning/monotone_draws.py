"""Tables of binary children drawn from their posterior, given the signs of all effects.

The configurations of k parents have theta_u ~ Beta(a_u, b_u), given that these are in order. The
probability of that is a sum over bins (`engine.monotone`): with F_J(g) the probability that the
ideal J is in order in the bins before g, and nothing else is there,

    F_I(g + 1) = sum over ideals J within I of  F_J(g)  ways(J, I) / m!  prod over u of mass_u(g)

for the m configurations u of I without J, which `ways(J, I)` orders allow. So a draw goes back from
the last bin to the first, and chooses at each which configurations are in it; within a bin they are
m uniform numbers along one of the orders. As there, densities are constant within a bin. Before
that, some draws without order are tried, as one that happens to be in order is such a draw, too.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from infinimix.networks.engine.families import Data, cell_weight
from infinimix.networks.engine.monotone import count_bins, fill_masses, list_ideals, list_steps
from infinimix.networks.learning.completion import Ties, count_table

TRIES = 32  # draws without order, which are faster


class Lattice(NamedTuple):
    """The pairs of ideals J within I of the configurations of k parents, sorted by I."""

    larger: np.ndarray  # (pairs,) I
    smaller: np.ndarray  # (pairs,) J
    begin: np.ndarray  # (ideals + 1,) where the pairs of I begin
    between: np.ndarray  # (pairs, 2^k): is the configuration in I and not in J?
    log_share: np.ndarray  # (pairs,) log of ways(J, I) / m!
    ways: np.ndarray  # (ideals, ideals) [J, I]
    steps: np.ndarray  # `list_steps`


@cache
def lattice(k: int) -> Lattice:
    """Return the pairs of ideals for k parents: 6, 20, 168 and 7,581 for one to four."""
    ideals, steps = list_ideals(k), list_steps(k)
    ways = np.eye(len(ideals))
    for s, _, without, _ in steps.tolist():
        ways[:, s] += ways[:, without]
    larger, smaller = np.nonzero(ways.T)
    sets = np.array([[ideal >> u & 1 for u in range(1 << k)] for ideal in ideals])
    between = (sets[larger] - sets[smaller]).astype(float)
    log_share = np.log(ways[smaller, larger]) - gammaln(between.sum(axis=1) + 1.0)
    begin = np.searchsorted(larger, np.arange(len(ideals) + 1))
    return Lattice(larger, smaller, begin, between, log_share, ways, steps)


def draw_monotone(a: np.ndarray, b: np.ndarray, flip: int, rng: np.random.Generator) -> np.ndarray:
    """Return theta ~ Beta(a, b), given that theta[u ^ flip] increases with u."""
    k, turned = len(a).bit_length() - 1, np.arange(len(a)) ^ flip
    tried = rng.beta(a[turned], b[turned], (TRIES if k else 1, len(a)))
    in_order = (tried[:, covers(k)[0]] <= tried[:, covers(k)[1]]).all(axis=1)
    theta = np.empty(len(a))
    theta[turned] = tried[in_order.argmax()] if in_order.any() else _draw_in_bins(a, b, turned, rng)
    return theta


@cache
def covers(k: int) -> np.ndarray:
    """Return the pairs of configurations that differ in one parent, (2, pairs), the lower first."""
    found = [(u, u | 1 << j) for u in range(1 << k) for j in range(k) if not u >> j & 1]
    return np.array(found, np.int64).reshape(-1, 2).T


def _draw_in_bins(
    a: np.ndarray, b: np.ndarray, turned: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return what is in order: theta[turned]."""
    k = len(a).bit_length() - 1
    bins = int(count_bins(float((a + b).max())))
    masses = np.zeros((2, bins, len(a)))
    for u in range(len(a)):
        fill_masses(float(a[turned[u]]), float(b[turned[u]]), bins, u, masses)
    pairs = lattice(k)
    logs = masses[1] @ pairs.between.T + pairs.log_share  # (bins, pairs)
    before = np.full((bins + 1, len(pairs.ways)), -np.inf)
    before[0, 0] = 0.0
    for g in range(bins):
        both = before[g, pairs.smaller] + logs[g]
        before[g + 1] = np.logaddexp.reduceat(both, pairs.begin[:-1])
    times, ideal = np.zeros(len(a)), len(pairs.ways) - 1
    for g in range(bins - 1, -1, -1):
        own = slice(pairs.begin[ideal], pairs.begin[ideal + 1])
        p = np.exp(before[g, pairs.smaller[own]] + logs[g, own] - before[g + 1, ideal])
        at = int(np.searchsorted(p.cumsum(), rng.random() * p.sum(), side="right"))
        rest = int(pairs.smaller[own][min(at, len(p) - 1)])
        if rest != ideal:
            _place(pairs, rest, ideal, g, times, rng)
            ideal = rest
        if ideal == 0:
            break
    return np.asarray(np.sin(0.5 * np.pi * times / bins) ** 2)


def _place(
    pairs: Lattice, rest: int, ideal: int, g: int, times: np.ndarray, rng: np.random.Generator
) -> None:
    """Draw the times of all that is in an ideal and not in a smaller one, within bin g."""
    m = round(float(pairs.between[(pairs.larger == ideal) & (pairs.smaller == rest)].sum()))
    for x in np.sort(rng.random(m))[::-1]:
        last = pairs.steps[pairs.steps[:, 0] == ideal]  # who may be the highest
        p = pairs.ways[rest, last[:, 2]].cumsum()
        pick = last[int(np.searchsorted(p, rng.random() * p[-1], side="right"))]
        times[pick[1]], ideal = g + x, int(pick[2])


def flip_of(effects: np.ndarray) -> int:
    """Return the bits of a configuration that negative effects turn; the first is the highest.

    >>> flip_of(np.array([-1, 1, 1]))
    4
    """
    return sum(1 << j for j, effect in enumerate(effects[::-1].tolist()) if effect < 0)


def draw_signed_table(
    X: np.ndarray, c: int, effects: np.ndarray, data: Data, rng: np.random.Generator, ties: Ties
) -> np.ndarray:
    """Return the logarithms of a table (configurations, 2), drawn given all rows and its signs.

    `effects` are those on c of all columns: 1, -1, or 0 where there is none.
    """
    parents = np.flatnonzero(effects)
    counts = count_table(X, c, parents, data, ties) + cell_weight(
        data.settings, 1 << len(parents), 2
    )
    theta = draw_monotone(counts[:, 1], counts[:, 0], flip_of(effects[parents]), rng)
    theta = np.clip(theta, 1e-15, 1.0 - 1e-15)
    return np.asarray(np.log(np.stack([1.0 - theta, theta], axis=1)))
