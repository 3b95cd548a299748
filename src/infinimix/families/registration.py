"""What a family gets when it is registered: a default of every operation that it does not bring.

A default relies on three things. The statistics that count are the array `n`, whose first axis is
the slot; the last axis of all hyper-parameters and statistics is the column, and the
hyper-parameters are called `prior`; and the counts of two groups simply add up. A family for which
one of these does not hold brings the operation itself. The laws in `tests/contract` find out.
"""

from math import copysign

import numpy as np

from infinimix.families import product, seam
from infinimix.kernels.elementary import log1p
from infinimix.kernels.holes import is_missing

OPERATIONS = (*seam.CORE, *seam.ANSWERS, *seam.EM, *seam.STREAMS)


def register(family_class, cells, without=()):
    """Let a family be one: give it the defaults, and let it stand in products.

    Parameters
    ----------
    family_class : type
        The NamedTuple of its hyper-parameters, whose operations are implemented.
    cells : dtype or None
        The dtype of the cells that it reads. None: it does not stand in products.
    without : sequence of operations
        Those that nobody will ask of it.

    Raises
    ------
    TypeError
        If an operation is missing that has no default.
    """
    needed = [operation for operation in OPERATIONS if operation not in without]
    missing = [op.__name__ for op in needed if not op.adopt(family_class)]
    if missing:
        raise TypeError(
            f"the family {family_class.__name__} lacks the operation{'s' * (len(missing) > 1)} "
            f"{', '.join(missing)}: implement with @seam.{missing[0]}.implement("
            f"{family_class.__name__}) before it is registered. What each has to do is in "
            "infinimix/families/seam.py; see 'How to add a family' in CONTRIBUTING.md"
        )
    for operation in without:
        operation.refuse(family_class)
    if cells is not None:
        product.admit(family_class, cells)


# --- core ---------------------------------------------------------------------------------------


@seam.prior_finder.default
def find_one_by_one(family, pool, given):
    """Ask for one position after the other: right for every family."""
    pool = pool._replace(n=pool.n[:1].copy())  # as it is now, whatever is counted later

    def at(factors):
        found = [seam.prior(family, pool, given, one) for one in factors]
        return family._make([np.stack(arrays) for arrays in zip(*found, strict=True)])

    return at


@seam.width.default
def _(family):
    return family.prior.shape[-1]


@seam.copy.default
def _(family, stats, source, target):
    n, size = stats.n.ravel(), stats.n.size // stats.n.shape[0]
    for j in range(size):
        n[target * size + j] = n[source * size + j]


@seam.merge.default
def _(family, stats, source, target):
    n, size = stats.n.ravel(), stats.n.size // stats.n.shape[0]
    for j in range(size):
        n[target * size + j] += n[source * size + j]
    seam.refresh(family, stats, target)


@seam.score_two.default
def _(family, stats, X, i, j, live, out, ahead):
    """Score one row after the other; products do so by themselves, and nothing is compiled."""
    seam.score(family, stats, X, i, live, out)
    seam.score(family, stats, X, j, live, ahead)
    return 0


@seam.score_rows.default
def score_each(family, stats, live, X, out):
    """Score row by row: right for every family."""
    product.score_slots(family, stats, X, live, out)


# --- answers ------------------------------------------------------------------------------------


@seam.column.default
def _(family, stats, d):
    return family._make(_one_column(family, d)), stats._make(_one_column(stats, d))


def _one_column(arrays, d):
    return [np.ascontiguousarray(array[..., d : d + 1]) for array in arrays]


# --- EM -----------------------------------------------------------------------------------------


@seam.count_rows.default
def _(family, stats, weight, X):
    product.count_slots(family, stats, X, weight)


@seam.estimate_point.default
def _(family, stats, mode):
    """Keep the predictive: there is no estimate."""
    slots = len(seam.map_first(stats))
    product.refresh_all(family, stats, slots)
    return np.zeros(slots)


@seam.freedom.default
def _(family):
    return family.prior.shape[-1]


# --- streams ------------------------------------------------------------------------------------


@seam.widen.default
def _(family, stats, wider):
    return stats


@seam.reserve.default
def _(family, stats, slots):
    more = seam.empty(family, slots - len(seam.map_first(stats)))
    return seam.map_arrays(lambda *arrays: np.concatenate(arrays), stats, more)


@seam.fade.default
def _(family, stats, share):
    stats.n[:] *= share


@seam.features.default
def _(family, stats, X, i, first, index, value):
    """Describe a cell by the log of its size, with its sign: for want of a mean and a scale."""
    used = 0
    for d in range(X.shape[1]):
        x = X[i, d]
        if not is_missing(x):
            size = min(log1p(min(abs(1.0 * x), 1e300)), seam.FAR)
            index[used], value[used] = first + d, copysign(size, x)
            used += 1
    return used


@seam.n_features.default
def _(family):
    return family.prior.shape[-1]


@seam.unseen_share.default
def _(family, stats, k, X, i):
    return 0.0  # the densities say it
