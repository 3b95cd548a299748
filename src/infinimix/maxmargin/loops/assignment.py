"""The assignment step: costs from scores, the best cluster of each row, sums for the means.

The cost of row i in cluster k is Q_i(k) = s D(x_i, mu_k) + 2c sum_o (l - y_io eta_ko.x_i)_+ over
the outputs o of the expert (eq. 31 of the paper, which has one output). The scores come from a
matrix product over a chunk of rows.
"""

import numpy as np

from infinimix.kernels.compile import kernel


@kernel
def choose(S, phi, Y, s, hinge, margin, z, best, second, rival, own):
    """Fill z with the best cluster, and the costs of the best, second best and former cluster.

    `S` has the K linear parts of the divergences, then K times C scores of the experts. A row
    stays where it is unless another cluster is strictly better; z = -1 has no former cluster.
    """
    n, C = Y.shape
    K = S.shape[1] // (1 + C)
    cost = np.empty(K)
    for i in range(n):
        for k in range(K):
            cost[k] = s * max(phi[i] + S[i, k], 0.0)
        if C == 1:
            y = Y[i, 0]
            for k in range(K):
                cost[k] += hinge * max(margin - y * S[i, K + k], 0.0)
        else:
            for k in range(K):
                total = 0.0
                for o in range(C):
                    total += max(margin - Y[i, o] * S[i, K + k * C + o], 0.0)
                cost[k] += hinge * total
        low, next_low, at, next_at = np.inf, np.inf, 0, -1
        for k in range(K):
            if cost[k] < low:
                low, next_low, at, next_at = cost[k], low, k, at if low < np.inf else -1
            elif cost[k] < next_low:
                next_low, next_at = cost[k], k
        own[i] = np.inf
        if z[i] >= 0:
            own[i] = cost[z[i]]
            if own[i] <= low and z[i] != at:  # a tie: it stays
                next_low, next_at, at = low, at, z[i]
        z[i], best[i], second[i], rival[i] = at, low, next_low, next_at


@kernel
def add_up(F, z, d, n, total):
    """Add the observed cells of each cluster, and their number, to total and n."""
    holes = F.shape[1] > d + 1
    for i in range(F.shape[0]):
        k = z[i]
        for j in range(d):
            total[k, j] += F[i, j]
            n[k, j] += 1.0 - F[i, d + 1 + j] if holes else 1.0


@kernel
def group(z, K):
    """Return the rows of cluster after cluster, and where each begins."""
    start = np.zeros(K + 1, np.int64)
    for k in z:
        start[k + 1] += 1
    for k in range(K):
        start[k + 1] += start[k]
    order, place = np.empty(z.shape[0], np.int64), start.copy()
    for i in range(z.shape[0]):
        order[place[z[i]]] = i
        place[z[i]] += 1
    return order, start


@kernel
def pass_in_order(F, phi, offers, scale, price, W, size, z):
    """One pass of DP-means in the order of the rows: a row farther than the price opens a cluster.

    `offers[i]` is the cluster that row i would open; W has room for more, z is -1 at first.
    Return the number of clusters, or -1 - i when row i finds no room.
    """
    for i in range(F.shape[0]):
        low, at = np.inf, -1
        for k in range(size):
            total = phi[i]
            for j in range(F.shape[1]):
                total += F[i, j] * W[k, j]
            total = scale * max(total, 0.0)
            if total < low or (total == low and k == z[i]):
                low, at = total, k
        if low > price:
            if size == W.shape[0]:
                return -1 - i
            W[size] = offers[i]
            at = size
            size += 1
        z[i] = at
    return size
