"""The assignment step: costs from scores, the best cluster of each row, sums for the means.

The cost of row i in cluster k is Q_i(k) = s D(x_i, mu_k) + 2c sum_o (l - y_io eta_ko.x_i)_+ over
the outputs o of the expert (eq. 31 of the paper, which has one output). The scores come from a
matrix product over a chunk of rows.
"""

import numpy as np

from infinimix.kernels.compile import kernel


@kernel
def choose(S, phi, Y, s, hinge, margin, z, cost, second_cost, second):
    """Fill z with the best cluster, second with the next, and the costs of both.

    `S` has for each row a column: the K linear parts of the divergences, then K times C scores of
    the experts. A row stays where it is unless another cluster is strictly better; z = -1 has no
    former cluster. Loops over rows are innermost, without branches, so that they vectorise.
    """
    n, C = Y.shape
    K = S.shape[0] // (1 + C)
    here, own, at = np.empty(n), np.empty(n), np.zeros(n, np.int64)
    for i in range(n):
        cost[i] = second_cost[i] = own[i] = np.inf
        second[i] = -1
    for k in range(K):
        for i in range(n):
            total = phi[i] + S[k, i]
            here[i] = s * (total if total > 0.0 else 0.0)
        for o in range(C):
            f = S[K + k * C + o]
            for i in range(n):
                gap = margin - Y[i, o] * f[i]
                here[i] += hinge * (gap if gap > 0.0 else 0.0)
        for i in range(n):
            q, low, next_low, now = here[i], cost[i], second_cost[i], at[i]
            wins, places = q < low, q < next_low
            own[i] = q if z[i] == k else own[i]
            second[i] = now if wins and low < np.inf else (k if places else second[i])
            second_cost[i] = low if wins else (q if places else next_low)
            cost[i] = q if wins else low
            at[i] = k if wins else now
    for i in range(n):
        if own[i] <= cost[i] and z[i] != at[i]:  # a tie: it stays
            second_cost[i], second[i], at[i] = cost[i], at[i], z[i]
        z[i] = at[i]


@kernel
def add_up(F, weight, z, d, n, total):
    """Add the observed cells of each cluster, and their weights, to total and n."""
    incomplete = F.shape[1] > d + 1
    for i in range(F.shape[0]):
        k, w = z[i], weight[i]
        for j in range(d):
            total[k, j] += w * F[i, j]
            n[k, j] += w * (1.0 - F[i, d + 1 + j]) if incomplete else w


@kernel
def group(z, K):
    """Return the rows of cluster after cluster, and where each begins."""
    start = np.zeros(K + 1, np.int64)
    for i in range(z.shape[0]):
        start[z[i] + 1] += 1
    order, place = np.empty(z.shape[0], np.int64), np.empty(K, np.int64)
    for k in range(K):
        place[k] = start[k]
        start[k + 1] += start[k]
    for i in range(z.shape[0]):
        order[place[z[i]]] = i
        place[z[i]] += 1
    return order, start


@kernel
def pass_in_order(F, phi, weight, offers, s, lam, W, size, z):
    """One pass of DP-means in the order of the rows: a row farther than lam opens a cluster.

    `offers[i]` is the cluster that row i would open; W has room for more, z is -1 at first.
    Return the number of clusters, or -1 - i when row i finds no room.
    """
    for i in range(F.shape[0]):
        low, at = np.inf, -1
        for k in range(size):
            total = phi[i]
            for j in range(F.shape[1]):
                total += F[i, j] * W[k, j]
            total = s * weight[i] * max(total, 0.0)
            if total < low or (total == low and k == z[i]):
                low, at = total, k
        if low > lam:
            if size == W.shape[0]:
                return -1 - i
            for j in range(W.shape[1]):
                W[size, j] = offers[i, j]
            at = size
            size += 1
        z[i] = at
    return size
