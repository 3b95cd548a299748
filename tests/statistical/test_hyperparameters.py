"""Dials drawn from the prior are found again: calibration by simulation, with given groups."""

import os

import numpy as np
from scipy.stats import chisquare

from infinimix.families.catalogue import CATALOGUE
from infinimix.families.priors import Base, Layout, blank
from infinimix.families.product import engine
from infinimix.families.seam import add, draw, empty
from infinimix.inference.ensemble.hyperparameters import (
    draw_from_prior,
    draw_hyperparameters,
    draw_positions,
    gather,
    weigh_positions,
)

LAYOUT = Layout(
    {"binary": tuple("abc"), "categorical": tuple("de"), "real": tuple("fg"), "count": tuple("hi")},
    np.array([3, 4]),
)
RUNS = 200 if "INFINIMIX_SEEDS" in os.environ else 100  # bounds are in standard errors
GROUPS, ROWS, DRAWS = np.arange(10), 5, 9


@engine("count", "refresh")
def seat(family, stats, X, slots):
    """Put row i in slot slots[i]."""
    for i in range(slots.shape[0]):
        add(family, stats, slots[i], X, i, 1.0)


def some_pool():
    """A pool that is given, not made of the rows: the calibration is of the draws alone."""
    rng, family = np.random.default_rng(7), blank(LAYOUT)
    pool = empty(family, 1)
    X = (
        rng.integers(0, 2, (20, 3)).astype(np.int8),
        rng.integers(0, [3, 4], (20, 2)).astype(np.int32),
        rng.normal(size=(20, 2)),
        rng.poisson(3.0, (20, 2)).astype(float),
    )
    seat(family, pool, X, np.zeros(20, np.int64))
    return pool


def draw_groups(families, rng):
    """Rows one after another from the predictive of each group."""
    stats, n = empty(families, len(GROUPS)), len(GROUPS)
    holes = (
        np.full((n, 3), -1, np.int8), np.full((n, 2), -1, np.int32),
        np.full((n, 2), np.nan), np.full((n, 2), np.nan),
    )  # fmt: skip
    for _ in range(ROWS):
        seat(families, stats, draw(families, stats, GROUPS, holes, rng), GROUPS)
    return stats


def place(rng, truth, draws):
    """The rank of the truth among draws; ties are broken by chance."""
    return sum(d < truth for d in draws) + rng.integers(0, sum(d == truth for d in draws) + 1)


def excess(truth, draws):
    """Squared distance of the truth from the draws, less that of the draws from each other.

    Its mean is 0 when the truth is one more draw; draws that are too sure make it positive.
    Ranks do not see that on a coarse grid, where most draws tie with the truth.
    """
    return (np.mean((draws - truth) ** 2, axis=0) - 2.0 * np.var(draws, axis=0, ddof=1)).sum()


def test_hyper_parameters_are_calibrated(seed):
    """Given the others at their true positions the draws of one are exact and independent, and the
    truth is one more of them: ranks are uniform (chi-squared, 15 of them at 1e-6), distances equal
    (9 of them and their sum, within 5 standard errors). After a scan from the truth they have
    the joint distribution that they had: 59 moments within 5 standard errors. Together a false
    alarm in 15,000 runs.
    """
    rng, base = np.random.default_rng(seed), Base(LAYOUT, "learn", some_pool())
    ranks, distances, moments = {}, [], []
    for _ in range(RUNS):
        grid, common = draw_from_prior(rng, LAYOUT, "learn")
        stats = draw_groups(base.families(grid), rng)
        distances.append([])
        for block, (kind, names) in enumerate(LAYOUT.names.items()):
            for j, hyper in enumerate(CATALOGUE[kind].grid):
                families = base.blocks[kind].each(grid[kind], j)
                groups = gather([(stats[block], GROUPS)])
                table = weigh_positions(families, groups, len(names))
                levels, drawn = zip(
                    *[draw_positions(rng, hyper, table) for _ in range(DRAWS)], strict=True
                )
                distances[-1].append(excess(grid[kind][j], np.array(drawn)))
                own = ranks.setdefault((kind, j), [])
                own.append(place(rng, grid[kind][j, 0], [v[0] for v in drawn]))
                if hyper.tau0 > 0.0:
                    own = ranks.setdefault((kind, j, "common"), [])
                    own.append(place(rng, common[kind][j], levels))
        again, _ = draw_hyperparameters(rng, base, grid, [(stats, GROUPS)])
        moments.append(features(again) - features(grid))
    assert len(ranks) == 15
    for own in ranks.values():
        assert chisquare(np.bincount(own, minlength=DRAWS + 1)).pvalue > 1e-6
    together = (distances / np.std(distances, axis=0)).sum(axis=1)
    for values in (np.array(distances), together, np.array(moments)):
        assert (np.abs(values.mean(axis=0)) <= 5.0 * values.std(axis=0) / np.sqrt(RUNS)).all()


def features(grid):
    """Notches, squares and products of neighbours: what a wrong scan would disturb."""
    v = np.concatenate([positions.ravel() for positions in grid.values()]).astype(float)
    return np.concatenate([v, v**2, v[1:] * v[:-1]])
