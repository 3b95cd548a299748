"""Moments of every two columns, from the rows that have both of them.

For columns i and j let the rows be those in which neither is missing. Kept are their number,
the mean and the squared deviations of i among them, and the co-deviation of i and j, so a
table of pairs is four matrices. They are sums over rows in disguise (Welford's updates): no order
of rows, no removal, no merge and no change of a prior makes them wrong, and a column of time
stamps keeps its digits. Without holes all pairs have the same rows.
"""

from infinimix.kernels.compile import kernel, part

N, MEAN, SQUARE, CROSS = range(4)  # second axis of n, which is (slots, 4, D, D)
DUST = 1e-9  # fewer rows are none


@kernel
def count_pairs(n, k, X, row, w):
    """Add a row to the pairs of group k, w times."""
    for i in range(X.shape[1]):
        x = X[row, i]
        if x == x:
            for j in range(i + 1):
                y = X[row, j]
                if y == y:
                    count_pair(n, k, i, j, x, y, w)


@part
def count_pair(n, k, i, j, x, y, w):
    """Add the cells x and y of columns i and j."""
    rows = n[k, N, i, j] + w
    if rows > DUST:
        dx, dy = x - n[k, MEAN, i, j], y - n[k, MEAN, j, i]
        near = 1.0 - w / rows  # a cell's deviation from the new mean, in units of that from the old
        cross = n[k, CROSS, i, j] + w * near * dx * dy
        n[k, SQUARE, i, j] = max(n[k, SQUARE, i, j] + w * near * dx * dx, 0.0)
        n[k, MEAN, i, j] += w / rows * dx
        if i != j:
            n[k, SQUARE, j, i] = max(n[k, SQUARE, j, i] + w * near * dy * dy, 0.0)
            n[k, MEAN, j, i] += w / rows * dy
        n[k, N, i, j] = n[k, N, j, i] = rows
        n[k, CROSS, i, j] = n[k, CROSS, j, i] = cross
    else:  # the last row left: no dust stays behind
        for field in range(4):
            n[k, field, i, j] = n[k, field, j, i] = 0.0


@kernel
def trim_pairs(n, k):
    """Let no pair have more rows than its columns: rows may be taken away that were not there."""
    for i in range(n.shape[2]):
        for j in range(i):
            rows, most = n[k, N, i, j], min(n[k, N, i, i], n[k, N, j, j])
            if rows > most * (1.0 + DUST):
                for field in (N, SQUARE, CROSS):  # the means stay where they are
                    n[k, field, i, j] *= most / rows
                    n[k, field, j, i] *= most / rows


@kernel
def merge_pairs(n, source, target):
    """Add the rows of one group to another."""
    for i in range(n.shape[2]):
        for j in range(i + 1):
            a, b = n[target, N, i, j], n[source, N, i, j]
            if b > 0.0:
                share = b / (a + b)
                dx = n[source, MEAN, i, j] - n[target, MEAN, i, j]
                dy = n[source, MEAN, j, i] - n[target, MEAN, j, i]
                cross = n[target, CROSS, i, j] + n[source, CROSS, i, j] + a * share * dx * dy
                n[target, SQUARE, i, j] += n[source, SQUARE, i, j] + a * share * dx * dx
                n[target, MEAN, i, j] += share * dx
                if i != j:
                    n[target, SQUARE, j, i] += n[source, SQUARE, j, i] + a * share * dy * dy
                    n[target, MEAN, j, i] += share * dy
                n[target, N, i, j] = n[target, N, j, i] = a + b
                n[target, CROSS, i, j] = n[target, CROSS, j, i] = cross
