"""Means of the cells of rows by a mixture of gaussian blocks, also of rows without one cell each.

The t of some cells given others is that of `conditional`. Here all rows of a group are done at
once, whatever is missing in them: a missing cell has a 1 on the diagonal of R, all else is 0.
"""

import numpy as np
from scipy.special import gammaln

from infinimix.kernels.matrices import LEAST_PIVOT


def expect_cells(groups, log_weight, X):
    """Return the mean of each cell of rows of a mixture of groups, (rows, d).

    An observed cell is its own mean. It is what `fill_cells` finds, without spreads.
    """
    return _mix(groups, log_weight, X, _Given.means)[0]


def expect_without(groups, log_weight, X):
    """Return what `expect_cells` says of the rows as they are and without each of the columns.

    The result is (1 + d, rows, d); the first table is that of whole rows, then column 0 is left
    out and so on. Without cell j a row is as if that had its mean given the others, and density and
    mean follow from the inverse for the whole row: with v = R_oo^-1 u and s = diag(R_oo^-1) the
    cell falls by v_j / s_j, the sum of squares by v_j^2 / s_j, and log |R_oo| grows by log s_j.
    """
    return _mix(groups, log_weight, X, _Given.means_without)


class _Given:
    """One group given the observed cells of each row."""

    def __init__(self, group, X):
        self.place, self.unit, R, self.degrees = group
        self.seen = seen = ~np.isnan(X)
        self.u = np.where(seen, (X - self.place) / self.unit, 0.0)
        both, eye = seen[:, :, None] & seen[:, None, :], np.eye(len(R))
        inverse = np.linalg.inv(np.where(both, R + LEAST_PIVOT * eye, eye))
        self.v = np.einsum("nij,nj->ni", inverse, self.u)
        self.s = np.diagonal(inverse, axis1=1, axis2=2)
        self.log_det = -np.linalg.slogdet(inverse)[1]
        others = np.where(seen[:, None, :], R @ inverse, 0.0)
        self.fill = np.where(seen[:, :, None], eye, others)  # from observed cells to all
        self.squares = (self.u * self.v).sum(axis=1)
        self.log_unit = np.where(seen, np.log(self.unit), 0.0)
        self.mean = np.einsum("nij,nj->ni", self.fill, self.u)

    def means(self):
        """Return one table of means, and the log densities of rows."""
        log_norm = self.log_unit.sum(axis=1) + 0.5 * self.log_det
        density = self._log_t(self.seen.sum(axis=1), self.squares) - log_norm
        return (self.place + self.unit * self.mean)[None], density[None]

    def means_without(self):
        """Return a table of whole rows, and one for each column that is left out."""
        whole, density = self.means()
        fall = np.where(self.seen, self.v / self.s, 0.0)
        mean = self.mean - (self.fill * fall[:, None, :]).transpose(2, 0, 1)
        log_norm = self.log_unit.sum(axis=1)[:, None] - self.log_unit
        log_norm = log_norm + 0.5 * (self.log_det[:, None] + np.log(self.s))
        count = self.seen.sum(axis=1)[:, None] - self.seen
        left = self._log_t(count, self.squares[:, None] - fall * self.v) - log_norm
        means = np.concatenate([whole, self.place + self.unit * mean])
        return means, np.concatenate([density, left.T])

    def _log_t(self, count, squares):
        half = 0.5 * self.degrees
        log_norm = gammaln(half + 0.5 * count) - gammaln(half) - 0.5 * np.log(np.pi) * count
        return log_norm - (half + 0.5 * count) * np.log1p(np.maximum(squares, 0.0))


def _mix(groups, log_weight, X, ask):
    """Average the means of all groups; sums are scaled by the largest term so far."""
    top, total, sums = -np.inf, 0.0, 0.0
    parts = zip(groups.place, groups.unit, groups.R, groups.degrees, strict=True)
    for group, weight in zip(parts, log_weight, strict=True):
        if weight == -np.inf:  # no new group where their number is bounded
            continue
        means, log_density = ask(_Given(group, X))
        log_density = log_density + weight
        higher = np.maximum(top, log_density)
        old, new = np.exp(top - higher), np.exp(log_density - higher)
        total = total * old + new
        sums = sums * old[..., None] + means * new[..., None]
        top = higher
    return sums / total[..., None]
