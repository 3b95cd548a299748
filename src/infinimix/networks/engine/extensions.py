"""How many orders of its nodes an acyclic graph allows: its linear extensions.

Orders of parts of a graph that are not connected are independent of each other, so each part is
counted alone, and their orders are then shuffled. A part is counted by a pass over the sets of its
nodes that may come first.
"""

import numpy as np

from infinimix.kernels.compile import kernel, part
from infinimix.networks.engine.graphs import ONE, ZERO, lowest, popcount


@part
def connected_to(near, c):
    """Return the nodes that are connected to c by some links, c included."""
    found = front = ONE << np.uint64(c)
    while front != ZERO:
        more = np.uint64(near[lowest(front)]) & ~found
        front = (front & (front - ONE)) | more
        found |= more
    return found


@kernel
def count_part(before, own, ways):
    """Return how many orders of the nodes `own` there are; `ways` is room."""
    U = ZERO
    for _ in range(1 << popcount(own)):
        ways[U] = 0.0
        U = (U - own) & own  # the next subset
    ways[0] = 1.0
    while U != own:
        if ways[U] > 0.0:
            rest = own & ~U
            while rest != ZERO:
                c = lowest(rest)
                rest &= rest - ONE
                if np.uint64(before[c]) & ~U == ZERO:
                    ways[U | (ONE << np.uint64(c))] += ways[U]
        U = (U - own) & own
    return ways[own]


@kernel
def count_orders(before, n, ways):
    """Return how many orders of n nodes there are in which all of before[c] precede c, for all c.

    The numbers are whole and, up to 13 nodes, exact.
    """
    near, total, placed, left = np.zeros(n, np.int64), 1.0, 0, (ONE << np.uint64(n)) - ONE
    for c in range(n):
        near[c] |= before[c]
        rest = np.uint64(before[c])
        while rest != ZERO:
            near[lowest(rest)] |= 1 << c
            rest &= rest - ONE
    while left != ZERO:
        own = connected_to(near, lowest(left))
        left &= ~own
        size = popcount(own)
        for j in range(size):  # places among those that are taken already
            total = total * (placed + j + 1) / (j + 1)
        placed += size
        if size > 2:  # two connected nodes have one order
            total *= count_part(before, own, ways)
    return total
