"""Examples of every family: hyper-parameters and rows that the laws of a family visit.

A new family joins by an entry in EXAMPLES: a name and at least three examples, each of
hyper-parameters and rows with missing cells (among them a row without any cell), constant columns
and extreme values.
"""

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
from tests.contract.page import family as page

rng = np.random.default_rng(11)


class Example(NamedTuple):
    """A family (or a product of some) and rows for it."""

    family: tuple
    X: np.ndarray | tuple
    conjugate: bool = True  # the posterior is in the family, also of rows with holes

    @property
    def n(self):
        return len(self.X[0]) if isinstance(self.X, tuple) else len(self.X)


def punch(block, share=0.2):
    """Lose some cells everywhere, and all cells of row 1."""
    gone = rng.random(block.shape) < share
    gone[1] = True
    block[gone] = np.nan if block.dtype.kind == "f" else -1
    return block


def bits(width):
    block = rng.integers(0, 2, (9, width)).astype(np.int8)
    block[:, 0] = 1
    return block


def codes(sizes):
    return np.stack([rng.integers(0, max(s, 1), 9) - (s == 0) for s in sizes], 1).astype(np.int32)


def joint(mean, kappa, nu, scale, correlation):
    """A block whose columns have these means and scales, and one correlation for all pairs."""
    d, scale = len(mean), np.array(scale)
    R = np.full((d, d), correlation) + (1.0 - correlation) * np.eye(d)
    head = np.vstack([mean, np.full(d, kappa), np.full(d, nu)])
    return NormalInverseWishart(np.vstack([head, nu * R * scale * scale[:, None]]))


def lines(X, share=0.3):
    """Lose some rows whole, row 1 among them."""
    gone = rng.random(len(X)) < share
    gone[1] = True
    return np.where(gone[:, None], np.nan, X)


def categorical(*columns):
    start = np.cumsum([0, *map(len, columns)])
    return DirichletCategorical(np.concatenate([*map(np.array, columns)]), start)


def normal_family(prior, resolution=0.0):
    """Real columns whose values are rounded to multiples of a resolution."""
    prior = np.array(prior, float)
    return NormalInverseChiSquared(prior, np.broadcast_to(resolution, prior.shape[1:]) ** 2 / 12.0)


def spiked_family(prior, resolution=0.0):
    """The same for spiked columns."""
    prior = np.array(prior, float)
    return SpikedNormal(prior, np.broadcast_to(resolution, prior.shape[1:]) ** 2 / 12.0)


HALF = BetaBernoulli(np.full((2, 4), 0.5))
UNEVEN = BetaBernoulli(np.array([[1e-3, 300.0, 0.2, 1.0], [2.0, 0.5, 1e-3, 40.0]]))
EVEN = categorical([0.5] * 3, [0.5] * 2)
ODD = categorical([1.0], [2.0, 1e-3, 0.4, 7.0, 0.1], [], [0.3, 90.0])  # one, five, no, two codes
UNIT = normal_family([[0.0, 0.2], [1.0, 0.1], [1.0, 2.0], [1.0, 0.5]])
FIRM = normal_family([[5.0, -1.0], [200.0, 0.01], [300.0, 0.1], [9.0, 1e-6]])
YEARS = normal_family([[1.7e9, 0.0], [0.1, 0.1], [2.0, 2.0], [1e14, 1.0]])
LARGE = normal_family([[0.0, 1e100], [0.1, 0.1], [2.0, 2.0], [1e-200, 1e200]])
RARE = GammaPoisson(np.array([[0.5, 1.0], [0.5, 0.2]]))
BOLD = GammaPoisson(np.array([[1e-3, 300.0, 2.0], [1e-3, 0.5, 1e5]]))
MANY = GammaPoisson(np.array([[0.5, 1e9], [1e-5, 2e4]]))

WAIT = page.GammaExponential(np.array([[2.0, 0.3], [1.0, 50.0]]))
FAINT = page.GammaExponential(np.array([[1e-3, 300.0], [1e-3, 1e9]]))

THORN = spiked_family([*UNIT.prior, [0.5, 2.0], [0.5, 0.1]])
STEADY = np.maximum(FIRM.prior, [[-9.0], [0.0], [1.0], [0.0]])  # no tails that no grid covers
BLUNT = spiked_family([*STEADY, *UNEVEN.prior[:, :2]])
DATES = spiked_family([*YEARS.prior, [0.3, 0.3], [0.2, 0.2]])
GRAND = spiked_family([*LARGE.prior, [0.5, 0.5], [0.5, 0.5]])
COARSE = normal_family(UNIT.prior, [1.0, 0.5])
DOZENS = normal_family(FIRM.prior, [12.0, 1e-9])
STEPS = spiked_family(THORN.prior, [1.0, 0.5])
FLIGHTS = spiked_family(BLUNT.prior, [12.0, 1e-9])

PLAIN = joint([0.0, 0.2, -1.0], 0.5, 1.5, [1.0, 0.7, 2.0], 0.4)
STIFF = joint([5.0, -1.0], 200.0, 300.0, [3.0, 1e-3], -0.9)
EPOCH = joint([1.7e9, 0.0], 0.1, 2.0, [1e7, 1.0], 0.0)
SIZES = joint([0.0, 1e100], 0.1, 2.0, [1e-100, 1e100], 0.5)
LONE = joint([0.3], 0.5, 2.0, [1.3], 0.0)

normal = rng.normal(size=(9, 2))
tied = rng.normal(size=(9, 1)) + rng.normal(size=(9, 3)) * [0.1, 0.5, 2.0]
constant = np.full((9, 2), [3.0, 0.0])
stamps = np.column_stack([1.7e9 + rng.integers(0, 10**7, 9), rng.normal(size=9)])
huge = normal * [1e-100, 1e100] + [0.0, 1e100]
outlier = np.vstack([normal[:8], [1e8, -1e-8]])


def spike(block, share=0.4):
    """Let some cells be the common value, all cells of row 2 among them."""
    common = rng.random(block.shape) < share
    common[2] = True
    return np.where(common, np.inf, block)


few = rng.poisson([0.7, 6.0], (9, 2)).astype(float)
mixed = np.column_stack([rng.poisson([5.0, 700.0], (9, 2)), np.zeros(9)])
many = rng.poisson(5e4, (9, 2)).astype(float)
lonely = np.vstack([few[:8], [30_000.0, 0.0]])
times = np.random.default_rng(12).exponential([0.7, 60.0], (9, 2))
late = np.vstack([times[:7], [[1e12, 0.0], [1e-12, 0.0]]])

EXAMPLES = {
    "bernoulli": [
        Example(HALF, bits(4)),
        Example(HALF, punch(bits(4))),
        Example(UNEVEN, punch(bits(4))),
    ],
    "categorical": [
        Example(EVEN, codes([3, 2])),
        Example(EVEN, punch(codes([3, 2]))),
        Example(ODD, punch(codes([1, 5, 0, 2]))),
    ],
    "normal": [
        Example(UNIT, normal),
        Example(UNIT, punch(normal.copy())),
        Example(UNIT, punch(outlier)),
        Example(FIRM, punch(constant.copy())),
        Example(YEARS, punch(stamps.copy())),
        Example(LARGE, punch(huge.copy())),
    ],
    "coarse": [
        Example(COARSE, np.rint(2.0 * normal) / 2.0),
        Example(COARSE, punch(np.rint(2.0 * normal) / 2.0)),
        Example(DOZENS, punch(constant.copy())),
    ],
    "poisson": [
        Example(RARE, few),
        Example(RARE, punch(few.copy())),
        Example(RARE, punch(lonely)),
        Example(BOLD, punch(mixed.copy())),
        Example(MANY, punch(many)),
    ],
    "of the page": [
        Example(WAIT, times),
        Example(WAIT, punch(times.copy())),
        Example(FAINT, punch(late)),
    ],
    "spiked": [
        Example(THORN, spike(normal)),
        Example(THORN, punch(spike(normal))),
        Example(THORN, punch(spike(outlier))),
        Example(THORN, spike(normal, 1.0)),
        Example(BLUNT, punch(spike(constant))),
        Example(DATES, punch(spike(stamps))),
        Example(GRAND, punch(spike(huge))),
    ],
    "coarse spiked": [
        Example(STEPS, punch(spike(np.rint(2.0 * normal) / 2.0))),
        Example(STEPS, np.where(np.eye(9, 2) > 0, np.inf, np.rint(2.0 * normal) / 2.0)),
        Example(FLIGHTS, np.vstack([np.full((4, 2), np.inf), np.rint(constant[4:])])),
    ],
    "gaussian": [
        Example(PLAIN, tied),
        Example(PLAIN, lines(tied)),
        Example(LONE, punch(tied[:, :1].copy())),
        Example(STIFF, constant.copy()),
        Example(EPOCH, lines(stamps)),
        Example(SIZES, lines(huge)),
        Example(PLAIN, punch(tied.copy()), conjugate=False),
        Example(PLAIN, punch(tied.copy(), 0.5), conjugate=False),
        Example(STIFF, punch(normal + np.array([5.0, -1.0])), conjugate=False),
        Example(EPOCH, punch(stamps.copy()), conjugate=False),
        Example(SIZES, punch(huge.copy()), conjugate=False),
    ],
    "product": [
        Example(
            (HALF, EVEN, UNIT, RARE, THORN, PLAIN),
            (bits(4), codes([3, 2]), normal, few, spike(normal), tied),
        ),
        Example((EVEN, COARSE, STEPS), (codes([3, 2]), np.rint(normal), spike(np.rint(normal)))),
        Example(
            (UNEVEN, ODD, FIRM, BOLD, BLUNT, PLAIN),
            (
                punch(bits(4)),
                punch(codes([1, 5, 0, 2])),
                punch(normal.copy(), 0.5),
                punch(mixed),
                punch(spike(normal)),
                lines(tied),
            ),
        ),
    ],
}
