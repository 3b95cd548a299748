"""One decision tree on binned cells, grown depth first.

A node holds rows with g_ik and h_ik, k = 1 .. K outputs. Its value is G_k / (H_k + ridge), where G
and H are sums over its rows, and it is split where sum_k G_k^2 / (H_k + ridge) grows most. With
g = 1 for the class of the row, h = 1 and no ridge that is Gini's criterion, and the values are
shares of classes; with the negative gradient and the curvature of a loss it is a Newton step.

A number is split at a bin (left: at most), a category into one against the others. A missing cell
says nothing: it counts for no split, and its row goes to a random side, in proportion to the rows
whose cell is there. Answers follow both sides instead (`paths`).
"""

from typing import NamedTuple

import numpy as np

from infinimix.inference.trees.cuts import (
    HOLE,
    fill,
    fill_votes,
    find_cut,
    forget,
    histogram,
    list_bins,
)
from infinimix.kernels.compile import kernel, part
from infinimix.kernels.memory import borrowed

LEAF = -1  # as the column of a node
LEAST_GAIN = 1e-9


class NodeRows(NamedTuple):
    """What the rows of a node add, in their order; of K outputs, h has one if rows vote, else K."""

    codes: np.ndarray  # (n,) int64, or none if they do not vote
    g: np.ndarray  # (n, K), or none if they do
    h: np.ndarray  # (n, 1 or K)
    G: np.ndarray  # (K,) sum of g
    H: np.ndarray  # (K,) sum of h; the first alone counts if rows vote


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
    n, K, votes = rows.shape[0], g.shape[1], codes.shape[0] > 0
    s = node_rows(n, K, votes)
    hist, order = histogram(n, K, votes), np.arange(bins.shape[0])
    todo = np.empty((2 * deepest + 4, 4), np.int64)  # node, first row, end, depth
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = 0, 0, rows.shape[0], 0
    waiting, n_nodes = 1, 1
    while waiting:
        waiting -= 1
        node, first, end, depth = (
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2], todo[waiting, 3],
        )  # fmt: skip
        add_up(codes, g, h, rows, first, end, s)
        is_pure = fill_leaf(node, ridge, s, value)
        column[node], threshold[node], child[node], share[node] = LEAF, 0, 0, 0.0
        is_small = end - first < 2 * least or n_nodes + 2 > column.shape[0]
        if depth == deepest or is_small or is_pure:
            continue
        at, cut, part_left, state = choose_cut(
            bins, is_category, rows, first, end, n_try, least, ridge, state, order, s, hist
        )
        if at == LEAF:
            continue
        column[node], threshold[node], child[node], share[node] = at, cut, n_nodes, part_left
        middle, state = divide(bins[at], is_category[at], cut, part_left, rows, first, end, state)
        for side in range(2):
            todo[waiting, 0] = n_nodes + side
            todo[waiting, 1] = middle if side else first
            todo[waiting, 2] = end if side else middle
            todo[waiting, 3] = depth + 1
            waiting += 1
        n_nodes += 2
    return n_nodes


@part
def node_rows(n, K, votes):
    """Return room for the rows of a node."""
    codes, g = np.empty(n if votes else 0, np.int64), np.empty((0 if votes else n, K))
    return NodeRows(codes, g, np.empty((n, 1 if votes else K)), np.empty(K), np.empty(K))


@part
def add_up(codes, g, h, rows, first, end, s):
    """Copy what the rows of a node add, in their order; let G and H be the sums."""
    for k in range(s.G.shape[0]):
        s.G[k] = s.H[k] = 0.0
    for r in range(first, end):
        i = rows[r]
        if codes.shape[0] > 0:
            s.h[r, 0], s.codes[r] = h[i, 0], codes[i]
            s.G[codes[i]] += h[i, 0]
            s.H[0] += h[i, 0]
        else:
            for k in range(s.G.shape[0]):
                s.g[r, k], s.h[r, k] = g[i, k], h[i, k]
                s.G[k] += s.g[r, k]
                s.H[k] += s.h[r, k]


@part
def fill_leaf(node, ridge, s, value):
    """Fill in the values of a node as if it were a leaf; return whether all vote for one class."""
    votes, most = s.codes.shape[0] > 0, 0.0
    for k in range(s.G.shape[0]):
        below = s.H[0 if votes else k] + ridge
        value[node, k] = s.G[k] / below if below > 0.0 else 0.0
        most = max(most, s.G[k])
    return votes and most == s.H[0]


@part
def choose_cut(
    bins, is_category, rows, first, end, n_try, least, ridge, state, order, s, hist
):  # fmt: skip
    """Look at columns drawn at random, of which those of a single bin do not count.

    Return the column of the best cut, LEAF if there is none, its bin, the share of rows that go
    left, and the state of the generator.
    """
    best, at, cut, part_left = LEAST_GAIN, LEAF, 0, 0.0
    tried, left_to_draw = 0, order.shape[0]
    while tried < n_try and left_to_draw:
        state = draw(state)
        q = state % left_to_draw
        left_to_draw -= 1
        f = order[q]
        order[q], order[left_to_draw] = order[left_to_draw], f
        if s.codes.shape[0] > 0:
            seen = fill_votes(bins[f], rows, first, end, s, hist)
        else:
            seen = fill(bins[f], rows, first, end, s, hist)
        n_present = list_bins(hist.words, hist.present)
        if n_present > 1:
            tried += 1
            gain, t, n_left = find_cut(
                is_category[f], n_present, seen, least, ridge, s.G, s.H, hist
            )
            if gain > best:
                best, at, cut, part_left = gain, f, t, n_left / seen
        forget(n_present, hist)
    return at, cut, part_left, state


@part
def draw(state):
    """Return the next state of a generator (Park and Miller's), which is in 1 .. 2^31 - 2."""
    return state * 48271 % 2147483647


@part
def divide(cells, is_category, cut, part_left, rows, first, end, state):
    """Let the rows that go left come first; return where the others begin, and the generator."""
    middle = first
    for r in range(first, end):
        i = rows[r]
        b = cells[i]
        if b == HOLE:
            state = draw(state)
            goes_left = state < part_left * 2147483647.0
        else:
            goes_left = b == cut if is_category else b <= cut
        if goes_left:
            rows[r] = rows[middle]
            rows[middle] = i
            middle += 1
    return middle, state
