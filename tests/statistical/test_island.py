"""The whole step of an island leaves the joint distribution as it is (Geweke 2004).

Hyper-parameters, partitions and rows of two classes are drawn from the prior. Then (a) the
island's own step, its hyper-parameters found and each class swept, alternates with (b) all
rows drawn anew given the rest. Both keep the joint distribution, so whatever is looked at must
go on as it is in the prior; an error in (a) has all the alternations to add up.
"""

import os
from functools import cache

import numpy as np
import pytest

from infinimix.families.priors import Layout, blank
from infinimix.families.product import Bound, engine, rows_of
from infinimix.families.seam import draw, empty
from infinimix.inference.ensemble.bank import Base, Settings, pool_rows
from infinimix.inference.ensemble.hyperparameters import draw_from_prior
from infinimix.inference.ensemble.island import Island
from infinimix.inference.partition import chain
from infinimix.inference.partition.chain import Chain
from infinimix.inference.partition.gibbs import join
from infinimix.inference.partition.population import ROWS, SIZE, Population
from infinimix.partitions.crp import ALPHA_PRIOR

LAYOUT = Layout({"binary": ("a", "b"), "categorical": ("c",), "real": ("d",)}, np.array([3]))
PRIOR = {"a": "learn", "b": "learn", "c": "learn", "d": (0.0, 0.3, 4.0, 0.6)}  # d has mild tails
SHARES = (np.arange(6), np.arange(6, 10))
STEPS = 40 if "INFINIMIX_SEEDS" in os.environ else 6
CHAINS, DRAWS, LIMIT = 40, 600 if "INFINIMIX_SEEDS" in os.environ else 300, 5.4
CENTRED = 11  # features whose mean in the prior is 0


def blank_like(block):
    """Cells that are all missing."""
    return np.full_like(block, np.nan if block.dtype.kind == "f" else -1)


@engine("count", "refresh", "copy")
def seat(family, stats, X, i, k, slots, mass, groups, particles, logw, counters):
    """Put row i in group k of the only particle, a new one if there is none yet."""
    p = Population(slots, mass, groups, particles, logw, counters)
    join(family, stats, X, i, 0, k if k < particles[SIZE, 0] else 0, p)
    counters[ROWS] += 1


def some_base():
    """A base measure whose pool is given, and not made of the rows."""
    family, rng = blank(LAYOUT), np.random.default_rng(7)
    pool, codes = empty(family, 1), np.array([[0], [0], [1], [1], [1], [2]], np.int32)
    X = (rng.integers(0, 2, (6, 2)).astype(np.int8), codes, rng.normal(size=(6, 1)))
    pool_rows(family, pool, X, 0, 6)
    return Base(LAYOUT, PRIOR, pool)


class World:
    """An island with one particle in each class, and the rows themselves."""

    def __init__(self, rng, base):
        self.rng, self.base = rng, base
        self.X = (np.empty((10, 2), np.int8), np.empty((10, 1), np.int32), np.empty((10, 1)))
        self.blank = tuple(blank_like(block[:1]) for block in self.X)
        settings = Settings("learn", PRIOR, 1, 1, "optimal", None, 0)
        self.island = Island(settings, np.random.SeedSequence(0), 0, base)
        self.island.rng = rng

    def begin(self):
        """Draw everything from the prior."""
        island, (shape, rate) = self.island, ALPHA_PRIOR
        island.filters, island.alpha = [], self.rng.gamma(shape) / rate
        island.positions, _ = draw_from_prior(self.rng, LAYOUT, PRIOR)
        island.family = self.base.families(island.positions)
        island._retarget()
        self.z = [crp(self.rng, len(rows), island.alpha) for rows in SHARES]
        self.draw_rows()

    def step(self):
        """Find the hyper-parameters, then sweep the classes, as `Island._sweep` does."""
        island = self.island
        island.find_hyper(self.base, [0, 0])
        for f, rows, z in zip(island.filters, SHARES, self.z, strict=True):
            Chain(f, self.X, rows, z).sweep()

    def draw_rows(self):
        """Draw all rows given the partitions, each from the predictive of its group so far."""
        self.island.filters = []
        for rows, z in zip(SHARES, self.z, strict=True):
            z[:] = in_order(z)
            self.island.add_class()
            f = self.island.filters[-1]
            f.rng = self.rng
            arrays, product = f.population(), Bound(seat.uses)(f.family, f.stats)
            for i, k in zip(rows, z, strict=True):
                slot = f.groups[:1, k] if k < f.particles[SIZE, 0] else np.zeros(1, np.int64)
                drawn = draw(f.family, f.stats, slot, self.blank, self.rng)
                for block, row in zip(self.X, drawn, strict=True):
                    block[i] = row[0]
                seat.run(*product, rows_of(self.X), i, k, *arrays)

    def features(self):
        """Numbers of which most errors would disturb one.

        What alpha says of the groups is taken off: alpha moves slowly, the rest does not.
        """
        alpha, (z, w) = self.island.alpha, self.z
        n, m = surplus(z, alpha), surplus(w, alpha)
        positions = [v.ravel() for kind, v in self.island.positions.items() if kind != "real"]
        positions = np.concatenate(positions).astype(float)
        strengths = positions[[0, 1, 4]]
        together, alike = self.pairs()
        matched = (together[:, None] * alike).mean(axis=0)
        return np.concatenate([
            [n, m, n * m, n * np.log(alpha), together.mean() - 1.0 / (1.0 + alpha)],
            strengths * n, strengths * m,  # so far CENTRED features
            [np.log(alpha), np.log(alpha) ** 2, n**2, m**2],
            positions, positions**2, positions[1:] * positions[:-1], alike.mean(axis=0), matched,
            strengths * alike.mean(axis=0)[:3], strengths * matched[:3], matched * np.log(alpha),
        ])  # fmt: skip

    def pairs(self):
        """Which pairs of rows of the first class share a group, and a cell of each column."""
        (B, C, R), (i, j) = self.X, np.triu_indices(len(SHARES[0]), 1)
        alike = np.column_stack([B[i] == B[j], C[i] == C[j], abs(R[i] - R[j]) < 0.4])
        return self.z[0][i] == self.z[0][j], alike


def surplus(z, alpha):
    """How many groups there are beyond what is expected under alpha."""
    return len(set(z.tolist())) - (alpha / (alpha + np.arange(len(z)))).sum()


def crp(rng, n, alpha):
    """Draw a partition: positions of groups from 1 on."""
    sizes, z = [], np.empty(n, np.int64)
    for i in range(n):
        p = np.array([*sizes, alpha]) / (i + alpha)
        k = int(rng.choice(len(p), p=p))
        sizes = [*sizes, 0] if k == len(sizes) else sizes
        sizes[k] += 1
        z[i] = k + 1
    return z


def in_order(z):
    """Number the groups as they appear."""
    names = {}
    return [names.setdefault(k, len(names) + 1) for k in z.tolist()]


@cache
def prior_moments(seed):
    """Means of the features in the prior, and the squared errors of these."""
    world, drawn = World(np.random.default_rng([seed, 1]), some_base()), []
    for _ in range(DRAWS):
        world.begin()
        drawn.append(world.features())
    mean, square = np.mean(drawn, axis=0), np.var(drawn, axis=0) / DRAWS
    mean[:CENTRED] = square[:CENTRED] = 0.0
    return mean, square


@pytest.mark.parametrize("moves", [0, chain.MOVES])
def test_the_step_keeps_the_joint_distribution(seed, moves, monkeypatch):
    """Gibbs alone and with split-merge moves, which would heal most of what Gibbs did wrong.

    Chains begin in the prior, so their means are independent and have its expectation: each
    of the 50 is off by more than LIMIT errors with probability 4e-6 (Student, 39 degrees of
    freedom), and any of them, with and without moves, with 4e-4.
    """
    monkeypatch.setattr(chain, "MOVES", moves)
    world, means = World(np.random.default_rng([seed, 2]), some_base()), []
    for _ in range(CHAINS):
        world.begin()
        seen = []
        for _ in range(STEPS):
            world.step()
            seen.append(world.features())  # while the rows are those that the step has seen
            world.draw_rows()
        means.append(np.mean(seen, axis=0))
    expected, square = prior_moments(seed)
    error = np.sqrt(np.var(means, axis=0, ddof=1) / CHAINS + square)
    distance = (np.mean(means, axis=0) - expected) / error
    assert (np.abs(distance) < LIMIT).all(), np.round(distance, 1)
