"""Directed graphs as rows of bits: bit i of row `pa[j]` says that i is a parent of j.

A row has ceil(N / 64) words. With up to 64 nodes, which is the rule, it is one word and a search
for a path touches as many words as there are ancestors.
"""

import numpy as np

from infinimix.kernels.compile import kernel, part

ZERO, ONE = np.uint64(0), np.uint64(1)
WORD, LAST = np.uint64(6), np.uint64(63)
FIVES, THREES = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
NIBBLES, ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
TWO, FOUR, TOP = np.uint64(2), np.uint64(4), np.uint64(56)


@part
def popcount(x):
    """Return the number of ones of a word."""
    x = x - ((x >> ONE) & FIVES)
    x = (x & THREES) + ((x >> TWO) & THREES)
    x = (x + (x >> FOUR)) & NIBBLES
    return np.int64((x * ONES) >> TOP)


@part
def lowest(x):
    """Return the place of the lowest one of a word that is not zero."""
    return popcount((x & (~x + ONE)) - ONE)


@part
def bit(i):
    """Return a word whose bit i, counted from the low end modulo 64, is one."""
    return ONE << (np.uint64(i) & LAST)


@part
def has(row, i):
    """Does a row of words hold i?"""
    return (row[i >> 6] >> (np.uint64(i) & LAST)) & ONE != ZERO


@kernel
def reaches(pa, i, j):
    """Is there a path from i to j, of at least one edge?"""
    if pa.shape[1] == 1:
        goal, seen = bit(i), pa[j, 0]
        front = seen
        while front != ZERO:
            if seen & goal != ZERO:
                return True
            v = lowest(front)
            front &= front - ONE
            more = pa[v, 0] & ~seen
            seen |= more
            front |= more
        return False
    seen, front, again = np.empty(pa.shape[1], np.uint64), np.empty(pa.shape[1], np.uint64), True
    for w in range(pa.shape[1]):
        seen[w] = front[w] = pa[j, w]
    while again:
        if has(seen, i):
            return True
        again = False
        for w in range(pa.shape[1]):
            while front[w] != ZERO:
                v = (w << 6) + lowest(front[w])
                front[w] &= front[w] - ONE
                again = True
                for x in range(pa.shape[1]):
                    more = pa[v, x] & ~seen[x]
                    seen[x] |= more
                    front[x] |= more
    return False


@kernel
def mark_descendants(pa, c, marks):
    """Set marks[v] to 1 for c and all its descendants, to 0 for the others."""
    n = pa.shape[0]
    for v in range(n):
        marks[v] = 0
    marks[c] = 1
    again = True
    while again:
        again = False
        for v in range(n):
            if marks[v] == 0:
                for u in range(n):
                    if marks[u] == 1 and has(pa[v], u):
                        marks[v] = 1
                        again = True
                        break


@part
def squeeze(nodes, c):
    """Return a set of nodes without c as a set of candidates of c: all others, in their order."""
    low = (1 << c) - 1
    return (nodes & low) | ((nodes >> 1) & ~low)


@part
def widen(word, c):
    """Return a set of candidates of c as a set of nodes."""
    low = (1 << c) - 1
    return (word & low) | ((word & ~low) << 1)


def words(n):
    """Return the number of words of a row for n nodes."""
    return (n + 63) // 64


def to_adjacency(pa):
    """Return rows of bits, of one graph or many, as A[..., i, j] = 1 where i -> j."""
    pa = np.ascontiguousarray(pa)
    n = pa.shape[-2]
    bits = np.unpackbits(pa.view(np.uint8), axis=-1, bitorder="little")[..., :n]
    return np.ascontiguousarray(np.swapaxes(bits, -1, -2))


def from_adjacency(A):
    """Return an adjacency matrix, A[i, j] = 1 where i -> j, as rows of bits of parents."""
    n = len(A)
    bits = np.zeros((n, 64 * words(n)), np.uint8)
    bits[:, :n] = np.asarray(A).T != 0
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def topological_order(A):
    """Return the nodes with all parents before their children; ValueError if there is a cycle.

    Examples
    --------
    >>> topological_order(np.array([[0, 0], [1, 0]])).tolist()
    [1, 0]
    """
    A = np.asarray(A) != 0
    missing = A.sum(axis=0)
    ready = [int(j) for j in np.flatnonzero(missing == 0)]
    order = []
    while ready:
        i = ready.pop()
        order.append(i)
        for j in np.flatnonzero(A[i]):
            missing[j] -= 1
            if missing[j] == 0:
                ready.append(int(j))
    if len(order) < len(A):
        raise ValueError("the graph has a directed cycle")
    return np.array(order, dtype=np.int64)


def ancestors(A):
    """Return P[i, j] = True where a directed path leads from i to j; A may be many graphs."""
    P = np.asarray(A) != 0
    n = P.shape[-1]
    reach = P.copy()
    steps = 1
    while steps < n:
        reach = reach | (reach.astype(np.float32) @ reach.astype(np.float32) > 0)
        steps *= 2
    return reach
