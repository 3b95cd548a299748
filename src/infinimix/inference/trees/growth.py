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

from infinimix.kernels.bits import lowest_bit
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.memory import borrowed

HOLE = 255  # bin of a missing cell
LEAF = -1  # as the column of a node
LEAST_GAIN = 1e-9
TINY = 1e-12  # a side that counts less adds nothing


@part
def draw(state):
    """Return the next state of a generator (Park and Miller's), which is in 1 .. 2^31 - 2."""
    return state * 48271 % 2147483647


@kernel
def grow(bins, is_category, codes, g, h, rows, n_try, deepest, least, ridge, state, tree):
    """Fill the arrays of a tree; return its number of nodes.

    Parameters
    ----------
    bins : array (columns, n) of uint8
        The cells.
    is_category : array (columns,) of bool
        Which columns have bins without an order.
    codes : array (n,) of int64, or (0,)
        Classes of rows that vote, if they do: h_i is the number of votes of a row, all of them for
        its class, so that g_ik is h_i or 0 and h_ik = h_i.
    g, h : arrays (n, K)
        What each row adds to its node; (0, K) and (n, 1) if rows vote.
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
    bins, is_category, codes, g, h, rows, tree = borrowed(
        (bins, is_category, codes, g, h, rows, tree)
    )
    column, threshold, child, share, value = tree
    n_columns, K, votes = bins.shape[0], g.shape[1], codes.shape[0] > 0
    order = np.arange(n_columns)
    hist_g, hist_h = np.zeros((256, K)), np.zeros((256, 1 if votes else K))
    node_g = np.empty((0 if votes else rows.shape[0], K))  # in the order of the rows
    node_h = np.empty((rows.shape[0], hist_h.shape[1]))
    node_codes = np.empty(rows.shape[0] if votes else 0, np.int64)
    count, present = np.zeros(256, np.int64), np.empty(256, np.int64)
    words = np.zeros(8, np.int64)  # a bit for each bin that has rows
    G, H = np.empty(K), np.empty(K)
    # Of each bin, and what a cut there would gain; no node has more bins than rows.
    sides = np.empty((6, min(256, rows.shape[0]) * K))
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
            i = rows[r]
            if votes:
                node_h[r, 0], node_codes[r] = h[i, 0], codes[i]
                G[codes[i]] += h[i, 0]
                H[0] += h[i, 0]
            else:
                for k in range(K):
                    node_g[r, k], node_h[r, k] = g[i, k], h[i, k]
                    G[k] += node_g[r, k]
                    H[k] += node_h[r, k]
        most = 0.0
        for k in range(K):
            below = H[0 if votes else k] + ridge
            value[node, k] = G[k] / below if below > 0.0 else 0.0
            most = max(most, G[k])
        column[node], threshold[node], child[node], share[node] = LEAF, 0, 0, 0.0
        if depth == deepest or end - first < 2 * least or n_nodes + 2 > column.shape[0]:
            continue
        if votes and most == H[0]:  # all for one class
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
            if votes:
                seen = fill_votes(
                    bins[f], node_codes, node_h, rows, first, end, hist_g, hist_h, count, words
                )
            else:
                seen = fill(bins[f], node_g, node_h, rows, first, end, hist_g, hist_h, count, words)
            n_present = list_bins(words, present)
            if n_present > 1:
                tried += 1
                gain, t, n_left = find_cut(
                    is_category[f], present, n_present, seen, least, ridge, hist_g, hist_h, count,
                    G, H, sides,
                )  # fmt: skip
                if gain > best:
                    best, at, cut, part_left = gain, f, t, n_left / seen
            for q in range(n_present):
                b = present[q]
                count[b] = 0
                for k in range(K):
                    hist_g[b, k] = 0.0
                for k in range(hist_h.shape[1]):
                    hist_h[b, k] = 0.0
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
def fill(cells, g, h, rows, first, end, hist_g, hist_h, count, words):
    """Add the rows of a node to the bins of a column; return how many have a cell there."""
    seen = 0
    K = g.shape[1]
    for r in range(first, end):
        b = np.int64(cells[rows[r]])
        if b == HOLE:
            continue
        words[b >> 5] |= 1 << (b & 31)
        seen += 1
        count[b] += 1
        for k in range(K):
            hist_g[b, k] += g[r, k]
            hist_h[b, k] += h[r, k]
    return seen


@part
def fill_votes(cells, codes, h, rows, first, end, hist_g, hist_h, count, words):
    """Do the same with rows that vote for their classes."""
    seen = 0
    for r in range(first, end):
        b = np.int64(cells[rows[r]])
        if b == HOLE:
            continue
        words[b >> 5] |= 1 << (b & 31)
        seen += 1
        count[b] += 1
        hist_g[b, codes[r]] += h[r, 0]
        hist_h[b, 0] += h[r, 0]
    return seen


@part
def list_bins(words, present):
    """List the bins that have rows, in their order, and forget them; return how many there are."""
    n_present = 0
    for j in range(words.shape[0]):
        word = words[j]
        while word != 0:
            present[n_present] = 32 * j + lowest_bit(word)
            n_present += 1
            word &= word - 1
        words[j] = 0
    return n_present


@part
def find_cut(
    is_category, present, n, seen, least, ridge, hist_g, hist_h, count, G, H, sides
):  # fmt: skip
    """Return the largest gain of a column, its bin, and how many rows go left; G and H change.

    Divisions take most of the time of a tree, so they are made for all bins and outputs at once.
    """
    K, shared = hist_g.shape[1], hist_h.shape[1] == 1
    width = hist_h.shape[1]
    left_g, left_h, rest_g, rest_h, gains = sides[0], sides[1], sides[2], sides[3], sides[4]
    for k in range(K):
        G[k] = H[k] = 0.0
    for q in range(n):
        b = present[q]
        for k in range(K):
            G[k] += hist_g[b, k]
        for k in range(width):
            H[k] += hist_h[b, k]
    whole = 0.0
    for k in range(K):
        below = H[0 if shared else k] + ridge
        whole += G[k] * G[k] / below if below > 0.0 else 0.0
    for q in range(n):  # what is left and right of each bin
        b, before = present[q], q - 1
        for k in range(width):
            known = 0.0 if is_category or q == 0 else left_h[before * width + k]
            left_h[q * width + k] = known + hist_h[b, k]
            rest_h[q * width + k] = H[k] - (known + hist_h[b, k])
        for k in range(K):
            known = 0.0 if is_category or q == 0 else left_g[before * K + k]
            left_g[q * K + k] = known + hist_g[b, k]
            rest_g[q * K + k] = G[k] - (known + hist_g[b, k])
    if shared:
        for q in range(n):
            left_square, rest_square = 0.0, 0.0
            for k in range(K):
                left_square += left_g[q * K + k] * left_g[q * K + k]
                rest_square += rest_g[q * K + k] * rest_g[q * K + k]
            gains[q], sides[5, q] = left_square, rest_square
        for q in range(n):
            left, rest = left_h[q] + ridge, rest_h[q] + ridge
            gains[q] = (gains[q] / left if left > TINY else 0.0) + (
                sides[5, q] / rest if rest > TINY else 0.0
            )
    else:
        for j in range(n * K):
            left, rest = left_h[j] + ridge, rest_h[j] + ridge
            gains[j] = (left_g[j] * left_g[j] / left if left > TINY else 0.0) + (
                rest_g[j] * rest_g[j] / rest if rest > TINY else 0.0
            )
        for q in range(n):
            total = 0.0
            for k in range(K):
                total += gains[q * K + k]
            gains[q] = total
    gain, cut, at_cut, n_left = 0.0, -1, 0, 0
    for q in range(n if is_category else n - 1):
        n_left = count[present[q]] if is_category else n_left + count[present[q]]
        if n_left >= least and seen - n_left >= least and gains[q] - whole > gain:
            gain, cut, at_cut = gains[q] - whole, present[q], n_left
    return gain, cut, at_cut
