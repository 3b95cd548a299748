"""Where to cut a column at a node: sums by bins, and the bin where a cut gains most.

The criterion is that of `growth`: sum_k G_k^2 / (H_k + ridge) over the two sides less that of the
whole. Only bins that have rows are visited and emptied again, as most nodes have few.
"""

from typing import NamedTuple

import numpy as np

from infinimix.kernels.bits import lowest_bit
from infinimix.kernels.compile import part

HOLE = 255  # bin of a missing cell
TINY = 1e-12  # a side that counts less adds nothing


class Histogram(NamedTuple):
    """What the rows of a node add, by the bins of a column; empty when the column is done."""

    g: np.ndarray  # (256, K)
    h: np.ndarray  # (256, 1 or K)
    n_rows: np.ndarray  # (256,) int64
    words: np.ndarray  # (8,) int64: a bit for each bin that has rows
    present: np.ndarray  # (256,) int64: these bins, in their order
    sides: np.ndarray  # (6, bins * K) what is left and right of each bin, and what a cut gains


@part
def histogram(n, K, votes):
    """Return a histogram of nothing; no node has more bins than its n rows."""
    g, h, count = np.zeros((256, K)), np.zeros((256, 1 if votes else K)), np.zeros(256, np.int64)
    present, sides = np.empty(256, np.int64), np.empty((6, min(256, n) * K))
    return Histogram(g, h, count, np.zeros(8, np.int64), present, sides)


@part
def fill(cells, rows, first, end, s, hist):
    """Add the rows of a node to the bins of a column; return how many have a cell there."""
    seen, K = 0, s.g.shape[1]
    for r in range(first, end):
        b = np.int64(cells[rows[r]])
        if b == HOLE:
            continue
        hist.words[b >> 5] |= 1 << (b & 31)
        seen += 1
        hist.n_rows[b] += 1
        for k in range(K):
            hist.g[b, k] += s.g[r, k]
            hist.h[b, k] += s.h[r, k]
    return seen


@part
def fill_votes(cells, rows, first, end, s, hist):
    """Do the same with rows that vote for their classes."""
    seen = 0
    for r in range(first, end):
        b = np.int64(cells[rows[r]])
        if b == HOLE:
            continue
        hist.words[b >> 5] |= 1 << (b & 31)
        seen += 1
        hist.n_rows[b] += 1
        hist.g[b, s.codes[r]] += s.h[r, 0]
        hist.h[b, 0] += s.h[r, 0]
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
def forget(n_present, hist):
    """Let the bins of a column be empty again."""
    for q in range(n_present):
        b = hist.present[q]
        hist.n_rows[b] = 0
        for k in range(hist.g.shape[1]):
            hist.g[b, k] = 0.0
        for k in range(hist.h.shape[1]):
            hist.h[b, k] = 0.0


@part
def find_cut(is_category, n, seen, least, ridge, G, H, hist):
    """Return the largest gain of a column, its bin, and how many rows go left; G and H change.

    Divisions take most of the time of a tree, so they are made for all bins and outputs at once.
    """
    hist_g, hist_h, count, present, sides = hist.g, hist.h, hist.n_rows, hist.present, hist.sides
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
