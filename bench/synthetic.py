"""Synthetic tables of the speed bars, drawn as in the experiments of the AClass paper."""

from __future__ import annotations

import numpy as np

from infinimix.papers.aclass.worlds import Mixtures


def two_classes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 100 columns, two classes of 20 modes each."""
    rng = np.random.default_rng(seed)
    return Mixtures((20, 20), 100, rng).draw(n, rng)
