"""The shape of a real column: its transform, if it needs one, and whether one value is a spike.

All is found from the observed cells of the first table and then stays as it is: a model whose
units change while it learns would have to learn again.
"""

from collections.abc import Callable
from math import log

import numpy as np
from numpy.typing import NDArray

from infinimix.tables.transforms import LEAST_BOUND, MOST_KNOTS, Log, Rank, Spike

__all__ = [
    "COMMON",
    "FEWEST",
    "TRANSFORMS",
    "choose",
    "choose_spike",
    "find_log",
    "find_rank",
    "find_spike",
]

FEWEST, ENOUGH = 30, 10_000  # values that `choose` needs, and about as many as it looks at
FEW_VALUES = 10  # different ones that are too few to have a shape
COMMON = 0.2  # of the values: one that is as common as that is a spike
WORTH = 0.5  # nats a value that a transform must gain
LEAST_SHARE = 1e-6  # of the typical size: what is smaller than that counts as zero
LEAST_GAP = 1e-12  # between knots, in units of their span: less is a rounding error

Array = NDArray[np.float64]


def find_log(x: Array) -> Log:
    """The logarithm that suits observed values.

    The bound is half the smallest positive value, so that zero is as far from it as a factor of
    five would be; of values of both signs, their typical size.
    """
    sizes = np.abs(x[x != 0.0])
    if not sizes.size:
        return Log(1.0)
    typical = float(np.median(sizes))
    least = typical if x.min() < 0.0 else max(float(sizes.min()) / 2.0, LEAST_SHARE * typical)
    return Log(max(least, LEAST_BOUND))


def find_rank(x: Array) -> Rank:
    """The normal scores of observed values, with fewer knots where there are fewer rows."""
    from scipy.special import ndtri  # slow to load, and most tables need none

    values, counts = np.unique(x, return_counts=True)
    if len(values) < 2:
        return Rank((), ())
    scores = ndtri((np.cumsum(counts) - 0.5 * counts) / len(x))  # of the middle of equal ranks
    wanted = min(MOST_KNOTS, int(np.ceil(2.0 * np.sqrt(len(x)))))
    if len(values) > wanted:
        kept = np.unique(np.searchsorted(scores, np.linspace(scores[0], scores[-1], wanted)))
        kept = np.minimum(kept, len(values) - 1)
        values, scores = values[kept], scores[kept]
    return Rank(*_apart(values, scores))


def _apart(values: Array, scores: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Knots without those that only rounding errors keep from the knot before."""
    least = max(LEAST_GAP * (values[-1] - values[0]), LEAST_BOUND)
    kept = [0]
    for i in range(1, len(values)):
        if values[i] - values[kept[-1]] > least and scores[i] > scores[kept[-1]]:
            kept.append(i)
    if len(kept) < 2:
        return (), ()
    return tuple(values[kept].tolist()), tuple(scores[kept].tolist())


TRANSFORMS: dict[str, Callable[[Array], Log | Rank]] = {"log": find_log, "rank": find_rank}


def choose(x: Array) -> Log | None:
    """The transform that observed values call for: the logarithm, or mostly none.

    Compared are two normal densities of the positive values, with and without the logarithm,
    each at its best; the logarithm has to gain half a nat a value. For a lognormal column that
    is a sigma of 0.8. Zeros are left aside, for their densities depend on the bound more than on
    the data. Less than half a nat, and ranks, made classes of real tables as often harder to
    tell apart as easier.
    """
    if len(x) < FEWEST or x.min() < 0.0:
        return None
    positive = x[x > 0.0]
    some = positive[:: 1 + len(positive) // ENOUGH]
    if len(some) < FEWEST or len(np.unique(some)) <= FEW_VALUES:
        return None
    logs = np.log(some / some.max())
    spread, log_spread = float((some / some.max()).std()), float(logs.std())
    if log_spread < LEAST_SHARE:  # nearly a constant: the logarithm is a straight line there
        return None
    gain = log(spread) - log(log_spread) - float(logs.mean())
    return find_log(x) if gain > WORTH else None


def find_spike(x: Array, inner: str = "") -> Spike:
    """The most common of observed values set apart (0 if there is none), the others transformed.

    Of several that are as common the smallest is taken.
    """
    values, counts = np.unique(x, return_counts=True)
    atom = float(values[counts.argmax()]) + 0.0 if len(values) else 0.0  # never minus zero
    return Spike(atom, TRANSFORMS[inner](x[x != atom]) if inner else None)


def choose_spike(x: Array) -> Spike | None:
    """The spike that observed values call for: one of them in a fifth of the cells or more.

    A normal density has no bound where a value is repeated, so groups would form around that
    value for its own sake. Columns of few different values are left alone.
    """
    if len(x) < FEWEST:
        return None
    counts = np.unique(x, return_counts=True)[1]
    if len(counts) <= FEW_VALUES or counts.max() < COMMON * len(x):
        return None
    atom = find_spike(x).atom
    return Spike(atom, choose(x[x != atom]))
