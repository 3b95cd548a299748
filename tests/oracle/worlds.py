"""Small tables for the oracles: every family and a product, complete and with holes."""

from typing import NamedTuple

import numpy as np

from infinimix.families import (
    BetaBernoulli,
    DirichletCategorical,
    GammaPoisson,
    NormalInverseChiSquared,
    NormalInverseWishart,
    SpikedNormal,
)
from infinimix.families.seam import score_rows
from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.population import UNIQUE

N = 7
GONE, NAN, INF = -1, np.nan, np.inf
BB = BetaBernoulli(np.array([[0.7, 0.5, 2.0], [1.3, 0.5, 0.1]]))
DC = DirichletCategorical(np.array([0.5, 0.2, 1.1, 0.9, 0.4]), np.array([0, 3, 5]))
NX = NormalInverseChiSquared(
    np.array([[0.1, -0.3], [0.5, 0.4], [2.0, 1.5], [1.0, 0.6]]), np.zeros(2)
)
COARSE = NX._replace(grain=np.array([1.0, 0.25]) / 12.0)  # of the resolutions 1 and .5
GP = GammaPoisson(np.array([[0.6, 2.0], [0.3, 0.1]]))
SN = SpikedNormal(np.vstack([NX.prior, [[0.9, 0.4], [0.6, 1.5]]]), np.zeros(2))
STEPS = SN._replace(grain=COARSE.grain)
NW = NormalInverseWishart(np.array([[0.1, 1.0], [0.5, 0.5], [2.0, 2.0], [2.0, -0.8], [-0.8, 1.2]]))

# seven rows to learn; four to predict, the last of them without any cell
BINARY = np.array([
    [1, 0, 1], [1, 1, 1], [0, 1, 0], [0, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 0],
    [1, 0, 1], [0, 0, 0], [1, GONE, 0], [GONE, GONE, GONE],
], np.int8)  # fmt: skip
CODES = np.array([
    [0, 1], [0, 0], [2, 1], [1, 1], [0, 1], [2, 0], [0, 1],
    [2, 1], [1, 0], [GONE, 1], [GONE, GONE],
], np.int32)  # fmt: skip
REALS = np.array([
    [0.2, 1.1], [0.4, 0.3], [-2.0, 3.0], [-1.1, 2.7], [0.1, 0.9], [-1.7, 3.3], [0.3, 1.0],
    [0.3, 2.0], [25.0, -40.0], [NAN, 1.2], [NAN, NAN],
])  # fmt: skip
COUNTS = np.array([
    [0, 5], [1, 8], [4, 1], [6, 0], [0, 6], [3, 1], [1, 9],
    [1, 3], [0, 15], [NAN, 7], [NAN, NAN],
])  # fmt: skip
SPIKES = np.array([
    [0.2, INF], [INF, 0.3], [-2.0, 3.0], [INF, 2.7], [0.1, INF], [-1.7, 3.3], [INF, INF],
    [0.3, INF], [25.0, -40.0], [NAN, INF], [NAN, NAN],
])  # fmt: skip
PLANE = np.array([
    [0.2, 1.1], [0.4, 0.3], [-2.0, 3.0], [-1.1, 2.7], [0.1, 0.9], [-1.7, 3.3], [0.3, 1.0],
    [0.3, 2.0], [2.5, -4.0], [NAN, 1.2], [NAN, NAN],
])  # fmt: skip
HOLES = np.zeros((len(REALS), 3), bool)
HOLES[:N] = [  # row 4 loses every cell
    [0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1],
]  # fmt: skip


class World(NamedTuple):
    """Families, rows to learn, and rows to predict."""

    families: tuple
    X: tuple
    Y: tuple


def _world(families, blocks):
    return World(families, tuple(b[:N] for b in blocks), tuple(b[N:] for b in blocks))


def _punched(block):
    if block is PLANE:  # exact with lines that are missing as a whole; see `_gaussian`
        return np.where(HOLES.all(axis=1, keepdims=True), NAN, block)
    block = block.copy()
    block[HOLES[:, : block.shape[1]]] = NAN if block.dtype.kind == "f" else GONE
    return block


_TABLES = {
    "binary": ((BB,), (BINARY,)),
    "categorical": ((DC,), (CODES,)),
    "real": ((NX,), (REALS,)),
    "count": ((GP,), (COUNTS,)),
    "spiked": ((SN,), (SPIKES,)),
    "coarse": ((COARSE,), (np.rint(REALS),)),
    "coarse-spiked": ((STEPS,), (np.rint(SPIKES),)),
    "gaussian": ((NW,), (PLANE,)),
    "product": ((BB, DC, NX, GP), (BINARY, CODES, REALS, COUNTS)),
}
WORLDS = {
    f"{name}{suffix}": _world(families, tuple(map(change, blocks)))
    for name, (families, blocks) in _TABLES.items()
    for suffix, change in {"": np.copy, "-holes": _punched}.items()
}


def run(world, alpha, size, resampling, seed=0, bound=None):
    """Filter all rows of a world; return the filter and the partition of each particle."""
    rng = np.random.default_rng(seed)
    f = ParticleFilter(world.families, alpha, size, resampling, bound, rng)
    n = len(world.X[0])
    trace = np.full((n, 2, len(f.logw)), -9, np.int32)
    f.update(world.X, np.arange(n), trace, ahead=True)
    return f, partitions_in(f, trace)


def partitions_in(f, trace):
    """The partition of each particle from the record of its births: groups from 0 on."""
    r = np.arange(f.counters[UNIQUE])
    z = np.empty((len(r), len(trace)), np.int64)
    for j in range(len(trace) - 1, -1, -1):
        z[:, j], r = trace[j, 1, r] - 1, trace[j, 0, r]
    return z


def log_density(f, Y):
    """Log predictive density of each row of Y, as the filter's mixture has it."""
    live, weights = f.mixture()
    scores = np.zeros((len(Y[0]), len(live)))
    score_rows(f.family, f.stats, live, Y, scores)
    with np.errstate(divide="ignore"):  # at the bound the empty group has no weight
        return np.logaddexp.reduce(scores + np.log(weights), axis=1)
