"""What tests of calibration by simulation share: graphs, rows given them, and the judgement.

A graph is drawn from the prior, then parameters and rows given it. Whatever leaves the posterior of
graphs given rows as it is turns this pair of graph and rows into another pair with the same
distribution. So graphs follow the prior afterwards, and no function of graph and rows changes in
the mean: a move that forgot the rows would keep the prior, but not the mean log score.
"""

import numpy as np
from scipy import stats

from tests.oracle.networks import log_discrete

ALARM = 1e-5  # probability of each of the figures of a test to fail although all is right


def order_of(A):
    """Nodes in an order in which parents come first."""
    left, order = set(range(len(A))), []
    while left:
        roots = [j for j in sorted(left) if not any(A[i, j] for i in left)]
        order += roots
        left -= set(roots)
    return order


def draw_rows(A, cards, n, rng, table=None):
    """Rows of a graph, with tables from their prior: symmetric Dirichlet of one half by default."""
    X = np.zeros((n, len(cards)), int)
    for c in order_of(A):
        parents = np.flatnonzero(A[:, c])
        shape = tuple(cards[parents])
        rows = rng.dirichlet([0.5] * cards[c], shape) if table is None else table(c, parents, rng)
        p = rows[tuple(X[:, parents].T)] if len(parents) else np.broadcast_to(rows, (n, cards[c]))
        X[:, c] = (rng.random(n)[:, None] > np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    return X


def log_score(A, X, cards):
    """The log marginal likelihood of rows, by the oracle."""
    return sum(
        log_discrete(X, cards, c, tuple(np.flatnonzero(A[:, c])), 0.5) for c in range(len(A))
    )


def check_counts(values, weights, found):
    """Found values of a statistic against its distribution: value and weight of each state."""
    kinds, place = np.unique(values, return_inverse=True)
    expected = np.bincount(place, weights) * len(found)
    counts = np.array([np.sum(np.asarray(found) == k) for k in kinds])
    assert counts.sum() == len(found)  # nothing that the prior does not know
    many = expected >= 5
    counts = np.append(counts[many], counts[~many].sum())
    expected = np.append(expected[many], expected[~many].sum())
    some = expected > 0
    assert stats.chisquare(counts[some], expected[some]).pvalue > ALARM


def changed(differences):
    """The p-value of differences that are zero in the mean."""
    differences = np.asarray(differences, float)
    if not differences.any():
        return 1.0
    return stats.ttest_1samp(differences, 0.0).pvalue
