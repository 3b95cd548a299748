"""The arrays of signed effects: what is known of signed families, and room to compute more.

A set of signs of the parents of a child is a number whose bit j says that the effect of the j-th
parent, in the order of the child's candidates, is negative.
"""

from typing import NamedTuple

import numpy as np

from infinimix.networks.engine.graphs import ZERO
from infinimix.networks.engine.monotone import MOST_BINS, list_ideals, list_steps, log_share
from infinimix.networks.engine.packs import packed

SHAPE = 0.5  # both parameters of the Beta prior of the share of positive effects of a class
SLOTS = 1 << 17  # of all children and signs together


@packed
class Signs(NamedTuple):
    """What signed scores and moves need; empty where effects have no signs."""

    positive: np.ndarray  # (N,) the probability that effects of a node are positive
    drawn: np.ndarray  # (N,) int64: the signs of the parents of a child that were drawn last
    drawn_for: np.ndarray  # (N,) uint64: the parents that these are of
    values: np.ndarray  # (N, slots, 2^P + 1): log gains of all signs, then the score without signs
    keys: np.ndarray  # (N, slots) uint64: the parents
    held: np.ndarray  # (N,) slots in use
    steps: np.ndarray  # `list_steps` of 1 to P parents, one after the other
    begin: np.ndarray  # (P + 2,) where those of k parents begin
    log_shares: np.ndarray  # (P + 1,)
    masses: np.ndarray  # (2, bins, 2^P) room
    sums: np.ndarray  # (3, ideals) room
    counts: np.ndarray  # (2, 2^P) room: rows with each value of the child
    effects: np.ndarray  # (2, N) int64: positive and negative effects of each node
    tally: np.ndarray  # (2, K) int64: the same of each class


def new_signs(N, K, max_parents):
    """Return arrays for N nodes in up to K classes, and so many parents of a child."""
    P, slots = max_parents, 64
    while N and 2 * slots * (N << P) <= SLOTS * 8:
        slots *= 2
    steps = [list_steps(k) for k in range(1, P + 1)]
    ideals = len(list_ideals(P)) if P else 1
    return Signs(
        np.full(N, 0.5), np.zeros(N, np.int64), np.full(N, ~ZERO),
        np.full((N, slots, (1 << P) + 1), np.nan), np.zeros((N, slots), np.uint64),
        np.zeros(N, np.int64), np.concatenate([np.zeros((0, 4), np.int64), *steps]),
        np.cumsum([0, 0, *map(len, steps)]).astype(np.int64),
        np.array([0.0, *(log_share(k) for k in range(1, P + 1))]),
        np.zeros((2, MOST_BINS if P else 0, 1 << P)), np.zeros((3, ideals)), np.zeros((2, 1 << P)),
        np.zeros((2, N), np.int64), np.zeros((2, K), np.int64),
    )  # fmt: skip


NO_SIGNS = new_signs(0, 0, 0)  # shared by all caches without signs, as nothing is in it
