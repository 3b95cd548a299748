"""Where the variables of a network stand: a band for each role, sources above sinks.

Drawing libraries place nodes without knowing of roles, so that a role would lie scattered over
the picture. Here bands are ordered by flow, and within a band variables by the mean place of
their neighbours (barycentres), which keeps edges short and crossings few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

WIDTH = 720.0
NODE_WIDTH, NODE_HEIGHT = 108.0, 30.0
GAP = 26.0  # between lines of a band
PADDING = 18.0  # of a band
BETWEEN = 46.0  # bands
LABEL = 20.0  # of a band
PER_LINE = 5
PASSES = 8


class Band(NamedTuple):
    """The place of a role."""

    role: int
    members: list[int]
    top: float
    height: float


class BandLayout(NamedTuple):
    """Places of all variables and roles."""

    place: np.ndarray  # (N, 2) middles
    bands: list[Band]
    height: float


def order_roles(edges: np.ndarray, roles: np.ndarray, ordered: bool) -> list[int]:
    """Return the roles from the top on: as numbered if they have an order, else by flow."""
    found = sorted(set(roles.tolist()))
    if ordered:
        return found
    flow = edges.sum(axis=1) - edges.sum(axis=0)
    return sorted(found, key=lambda role: (-float(flow[roles == role].mean()), role))


def lay_out(edges: np.ndarray, roles: np.ndarray, ordered: bool = False) -> BandLayout:
    """Return where variables stand, given P(i -> j) and their roles."""
    order = order_roles(edges, roles, ordered)
    members = {role: np.flatnonzero(roles == role).tolist() for role in order}
    place = np.zeros((len(roles), 2))
    bands = _place(members, order, place)
    near = edges + edges.T
    for _ in range(PASSES):
        for role in order:
            members[role].sort(key=lambda i: (_barycentre(near[i], place[:, 0], i), i))
        bands = _place(members, order, place)
    return BandLayout(place, bands, bands[-1].top + bands[-1].height + 1.0)


def _barycentre(near: np.ndarray, x: np.ndarray, i: int) -> float:
    total = float(near.sum())
    return float(near @ x) / total if total > 1e-9 else float(x[i])


def _place(members: dict[int, list[int]], order: list[int], place: np.ndarray) -> list[Band]:
    """Write the places of all members and return the bands."""
    bands, top = [], 1.0
    for role in order:
        own = members[role]
        lines = [own[k : k + PER_LINE] for k in range(0, len(own), PER_LINE)]
        height = LABEL + 2 * PADDING + len(lines) * NODE_HEIGHT + (len(lines) - 1) * GAP
        for k, line in enumerate(lines):
            y = top + LABEL + PADDING + k * (NODE_HEIGHT + GAP) + NODE_HEIGHT / 2
            for m, i in enumerate(line):
                # Every other line is shifted, so that edges pass between nodes.
                shift = (k % 2) * 0.25 * WIDTH / PER_LINE if len(lines) > 1 else 0.0
                place[i] = (m + 0.5) * WIDTH / max(len(line), 1) * 0.94 + 0.015 * WIDTH + shift
                place[i, 1] = y
        bands.append(Band(role, list(own), top, height))
        top += height + BETWEEN
    return bands
