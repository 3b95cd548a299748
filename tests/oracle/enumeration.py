"""The exact posterior of a CRP mixture, by enumeration of all partitions of a few rows.

Nothing here is shared with the library: no numba, no family code, other formulas. A family
is known by its class name and its hyper-parameters alone. A group's marginal likelihood is
a Beta integral (binary), a walk through Polya's urn (categorical), a multivariate Student t
(real), an integral over the rate of a Poisson (counts), a Beta integral times a Student t (spiked),
and the product of these over columns; missing cells are left out. A gaussian block is a chain of
multivariate Student ts, row by row, which is exact as long as only the last of them has a hole.
"""

from functools import cache
from math import lgamma, log, log1p, pi

import numpy as np
from scipy.special import betaln, logsumexp
from scipy.stats import expon, gamma, multivariate_t, poisson


def _binary(family, column, cells):
    zero, one = family.prior[:, column]
    ones = sum(cells)
    return betaln(one + ones, zero + len(cells) - ones) - betaln(one, zero)


def _categorical(family, column, cells):
    urn = list(family.prior[family.start[column] : family.start[column + 1]])
    total = 0.0
    for cell in cells:
        total += log(urn[cell] / sum(urn))
        urn[cell] += 1.0
    return total


def _real(family, column, cells):
    """Density of Student's t with scale matrix scale2 (I + 11' / kappa)."""
    return _student(*family.prior[:, column], cells, family.grain[column])


def _student(mean, kappa, nu, scale2, cells, grain):
    """The same with so much more in the squared deviation of each cell."""
    n, away = len(cells), [x - mean for x in cells]
    log_det = n * log(scale2) + log1p(n / kappa)
    square = sum(d * d + grain for d in away) - sum(away) ** 2 / (kappa + n)
    square /= scale2
    norm = lgamma((nu + n) / 2) - lgamma(nu / 2) - n / 2 * log(nu * pi)
    return norm - log_det / 2 - (nu + n) / 2 * log1p(square / nu)


def _spiked(family, column, cells):
    """A Beta integral over the share of infinite cells, times the density of the others."""
    *normal, others, atom = family.prior[:, column]
    rest = [x for x in cells if x < np.inf]
    atoms = len(cells) - len(rest)
    total = betaln(atom + atoms, others + len(rest)) - betaln(atom, others)
    return total + (_student(*normal, rest, family.grain[column]) if rest else 0.0)


@cache
def _nodes():
    return np.polynomial.legendre.leggauss(400)


def _count(family, column, cells):
    return _integral_over_rates(*family.prior[:, column].tolist(), tuple(cells))


@cache
def _integral_over_rates(a, b, cells):
    """Prior times likelihood by quadrature over log rate, around the mode."""
    shape, rate = a + sum(cells), b + len(cells)
    mode, reach = log(shape / rate), 12.0 / shape**0.5
    nodes, weights = _nodes()
    low, high = mode - reach - 30.0 / shape, mode + min(reach, 6.0 + log1p(1.0 / shape))
    u = low + (high - low) * (nodes + 1.0) / 2.0  # u = log rate
    log_prior = gamma.logpdf(np.exp(u), a, scale=1.0 / b) + u
    log_likelihood = sum(poisson.logpmf(x, np.exp(u)) for x in cells)
    return logsumexp(log_prior + log_likelihood, b=weights * (high - low) / 2.0)


def _waiting(family, column, cells):
    """A Gamma integral over the rate, by quadrature over its log."""
    a, b = family.prior[:, column]
    shape, rate = a + len(cells), b + sum(cells)
    nodes, weights = _nodes()
    reach = 12.0 / shape**0.5 + 30.0 / shape
    u = log(shape / rate) - reach + (reach + 8.0) * (nodes + 1.0) / 2.0
    log_prior = gamma.logpdf(np.exp(u), a, scale=1.0 / b) + u
    log_likelihood = sum(expon.logpdf(x, scale=np.exp(-u)) for x in cells)
    return logsumexp(log_prior + log_likelihood, b=weights * (reach + 8.0) / 2.0)


def _gaussian(family, block):
    """Chain of predictives; rows with holes come last, and all but the last have none."""
    rows = sorted(block.tolist(), key=lambda row: sum(x != x for x in row))
    rows = tuple(tuple(row) for row in rows if any(x == x for x in row))
    assert not any(x != x for row in rows[:-1] for x in row)
    return _chain_of_ts(tuple(map(tuple, family.prior.tolist())), rows)


@cache
def _chain_of_ts(prior, rows):
    if not rows:
        return 0.0
    prior, past = np.array(prior), np.array(rows[:-1]).reshape(len(rows) - 1, len(rows[0]))
    mean, kappa, nu, psi = prior[0], prior[1, 0], prior[2, 0], prior[3:]
    for x in past:  # conjugate updates, one row at a time
        psi = psi + kappa / (kappa + 1.0) * np.outer(x - mean, x - mean)
        mean = (kappa * mean + x) / (kappa + 1.0)
        kappa, nu = kappa + 1.0, nu + 1.0
    x, seen = np.array(rows[-1]), np.array([x == x for x in rows[-1]])
    shape = (psi * (kappa + 1.0) / (kappa * nu))[np.ix_(seen, seen)]
    score = multivariate_t.logpdf(x[seen], mean[seen], shape, nu)
    return _chain_of_ts(tuple(map(tuple, prior.tolist())), rows[:-1]) + float(score)


MARGINALS = {
    "BetaBernoulli": _binary,
    "DirichletCategorical": _categorical,
    "NormalInverseChiSquared": _real,
    "GammaPoisson": _count,
    "SpikedNormal": _spiked,
    "GammaExponential": _waiting,  # of CONTRIBUTING.md
}


def log_marginal(families, X, rows):
    """Log marginal likelihood of the rows as one group of a product of families."""
    total = 0.0
    for family, block in zip(families, X, strict=True):
        if type(family).__name__ == "NormalInverseWishart":
            total += _gaussian(family, block[list(rows)])
            continue
        marginal = MARGINALS[type(family).__name__]
        for d in range(block.shape[1]):
            cells = [x for x in block[list(rows), d].tolist() if (x == x if _float(x) else x >= 0)]
            total += marginal(family, d, cells) if cells else 0.0
    return total


KNOWN = {}  # what `_log_marginals` has found


def _log_marginals(families, X):
    """Log marginal likelihood of every set of rows, by bit masks.

    Alpha and bounds change none of them, and one more row only adds the sets with this row: each
    set is computed once, for all enumerations of the same rows.
    """
    n = len(X[0])
    key = _content(families), _content(X)
    if key not in KNOWN:
        fewer = _log_marginals(families, tuple(x[:-1] for x in X)) if n else []
        sets = [[i for i in range(n) if m >> i & 1] for m in range(len(fewer), 2**n)]
        KNOWN[key] = fewer + [log_marginal(families, X, rows) for rows in sets]
    return KNOWN[key]


def _content(values):
    """What arrays hold, and families of arrays, as a key."""
    if isinstance(values, np.ndarray):
        return values.shape, values.dtype.str, values.tobytes()
    if isinstance(values, tuple):
        return type(values).__name__, *map(_content, values)
    return values


def log_beside(families, X, groups, i, alpha, bound=None):
    """Log density of row i as one more beside groups of rows, a new group among them."""
    room = alpha if bound is None or len(groups) < bound else 0.0
    mass = np.array([*map(len, groups), room])
    scores = [
        log_marginal(families, X, [*rows, i]) - log_marginal(families, X, rows)
        for rows in [*groups, []]
    ]
    return logsumexp(scores, b=mass) - log(mass.sum())


def _float(x):
    return isinstance(x, float)


@cache
def partitions(n):
    """All partitions of n rows as restricted growth strings: (Bell(n), n), groups from 0 on."""
    if n == 0:
        return np.zeros((1, 0), np.int64)
    return np.array(
        [[*z, k] for z in partitions(n - 1).tolist() for k in range(max(z, default=-1) + 2)]
    )


@cache
def _blocks(n):
    """The groups of each partition as bit masks, padded with the mask 0: (Bell(n), n)."""
    z = partitions(n)
    return np.stack([((z == k) << np.arange(n)).sum(axis=1) for k in range(n)], axis=1)


def bell(n):
    """Number of partitions of n rows."""
    return len(partitions(n))


def log_crp(n, alpha):
    """Log prior probability of each partition of n rows."""
    masks = _blocks(n)
    term = np.array([0.0] + [log(alpha) + lgamma(m.bit_count()) for m in range(1, 2**n)])
    return term[masks].sum(axis=1) - sum(log(alpha + i) for i in range(n))


def stack(X, Y):
    """The rows of X, then those of Y."""
    return tuple(np.concatenate([x, y]) for x, y in zip(X, Y, strict=True))


def hole(X):
    """One row without any observed cell, of the same kinds as X."""
    return tuple(
        np.full((1, x.shape[1]), np.nan if x.dtype.kind == "f" else -1, x.dtype) for x in X
    )


class Enumeration:
    """The posterior over all partitions of the rows X; at most `bound` groups if given.

    Under a bound the prior is the CRP's, restricted and divided by what is left of it.
    """

    def __init__(self, families, X, alpha, bound=None):
        self.families, self.X, self.alpha, self.bound = families, X, alpha, bound
        self.n = n = len(X[0])
        self.z = partitions(n)
        self.n_groups = self.z.max(axis=1, initial=-1) + 1
        table = _log_marginals(families, X)
        prior = log_crp(n, alpha)
        if bound is not None:
            prior = np.where(self.n_groups <= bound, prior, -np.inf)
        self.log_prior = prior - logsumexp(prior)
        log_joint = self.log_prior + np.array(table)[_blocks(n)].sum(axis=1)
        self.log_evidence = logsumexp(log_joint)
        self.weights = np.exp(log_joint - self.log_evidence)

    def n_groups_posterior(self):
        """Entry k is the probability of k groups, k = 0 .. n."""
        return np.bincount(self.n_groups, self.weights, minlength=self.n + 1)

    def co_assignment(self):
        """Entry [i, j] is the probability that rows i and j share a group."""
        return co_assignment(self.z, self.weights)

    def log_predictive(self, Y):
        """Log density of each row of Y as the next row.

        It is p(X, y) / p(X), both under the prior for n + 1 rows. With a bound that prior
        says more of the first n rows than the prior for n rows does: a partition that
        leaves the next row more room weighs more. Without one it makes no difference.
        """
        return np.array([self._extended(y) for y in _rows(Y)]) - self._extended(hole(self.X))

    def _extended(self, y):
        return Enumeration(self.families, stack(self.X, y), self.alpha, self.bound).log_evidence


def _rows(Y):
    return [tuple(y[i : i + 1] for y in Y) for i in range(len(Y[0]))]


def co_assignment(z, weights):
    """Posterior probability that two rows share a group, from weighted partitions."""
    return np.einsum("p,pij->ij", weights, z[:, :, None] == z[:, None, :])
