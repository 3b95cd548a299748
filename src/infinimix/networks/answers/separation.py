"""D-separation: which variables say nothing of each other, given some others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from infinimix.networks.engine.graphs import ancestors


def d_separated(A: np.ndarray, i: int, j: int, given: Sequence[int]) -> bool:
    """Return whether every path between i and j is blocked by the given variables.

    They are separated in the moral graph of their ancestors (Lauritzen and others 1990).

    Examples
    --------
    >>> collider = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])
    >>> d_separated(collider, 0, 1, []), d_separated(collider, 0, 1, [2])
    (True, False)
    """
    A, held = np.asarray(A) != 0, [i, j, *given]
    above = np.asarray(ancestors(A[None].astype(np.uint8))[0]) != 0
    keep = above[:, held].any(axis=1)
    keep[held] = True
    A = A & keep[:, None] & keep
    moral = A | A.T | ((A.astype(int) @ A.T.astype(int)) > 0)
    open_ = keep.copy()
    open_[list(given)] = False
    reached, todo = {i}, [i]
    while todo:
        for k in np.flatnonzero(moral[todo.pop()] & open_).tolist():
            if k not in reached:
                reached.add(k)
                todo.append(k)
    return j not in reached
