"""Where the variables of a network are drawn: a block for each role, lines by depth inside it.

Roles come in the order of the mean depth of their members, so most edges lead down. A line has few
members, so that names stay apart, and its members stand near their neighbours in lines above.
"""

from __future__ import annotations

import numpy as np

MOST_IN_LINE = 6  # variables of a line
GAP = 0.6  # between roles, in lines


def place_nodes(A: np.ndarray, roles: np.ndarray) -> tuple[np.ndarray, list[tuple[float, float]]]:
    """Return x (0 to 1) and line (from 0 down) of each node, and where each role's block lies.

    >>> place, blocks = place_nodes(np.array([[0, 1], [0, 0]]), np.array([0, 1]))
    >>> place.tolist(), blocks
    ([[0.5, 0.0], [0.5, -1.6]], [(0.0, 0.0), (-1.6, -1.6)])
    """
    N, depth = len(A), depths(A)
    place = np.full((N, 2), 0.5)
    y, done, blocks = 0.0, np.zeros(N, bool), [(0.0, 0.0)] * (int(roles.max()) + 1)
    for role in sorted(range(len(blocks)), key=lambda k: (depth[roles == k].mean(), k)):
        top = y
        for line in lines(np.flatnonzero(roles == role), depth):
            line = sorted(line, key=lambda j: (_pull(A, place, done, j), j))
            place[line, 0] = (np.arange(len(line)) + 0.5) / len(line)
            place[line, 1] = y
            done[line] = True
            y -= 1.0
        blocks[role] = (top, y + 1.0)
        y -= GAP
    return place, blocks


def depths(A: np.ndarray) -> np.ndarray:
    """Return the length of the longest path to each node; edges of cycles count up to N steps."""
    N, depth = len(A), np.zeros(len(A))
    for _ in range(N):
        above = np.where(A != 0, depth[:, None] + 1.0, 0.0).max(axis=0, initial=0.0)
        if (above <= depth).all() or above.max() >= N:
            break
        depth = np.maximum(depth, above)
    return depth


def lines(members: np.ndarray, depth: np.ndarray) -> list[list[int]]:
    """Return the members of a role as lines of about equal length, the least deep first."""
    order = members[np.argsort(depth[members], kind="stable")]
    parts = np.array_split(order, -(-len(order) // MOST_IN_LINE))
    return [[int(j) for j in part] for part in parts]


def _pull(A: np.ndarray, place: np.ndarray, done: np.ndarray, j: int) -> float:
    """Return the mean place of the neighbours of a node that are placed already."""
    near = ((A[:, j] != 0) | (A[j] != 0)) & done
    return float(place[near, 0].mean()) if near.any() else 0.5
