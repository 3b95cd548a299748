"""Networks of categories and numbers, slowly: scores row by row, and tables with dependence.

Written without a look at the compiled scores. A number given its parents is, in each configuration
of its discrete parents, a Bayesian regression: a column of ones and the real parents, coefficients
N(0, v / precision) with precision 1/2 of the slopes and 1 of the intercept, or 1/10 if there are
discrete parents; v is inverse gamma with shape (3 + real parents) / 2 and scale 1/4. That is what a
normal-Wishart prior with alpha_mu = 1 (or 1/10), prior mean 0 and T = I / 2 says about one column
given others. By the chain rule the marginal likelihood
is the product of predictive densities of rows, which are Student t.
"""

from itertools import product
from math import lgamma, log, pi

import numpy as np

from tests.oracle.networks import World, log_discrete

ALONE, GROUPED, SLOPE, SHAPE, SCALE = 1.0, 0.1, 0.5, 1.5, 0.25


def log_student_t(x, place, squared_scale, freedom):
    """The log density of one number."""
    z = (x - place) ** 2 / (squared_scale * freedom)
    return (
        lgamma((freedom + 1) / 2) - lgamma(freedom / 2) - 0.5 * log(pi * freedom * squared_scale)
        - (freedom + 1) / 2 * log(1 + z)
    )  # fmt: skip


def log_regression(y, Z, intercept=ALONE):
    """Chain rule over rows: predict each, then learn it."""
    k = Z.shape[1]
    precision = np.diag([intercept, *[SLOPE] * k])
    pull, shape, scale, total = np.zeros(k + 1), SHAPE + k / 2, SCALE, 0.0
    for x, row in zip(y, Z, strict=True):
        f = np.array([1.0, *row])
        covariance = np.linalg.inv(precision)
        place, wide = f @ covariance @ pull, 1.0 + f @ covariance @ f
        total += log_student_t(x, place, scale / shape * wide, 2 * shape)
        scale += 0.5 * (x - place) ** 2 / wide
        shape += 0.5
        precision, pull = precision + np.outer(f, f), pull + f * x
    return total


def log_mixed(X, cards, c, parents, gamma=0.5, used=None):
    """The score of a family; `cards` are 0 for numbers."""
    discrete = [p for p in parents if cards[p]]
    real = [p for p in parents if not cards[p]]
    X = X if used is None else X[used[:, c]]
    if cards[c]:
        return -np.inf if real else log_discrete(X.astype(int), cards, c, tuple(discrete), gamma)
    total = 0.0
    for values in product(*(range(cards[p]) for p in discrete)):
        rows = np.all(X[:, discrete] == np.array(values, float), axis=1)
        intercept = GROUPED if discrete else ALONE
        total += log_regression(X[rows, c], X[rows][:, real], intercept)
    return total


KNOWN = {}  # scores of families, by their cells: worlds that differ in one column share the others


def mixed_world(X, cards):
    """The posterior of a small table of both kinds, by enumeration."""

    def score(c, parents):
        own = [c, *parents]
        key = X[:, own].tobytes(), len(X), tuple(int(cards[j]) for j in own)
        if key not in KNOWN:
            KNOWN[key] = log_mixed(X, cards, c, parents)
        return KNOWN[key]

    return World(X, cards, score=score)


def barred(cards):
    """Edges that there cannot be: from numbers to categories."""
    return np.outer(cards == 0, cards > 0)


def mixed_table(seed, n, cards):
    """A small table with some dependence; categories first in the order of dependence."""
    rng = np.random.default_rng(seed)
    X = np.zeros((n, len(cards)))
    order = [*np.flatnonzero(cards), *np.flatnonzero(cards == 0)]
    for k, j in enumerate(order):
        before = order[rng.integers(k)] if k else None
        if cards[j]:
            X[:, j] = rng.integers(cards[j], size=n)
            if k:
                X[:, j] = np.where(rng.random(n) < 0.6, X[:, before] % cards[j], X[:, j])
        else:
            X[:, j] = rng.standard_normal(n) + (0.8 * X[:, before] if k else 0.0)
            X[:, j] = (X[:, j] - X[:, j].mean()) / X[:, j].std()
    return X
