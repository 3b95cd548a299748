"""Hyper-parameters given the groups: against enumeration, and what a scan leaves alone."""

import numpy as np
import pytest
from scipy.stats import chisquare

from infinimix.families.catalogue import CATALOGUE, Hyper
from infinimix.families.grids import GRID, TAUS, centred
from infinimix.families.priors import Base, Layout, blank, find_families
from infinimix.families.product import engine
from infinimix.families.seam import add, empty, evidence
from infinimix.inference.ensemble.bank import pool_rows
from infinimix.inference.ensemble.hyperparameters import (
    draw_hyperparameters,
    draw_positions,
    gather,
    scan_one_by_one,
    weigh_positions,
)

LAYOUT = Layout({"binary": ("a", "b", "c"), "real": ("x",)}, np.zeros(0, np.int64))
PRIOR = {"a": "learn", "b": "empirical", "c": "learn", "x": "learn"}


@engine("count", "refresh")
def seat(family, stats, X, slots):
    """Put row i in slot slots[i]."""
    for i in range(slots.shape[0]):
        add(family, stats, slots[i], X, i, 1.0)


@engine("column_evidence")
def evidence_of(family, stats, k):
    return evidence(family, stats, k)


def table(seed=0, n=40, n_groups=4):
    """Groups and the pool of a small table with holes."""
    rng, family = np.random.default_rng(seed), blank(LAYOUT)
    stats, pool = empty(family, n_groups + 1), empty(family, 1)
    X = rng.integers(-1, 2, (n, 3)).astype(np.int8), rng.normal(size=(n, 1))
    X[1][::5] = np.nan
    pool_rows(family, pool, X, 0, n)
    seat(family, stats, X, 1 + np.arange(n) % n_groups)
    return stats, pool


def weights(v, centre, spread):
    p = np.exp(-0.5 * ((v - centre) / spread) ** 2)
    return p / p.sum()


def enumerate_two_columns(hyper, log_evidence):
    """P(c, v_1, v_2) by the formula, one term after another."""
    levels = GRID if hyper.tau0 else [0]
    p = np.zeros((len(levels), len(GRID), len(GRID)))
    for c, level in enumerate(levels):
        for tau in TAUS:
            own = weights(GRID, level, tau)
            start = weights(GRID, 0, hyper.tau0)[c] if hyper.tau0 else 1.0
            p[c] += start / tau * np.outer(own, own)
    p *= np.exp(np.add.outer(*log_evidence.T))
    return p / p.sum()


@pytest.mark.parametrize("tau0", [0.0, 2.0])
def test_a_hyper_parameter_is_drawn_from_its_posterior(tau0, seed):
    """Chi-squared over cells of (c, v_1, v_2): a false alarm in 10^5 runs."""
    rng, hyper, n = np.random.default_rng(seed), Hyper("any", 1.0, tau0), 4000
    log_evidence = np.column_stack([-0.3 * (GRID - 2.0) ** 2, np.where(GRID > -2, 0.0, -700.0)])
    p = enumerate_two_columns(hyper, log_evidence)
    found = np.zeros(p.shape)
    for _ in range(n):
        c, (v1, v2) = draw_positions(rng, hyper, log_evidence)
        found[c - GRID[0] if tau0 else 0, v1 - GRID[0], v2 - GRID[0]] += 1
    order = np.argsort(-p.ravel())
    kept = int((n * p > 8).sum())
    found, p = (
        np.append(a.ravel()[order[:kept]], a.ravel()[order[kept:]].sum()) for a in (found, p)
    )
    assert chisquare(found, n * p).pvalue > 1e-5


def test_without_a_generator_it_is_the_most_probable():
    """First the most probable level and spread, then the position of each column."""
    hyper, sharp = Hyper("any", 1.0, 2.0), -50.0 * (GRID[:, None] - [1, 1, 2]) ** 2
    c, v = draw_positions(None, hyper, sharp)
    assert c == 1
    assert v.tolist() == [1, 1, 2]
    assert draw_positions(None, hyper, np.zeros((len(GRID), 2)))[1].tolist() == [0, 0]


def test_columns_that_disagree_beyond_all_measure_are_drawn():
    """Each column is sure of another position: no sum may vanish."""
    sure = np.where(GRID[:, None] == [GRID[0], GRID[-1]], 0.0, -1e6)
    for hyper in CATALOGUE["binary"].grid:
        _, v = draw_positions(np.random.default_rng(0), hyper, sure)
        assert v.tolist() == [GRID[0], GRID[-1]]


def test_the_table_is_the_evidence_at_each_position():
    stats, pool = table()
    other, _ = table(1)
    grid = centred(LAYOUT)
    groups = [(stats[0], np.array([1, 3])), (other[0], np.array([2]))]
    families = []
    for v in GRID:
        grid["binary"][0] = v
        families.append(find_families(LAYOUT, "learn", pool, grid)[0])
    stack = Base(LAYOUT, "learn", pool).blocks["binary"].each(centred(LAYOUT)["binary"], 0)
    found = weigh_positions(stack, gather(groups), 3).sum(axis=1)
    for family, value in zip(families, found, strict=True):
        expected = sum(evidence_of(family, own, k) for own, slots in groups for k in slots)
        assert value == pytest.approx(expected, abs=1e-9)


def test_a_scan_turns_only_what_is_learned():
    stats, pool = table()
    before = centred(LAYOUT)
    before["binary"][:, 1] = 5  # of a column that is not learned
    moved = np.zeros((2, 3), bool)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        grid, common = draw_hyperparameters(
            rng, Base(LAYOUT, PRIOR, pool), before, [(stats, [1, 2, 3, 4])]
        )
        moved |= grid["binary"] != before["binary"]
        assert np.isin(grid["real"], GRID).all()
        assert common["binary"][1] == 0  # the mean stays with the pooled mean
    assert moved.tolist() == [[True, False, True]] * 2
    assert (before["binary"][:, [0, 2]] == 0).all()
    base = Base(LAYOUT, "empirical", pool)
    still, _ = draw_hyperparameters(rng, base, before, [(stats, [1, 2, 3, 4])])
    assert (still["binary"] == before["binary"]).all()


def test_the_same_seed_gives_the_same_draws():
    stats, pool = table()
    groups, base = [(stats, [1, 2])], Base(LAYOUT, PRIOR, pool)
    a, b = (
        draw_hyperparameters(np.random.default_rng(3), base, centred(LAYOUT), groups)
        for _ in range(2)
    )
    np.testing.assert_equal(a, b)


@pytest.mark.parametrize("prior", ["learn", PRIOR])
def test_a_scan_draws_what_it_draws_step_by_step(prior):
    """Hundreds of draws, with and without a generator; only equal sums could be drawn apart."""
    for seed in range(30):
        stats, pool = table(seed, n_groups=1 + seed % 5)
        base, slots = Base(LAYOUT, prior, pool), np.arange(1, 2 + seed % 5)
        for rng in (np.random.default_rng(seed), None):
            grid, common = draw_hyperparameters(rng, base, centred(LAYOUT), [(stats, slots)])
            rng = rng and np.random.default_rng(seed)
            for b, (block, own) in enumerate(base.blocks.items()):
                positions = np.zeros_like(grid[block])
                levels = np.zeros_like(common[block])
                scan_one_by_one(rng, own, positions, gather([(stats[b], slots)]), levels)
                np.testing.assert_array_equal(positions, grid[block])
                np.testing.assert_array_equal(levels, common[block])


def test_many_groups_find_the_strength_that_made_them():
    """Groups of Beta(.5, .5) columns have strength 1: one step above the default."""
    rng = np.random.default_rng(0)
    layout = Layout({"binary": tuple("abcdefgh")}, np.zeros(0, np.int64))
    stats, pool = empty(blank(layout), 100), empty(blank(layout), 1)
    stats[0].n[:, 1] = rng.binomial(200, rng.beta(0.5, 0.5, (100, 8)))
    stats[0].n[:, 0] = 200 - stats[0].n[:, 1]
    pool[0].n[0] = stats[0].n.sum(axis=0)
    args = Base(layout, "learn", pool), centred(layout), [(stats, np.arange(100))]
    grid, common = draw_hyperparameters(None, *args)
    assert common["binary"].tolist() == [1, 0]
    assert (grid["binary"][0] == 1).all()
    assert (np.abs(grid["binary"][1]) <= 1).all()
