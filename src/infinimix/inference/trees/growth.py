"""One decision tree on binned cells, grown depth first.

A node holds rows with g_ik and h_ik, k = 1 .. K outputs. Its value is G_k / (H_k + ridge), where G
and H are sums over its rows, and it is split where sum_k G_k^2 / (H_k + ridge) grows most. With
g = 1 for the class of the row, h = 1 and no ridge that is Gini's criterion, and the values are
shares of classes; with the negative gradient and the curvature of a loss it is a Newton step.

A number is split at a bin (left: at most), a category into one against the others. A missing cell
says nothing: it counts for no split, and its row goes to a random side, in proportion to the rows
whose cell is there. Answers follow both sides instead (`paths`).
"""

import numpy as np

from infinimix.kernels.compile import kernel, part

HOLE = 255  # bin of a missing cell
LEAF = -1  # as the column of a node
LEAST_GAIN = 1e-9


@part
def draw(state):
    """Return the next state of a generator (Park and Miller's), which is in 1 .. 2^31 - 2."""
    return state * 48271 % 2147483647


@kernel
def grow(bins, is_category, g, h, rows, n_try, deepest, least, ridge, state, tree):
    """Fill the arrays of a tree; return its number of nodes.

    Parameters
    ----------
    bins : array (columns, n) of uint8
        The cells.
    is_category : array (columns,) of bool
        Which columns have bins without an order.
    g, h : arrays (n, K)
        What each row adds to its node.
    rows : array of int64
        The rows to learn, in any order; they are reordered.
    n_try : int
        How many columns, drawn at random, a node looks at.
    deepest, least, ridge
        Most splits above a leaf, fewest rows of a leaf whose cell is there, and the ridge.
    state : int
        Seed, 1 .. 2^31 - 2.
    tree : tuple of arrays
        Column (int16; LEAF at a leaf), bin (uint8), left child (int32; the right one is next to
        it), share of the left child (float32), values (nodes, K) (float32).
    """
    column, threshold, child, share, value = tree
    n_columns, K = bins.shape[0], g.shape[1]
    order = np.arange(n_columns)
    hist_g, hist_h = np.zeros((256, K)), np.zeros((256, K))
    node_g, node_h = np.empty((rows.shape[0], K)), np.empty((rows.shape[0], K))  # in their order
    count = np.zeros(256, np.int64)
    G, H = np.empty(K), np.empty(K)
    room = 2 * deepest + 4
    todo = np.empty((room, 4), np.int64)  # node, first row, end, depth
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = 0, 0, rows.shape[0], 0
    waiting, n_nodes = 1, 1
    while waiting:
        waiting -= 1
        node, first, end, depth = (
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2], todo[waiting, 3],
        )  # fmt: skip
        for k in range(K):
            G[k] = H[k] = 0.0
        for r in range(first, end):
            for k in range(K):
                node_g[r, k], node_h[r, k] = g[rows[r], k], h[rows[r], k]
                G[k] += node_g[r, k]
                H[k] += node_h[r, k]
        for k in range(K):
            value[node, k] = G[k] / (H[k] + ridge) if H[k] + ridge > 0.0 else 0.0
        column[node], threshold[node], child[node], share[node] = LEAF, 0, 0, 0.0
        if depth == deepest or end - first < 2 * least or n_nodes + 2 > column.shape[0]:
            continue
        best, at, cut, part_left = LEAST_GAIN, LEAF, 0, 0.0
        tried, left_to_draw = 0, n_columns
        while tried < n_try and left_to_draw:
            state = draw(state)
            q = state % left_to_draw
            left_to_draw -= 1
            f = order[q]
            order[q] = order[left_to_draw]
            order[left_to_draw] = f
            low, high, seen = fill(bins[f], node_g, node_h, rows, first, end, hist_g, hist_h, count)
            if low < high:
                tried += 1
                gain, t, n_left = find_cut(
                    is_category[f], low, high, seen, least, ridge, hist_g, hist_h, count, G, H
                )
                if gain > best:
                    best, at, cut, part_left = gain, f, t, n_left / seen
            for b in range(low, high + 1):
                count[b] = 0
                for k in range(K):
                    hist_g[b, k] = hist_h[b, k] = 0.0
        if at == LEAF:
            continue
        column[node], threshold[node], child[node], share[node] = at, cut, n_nodes, part_left
        middle = first
        for r in range(first, end):
            i = rows[r]
            b = bins[at, i]
            if b == HOLE:
                state = draw(state)
                goes_left = state < part_left * 2147483647.0
            else:
                goes_left = b == cut if is_category[at] else b <= cut
            if goes_left:
                rows[r] = rows[middle]
                rows[middle] = i
                middle += 1
        for side in range(2):
            todo[waiting, 0] = n_nodes + side
            todo[waiting, 1] = middle if side else first
            todo[waiting, 2] = end if side else middle
            todo[waiting, 3] = depth + 1
            waiting += 1
        n_nodes += 2
    return n_nodes


@part
def fill(cells, g, h, rows, first, end, hist_g, hist_h, count):
    """Add the rows of a node to the bins of a column; return the range of bins, and their rows."""
    low, high, seen = HOLE, -1, 0
    K = g.shape[1]
    for r in range(first, end):
        b = np.int64(cells[rows[r]])
        if b == HOLE:
            continue
        low, high, seen = min(low, b), max(high, b), seen + 1
        count[b] += 1
        for k in range(K):
            hist_g[b, k] += g[r, k]
            hist_h[b, k] += h[r, k]
    return low, high, seen


@part
def find_cut(is_category, low, high, seen, least, ridge, hist_g, hist_h, count, G, H):
    """Return the largest gain of a column, its bin, and how many rows go left; G and H change."""
    K = hist_g.shape[1]
    whole = 0.0
    left_g, left_h = np.zeros(K), np.zeros(K)
    for k in range(K):
        G[k] = H[k] = 0.0
        for b in range(low, high + 1):
            G[k] += hist_g[b, k]
            H[k] += hist_h[b, k]
        whole += G[k] * G[k] / (H[k] + ridge) if H[k] + ridge > 0.0 else 0.0
    gain, cut, at_cut, n_left = 0.0, -1, 0, 0
    for b in range(low, high + 1 if is_category else high):
        if count[b] == 0:
            continue
        n_left = count[b] if is_category else n_left + count[b]
        total = 0.0
        for k in range(K):
            left_g[k] = hist_g[b, k] if is_category else left_g[k] + hist_g[b, k]
            left_h[k] = hist_h[b, k] if is_category else left_h[k] + hist_h[b, k]
            rest_g, rest_h = G[k] - left_g[k], H[k] - left_h[k]
            if left_h[k] + ridge > 1e-12:
                total += left_g[k] * left_g[k] / (left_h[k] + ridge)
            if rest_h + ridge > 1e-12:
                total += rest_g * rest_g / (rest_h + ridge)
        if n_left >= least and seen - n_left >= least and total - whole > gain:
            gain, cut, at_cut = total - whole, b, n_left
    return gain, cut, at_cut
