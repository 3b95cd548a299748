"""Answers of trees: the mean of the values of the leaves that a row may reach.

Where the cell of a row is missing, it goes both ways, each in the share of the rows that went
there in training. A row without any cell thus has the mean of all rows of the tree.
"""

import numpy as np

from infinimix.inference.trees.cuts import HOLE
from infinimix.inference.trees.growth import LEAF
from infinimix.kernels.compile import kernel


@kernel
def add_trees(bins, is_category, roots, tree, rows, out):
    """Add what each of these trees says of some rows to `out`, an array (n, K)."""
    column, threshold, child, share, value = tree
    K = value.shape[1]
    todo, weight = np.empty(256, np.int64), np.empty(256)
    for r in range(rows.shape[0]):
        i = rows[r]
        for root in roots:
            todo[0], weight[0] = root, 1.0
            waiting = 1
            while waiting:
                waiting -= 1
                node, w = todo[waiting], weight[waiting]
                while column[node] != LEAF:
                    f = column[node]
                    b, left = bins[f, i], root + child[node]
                    if b == HOLE:
                        todo[waiting], weight[waiting] = left + 1, w * (1.0 - share[node])
                        waiting += 1
                        w *= share[node]
                        node = left
                    else:
                        goes_left = b == threshold[node] if is_category[f] else b <= threshold[node]
                        node = left if goes_left else left + 1
                for k in range(K):
                    out[i, k] += w * value[node, k]
