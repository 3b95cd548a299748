"""Numbers that are often one and the same value: a cell is +inf (that value), a number or NaN.

The value has a name here, the **atom**, but not a size: the table writes +inf for it. Each cell is
the atom with a probability that has a Beta prior, and otherwise a number with the
Normal-inverse-chi-squared prior of `normal`:

    p(atom) = (a + atoms) / (a + b + n),    p(x) = (1 - p(atom)) Student(x)

So the atom has a mass where a normal column would have a density: groups cannot win by being
narrow around it. The other cells have a resolution, as those of `normal` have.

Hidden here: the first rows of the arrays are those of `normal`, whose functions do the work for all
cells but the atom; the share of the others is in Student's norm already.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families import normal, normal_estimates, product, seam
from infinimix.families.base_measures import find_beta, find_normal
from infinimix.families.normal import CENTRE, NORM, PLACE, POWER, SPREAD, TIGHTNESS, N
from infinimix.families.registration import register
from infinimix.kernels.elementary import log
from infinimix.kernels.gamma import rise

REST, ATOM = 4, 5  # first axis of prior, behind mean, kappa, nu and scale^2
ATOMS = 3  # second axis of n, behind the count, mean and squared deviations of the rest
LOG_ATOM = 4  # second axis of t, behind place, tightness, power and norm
FEATURES = 2  # of a column: is it the atom; and if not, where is it


class SpikedNormal(NamedTuple):
    """Hyper-parameters of D independent columns of numbers with an atom."""

    prior: np.ndarray  # (6, D) mean, kappa, nu, scale^2; pseudo-counts of the rest and of the atom
    grain: np.ndarray  # (D,) d^2 / 12 of the resolution d


class SpikedStats(NamedTuple):
    """Statistics of K groups."""

    n: np.ndarray  # (K, 4, D) count, mean and squared deviations of the rest; count of the atom
    t: np.ndarray  # (K, 5, D) Student's t of the rest, its norm with log p(rest); log p(atom)


@seam.empty.implement(SpikedNormal)
def _(family, slots):
    columns = family.prior.shape[1]
    stats = SpikedStats(np.zeros((slots, 4, columns)), np.zeros((slots, 5, columns)))
    product.refresh_alike(family, stats)
    return stats


@seam.count.implement(SpikedNormal)
def _(family, stats, k, X, i, w):
    n = stats.n
    for d in range(X.shape[1]):
        x = X[i, d]
        if x == np.inf:
            atoms = n[k, ATOMS, d] + w
            n[k, ATOMS, d] = atoms if atoms > 1e-9 else 0.0
        elif x == x:
            normal.count_cell(n, k, d, x, w)


@seam.refresh.implement(SpikedNormal)
def _(family, stats, k):
    prior, n, t = family.prior, stats.n, stats.t
    for d in range(prior.shape[1]):
        normal.refresh_column(prior, family.grain, n, t, k, d)
        rest, atoms = prior[REST, d] + n[k, N, d], prior[ATOM, d] + n[k, ATOMS, d]
        t[k, NORM, d] += log(rest / (rest + atoms))
        t[k, LOG_ATOM, d] = log(atoms / (rest + atoms))


@seam.score.implement(SpikedNormal)
def _(family, stats, X, i, live, out):
    t, width = stats.t, X.shape[1]
    x, rest, atom = np.empty(width), np.empty(width), np.empty(width)
    for d in range(width):
        number = abs(X[i, d]) < np.inf
        rest[d], x[d] = 1.0 if number else 0.0, X[i, d] if number else 0.0
        atom[d] = 1.0 if X[i, d] == np.inf else 0.0
    for k in live:
        total = 0.0
        for d in range(width):
            z = x[d] - t[k, PLACE, d]
            tail = t[k, POWER, d] * log(1.0 + t[k, TIGHTNESS, d] * z * z)
            total += rest[d] * (t[k, NORM, d] - tail) + atom[d] * t[k, LOG_ATOM, d]
        out[k] += total


@seam.column_evidence.implement(SpikedNormal)
def _(family, stats, k, out):
    prior, n = family.prior, stats.n
    for d in range(prior.shape[1]):
        b, a = prior[REST, d], prior[ATOM, d]
        rest, atoms = n[k, N, d], n[k, ATOMS, d]
        total = rise(b, rest) + rise(a, atoms) - rise(a + b, rest + atoms)
        total += normal.log_evidence(prior, family.grain, n, k, d)
        out[d] += total if rest + atoms > 0.0 else 0.0


@seam.fade.implement(SpikedNormal)
def _(family, stats, share):
    stats.n[:, (N, SPREAD, ATOMS)] *= share  # the mean stays where it is


@seam.features.implement(SpikedNormal)
def _(family, stats, X, i, first, index, value):
    """Describe the atom by +1; other cells by -1, and by deviations from the mean of group 0."""
    used = 0
    for d in range(X.shape[1]):
        x = X[i, d]
        if x == x:
            atom = x == np.inf
            index[used], value[used] = first + FEATURES * d, 1.0 if atom else -1.0
            used += 1
            if not atom:
                index[used] = first + FEATURES * d + 1
                value[used] = normal.deviations(stats.t, 0, d, x)
                used += 1
    return used


@seam.n_features.implement(SpikedNormal)
def _(family):
    return FEATURES * family.prior.shape[1]


@seam.merge.implement(SpikedNormal)
def _(family, stats, source, target):
    n = stats.n
    for d in range(n.shape[2]):
        normal.merge_column(n, source, target, d)
        n[target, ATOMS, d] += n[source, ATOMS, d]
    seam.refresh(family, stats, target)


@seam.sound.implement(SpikedNormal)
def _(family, stats):
    return np.isfinite(stats.n).all() and (np.delete(stats.n, CENTRE, axis=1) >= 0.0).all()


@seam.prior.implement(SpikedNormal)
def _(family, pool, given, factors):
    return seam.unstacked(seam.prior_finder(family, pool, given)(factors[None]), 0)


@seam.prior_finder.implement(SpikedNormal)
def _(family, pool, given):
    """Find a Beta prior of the atom beside the prior of real columns for all other cells."""
    even, grain = np.ones((1, len(given))), family.grain[None]
    beta = find_beta(given, pool.n[0, N], pool.n[0, ATOMS])(even, even)
    normal_at = find_normal(given, pool.n[0])

    def at(factors):
        table = np.empty((len(factors), REST + 2, len(given)))
        table[:, :REST], table[:, REST:] = normal_at(factors), beta
        return SpikedNormal(table, grain)

    return at


@seam.typical.implement(SpikedNormal)
def _(family, stats, slots):
    """Return the atom if it is more probable than not, else the posterior mean of the rest."""
    t = stats.t[slots]
    return np.where(t[:, LOG_ATOM] > np.log(0.5), np.inf, t[:, PLACE])


@seam.draw.implement(SpikedNormal)
def _(family, stats, slots, X, rng):
    t = stats.t[slots]
    atom = rng.random(t[:, LOG_ATOM].shape) < np.exp(t[:, LOG_ATOM])
    return seam.keep_observed(X, np.where(atom, np.inf, normal.draw_student(t, rng)))


@seam.fill.implement(SpikedNormal)
def _(family, stats, weight, X):
    """Return the atom where it is at least as probable as not, else the mean of the rest.

    The spread of the atom is the probability that it is wrong, that of a mean the standard
    deviation of the rest: what the cell is if it is a number.
    """

    def column(d, rows):
        t = stats.t[:, :, d]
        atom = np.clip(weight[rows] @ np.exp(t[:, LOG_ATOM]), 0.0, 1.0)
        rest = weight[rows] * -np.expm1(t[:, LOG_ATOM])
        total = rest.sum(axis=1, keepdims=True)
        rest = np.divide(rest, total, out=weight[rows], where=total > 0.0)
        value, spread = seam.mix_moments(rest, *normal.student_moments(t))
        sure = atom >= 0.5
        return np.where(sure, np.inf, value), np.where(sure, 1.0 - atom, spread)

    return seam.fill_columns(X, column)


@seam.count_rows.implement(SpikedNormal)
def _(family, stats, weight, X):
    atom = X == np.inf
    stats.n[:, ATOMS] += weight.T @ atom.astype(float)
    normal_estimates.count_numbers(family.prior, stats.n, weight, np.where(atom, np.nan, X))


@seam.estimate_point.implement(SpikedNormal)
def _(family, stats, mode):
    log_prior = normal_estimates.estimate_numbers(family, stats.n, stats.t, mode)
    pseudo = family.prior[[REST, ATOM]]
    pseudo = np.maximum(pseudo - 1.0, seam.FLOOR) if mode else pseudo
    logs = np.log(stats.n[:, (N, ATOMS)] + pseudo)
    logs -= np.logaddexp(logs[:, 0], logs[:, 1])[:, None]
    stats.t[:, NORM] += logs[:, 0]
    stats.t[:, LOG_ATOM] = logs[:, 1]
    return log_prior + (logs * pseudo).sum(axis=(1, 2))


@seam.freedom.implement(SpikedNormal)
def _(family):
    return 3 * family.prior.shape[1]


register(SpikedNormal, np.float64)
