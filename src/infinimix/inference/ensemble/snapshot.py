"""All groups of all classes as one table, which many rows are scored in at once.

It is made of a portion for each class. A portion stays valid until its class learns a row, so that
a stream whose answers are asked for now and then copies only what has changed.
"""

from typing import NamedTuple

import numpy as np

from infinimix.families.seam import map_arrays


class Snapshot(NamedTuple):
    """The predictive densities of all classes as one table of slots."""

    stats: tuple
    log_mix: np.ndarray  # (K,) log weight of each slot within its class
    bounds: np.ndarray  # (C + 1,) where each class starts


def portion(members):
    """Return the groups of a class as a part of the snapshot, and their log weights."""
    parts, logs = [], []
    for f, divisor in members:
        live, log_mix = f.log_mixture(divisor)
        parts.append(map_arrays(lambda array, live=live: array[live], f.stats))
        logs.append(log_mix)
    return joined(parts), np.concatenate(logs)


def joined(parts):
    """Return tables of groups as one, in their order."""
    return map_arrays(lambda *arrays: np.concatenate(arrays), *parts)
