"""Markov blankets: the variables beside which all others say nothing more of a variable."""

from __future__ import annotations

import numpy as np


def markov_blankets(A: np.ndarray) -> np.ndarray:
    """Return B[..., i, j] = True where j is in the blanket of i; A may be many graphs.

    Parents, children, and the other parents of children.

    >>> markov_blankets(np.array([[0, 0, 1], [0, 0, 1], [0, 0, 0]])).astype(int).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    A = np.asarray(A) != 0
    back = np.swapaxes(A, -1, -2)
    spouses = (A.astype(np.float32) @ back.astype(np.float32)) > 0
    found = A | back | spouses
    found[..., np.arange(A.shape[-1]), np.arange(A.shape[-1])] = False
    return np.asarray(found)
