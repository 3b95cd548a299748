"""Student's multivariate t of some cells of a gaussian block given the others.

With u the observed deviations in units of sqrt(degrees) * scale and R the correlations, cells m
given o have the mean R_mo R_oo^-1 u in those units, the degrees of freedom grow by the number of
observed cells, and the squared scale is (1 + u' R_oo^-1 u) / (new degrees) times the conditional
correlations. Rows with the same holes are done together. Plain NumPy, for many rows at once.
"""

import numpy as np

from infinimix.kernels.matrices import LEAST_PIVOT

ROWS_AT_ONCE = 256  # a table of so many rows, all slots and all columns is held at once
LEAST_DEGREES = 3.0  # of freedom, where a spread is asked for: below, variances are infinite


class Groups:
    """What is known of S groups: place and sqrt(degrees) * scale of columns, R and degrees."""

    def __init__(self, place, unit, R, degrees):
        self.place, self.unit, self.R, self.degrees = place, unit, R, degrees

    def of(self, slots):
        """Return some of the groups."""
        return Groups(self.place[slots], self.unit[slots], self.R[slots], self.degrees[slots])


class Conditional:
    """The cells m of rows given their cells o, in each of some groups."""

    def __init__(self, groups, o, m):
        self.groups, self.o, self.m = groups, o, m
        cross, R = groups.R[:, m][:, :, o], groups.R[:, o][:, :, o]
        values, vectors = np.linalg.eigh(R)
        inverse = 1.0 / np.maximum(values, LEAST_PIVOT)
        self.root = vectors * np.sqrt(inverse)[:, None]  # times its transpose: R_oo^-1
        self.coefficients = cross @ self.root
        self.rest = groups.R[:, m][:, :, m] - self.coefficients @ self.coefficients.swapaxes(1, 2)

    def given(self, k, x):
        """Return mean and scale of the cells m, and their degrees, for rows with cells x = o.

        k is a group for each row; or a slice, and then x has an axis of length 1 for them.
        """
        g = self.groups
        u = (x - g.place[k][:, self.o]) / g.unit[k][:, self.o]
        u = np.einsum("kop,...ko->...kp", self.root[k], u)
        mean = np.einsum("kmp,...kp->...km", self.coefficients[k], u)
        degrees, unit = g.degrees[k] + len(self.o), g.unit[k][:, self.m]
        scale = unit * np.sqrt((1.0 + (u * u).sum(axis=-1)) / degrees)[..., None]
        return g.place[k][:, self.m] + unit * mean, scale, degrees


def patterns(X):
    """Yield (rows, observed columns, missing columns) for each pattern of holes, in portions."""
    seen, which = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    for p, columns in enumerate(seen):
        rows = np.flatnonzero(which.ravel() == p)
        if not columns.all():
            for start in range(0, len(rows), ROWS_AT_ONCE):
                part = rows[start : start + ROWS_AT_ONCE]
                yield part, np.flatnonzero(columns), np.flatnonzero(~columns)


def draw_cells(groups, slots, X, rng):
    """Return X with its holes drawn, row i from group slots[i] given its observed cells."""
    result = np.array(X)
    for rows, o, m in patterns(X):
        held, k = np.unique(slots[rows], return_inverse=True)
        conditional = Conditional(groups.of(held), o, m)
        mean, scale, degrees = conditional.given(k, X[rows][:, o])
        values, vectors = np.linalg.eigh(conditional.rest)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None]
        noise = np.einsum("kmp,kp->km", root[k], rng.standard_normal(mean.shape))
        noise /= np.sqrt(rng.chisquare(degrees) / degrees)[:, None]
        result[np.ix_(rows, m)] = mean + scale * noise
    return result


def fill_cells(groups, weight, X):
    """Return mean and standard deviation of each cell; row i is in group k by weight[i, k]."""
    value, spread = np.array(X), np.zeros(X.shape)
    for rows, o, m in patterns(X):
        conditional, w = Conditional(groups, o, m), weight[rows]
        mean, scale, degrees = conditional.given(slice(None), X[rows][:, None, o])
        wide = np.maximum(degrees, LEAST_DEGREES)
        share = np.diagonal(conditional.rest, axis1=1, axis2=2)
        variance = scale**2 * np.maximum(share, 0.0) * (wide / (wide - 2.0))[:, None]
        centre = np.einsum("rk,rkm->rm", w, mean)
        variance = variance + (mean - centre[:, None]) ** 2
        value[np.ix_(rows, m)] = centre
        spread[np.ix_(rows, m)] = np.sqrt(np.einsum("rk,rkm->rm", w, variance))
    return value, spread
