"""What a step on each grid does to the base measure."""

import numpy as np
import pytest
from scipy.special import logit

from infinimix.families.base_measures import REAL_EMPIRICAL, STRENGTH
from infinimix.families.catalogue import CATALOGUE
from infinimix.families.grids import GRID, centred
from infinimix.families.priors import Layout, blank, find_families
from infinimix.families.seam import empty
from infinimix.inference.ensemble.bank import pool_rows

LAYOUT = Layout(
    {
        "binary": ("a", "b"),
        "categorical": ("c", "d"),
        "real": ("e", "f"),
        "count": ("g", "h"),
        "spiked": ("i", "j"),
    },
    np.array([3, 0]),
)


def pooled(n=30):
    """Pooled statistics of a table with constant, empty and ordinary columns."""
    rng, family = np.random.default_rng(0), blank(LAYOUT)
    pool = empty(family, 1)
    X = (
        np.column_stack([rng.integers(0, 2, n), np.ones(n)]).astype(np.int8),
        np.column_stack([rng.choice(3, n, p=[0.7, 0.25, 0.05]), -np.ones(n)]).astype(np.int32),
        np.column_stack([rng.normal(3.0, 2.0, n), np.full(n, 7.0)]),
        np.column_stack([rng.poisson(4.0, n), np.zeros(n)]).astype(float),
        np.where(np.arange(n)[:, None] % [3, 1], rng.normal(3.0, 2.0, (n, 2)), np.inf),
    )
    pool_rows(family, pool, X, 0, n)
    return pool


def moved_to(kind, name, step, prior="learn"):
    """The prior of a kind with one hyper-parameter of its first column moved."""
    grid = centred(LAYOUT)
    grid[kind][[hyper.name for hyper in CATALOGUE[kind].grid].index(name), 0] = step
    families = find_families(LAYOUT, prior, pooled(), grid)
    return families[list(LAYOUT.names).index(kind)].prior


@pytest.mark.parametrize("grid", [None, centred(LAYOUT)])
def test_grids_at_zero_are_the_empirical_prior_bit_for_bit(grid):
    expected = find_families(LAYOUT, "empirical", pooled())
    for a, b in zip(find_families(LAYOUT, "learn", pooled(), grid), expected, strict=True):
        np.testing.assert_array_equal(a.prior, b.prior)


def test_grids_act_only_where_they_are_learned():
    names = [name for own in LAYOUT.names.values() for name in own]
    prior = dict.fromkeys(names, "empirical") | {"b": "reference", "e": (0.0, 1.0, 2.0, 3.0)}
    still = find_families(LAYOUT, prior, pooled())
    grid = {kind: positions + 3 for kind, positions in centred(LAYOUT).items()}
    for a, b in zip(find_families(LAYOUT, prior, pooled(), grid), still, strict=True):
        np.testing.assert_array_equal(a.prior, b.prior)
    moved = find_families(LAYOUT, prior | {"a": "learn"}, pooled(), grid)[0].prior
    assert (moved[:, 0] != still[0].prior[:, 0]).all()
    np.testing.assert_array_equal(moved[:, 1], still[0].prior[:, 1])


@pytest.mark.parametrize("kind", LAYOUT.names)
def test_a_grid_moves_its_own_column_only(kind):
    (size, *_) = LAYOUT.category_counts if kind == "categorical" else (1,)
    still = moved_to(kind, CATALOGUE[kind].grid[0].name, 0)
    for hyper in CATALOGUE[kind].grid:
        moved = moved_to(kind, hyper.name, 2)
        assert (moved[..., :size] != still[..., :size]).any()
        np.testing.assert_array_equal(moved[..., size:], still[..., size:])


def test_strength_is_the_number_of_pseudo_rows():
    for kind in ("binary", "categorical"):
        still, moved = (moved_to(kind, "strength", v)[..., :1] for v in (0, 3))
        np.testing.assert_allclose(moved, 8.0 * still)


def test_the_mean_of_a_binary_column_moves_in_log_odds():
    still, moved = (moved_to("binary", "mean", v)[:, 0] for v in (0, -3))
    assert moved.sum() == pytest.approx(still.sum())
    step = logit(moved[1] / moved.sum()) - logit(still[1] / still.sum())
    assert step == pytest.approx(-1.5)


def test_evenness_tempers_the_shares():
    still, hot, cold = (moved_to("categorical", "evenness", v) for v in (0, 2, -2))
    assert hot.sum() == pytest.approx(still.sum())
    np.testing.assert_allclose(hot / hot[0], np.sqrt(still / still[0]))
    np.testing.assert_allclose(cold / cold[0], (still / still[0]) ** 2)


def test_a_narrow_group_of_reals_leaves_the_spread_of_means():
    mean, kappa, nu, scale2 = moved_to("real", "variance", 0)[:, 0]
    narrow = moved_to("real", "variance", -2)[:, 0]
    np.testing.assert_allclose(narrow, [mean, kappa / 9.0, nu, scale2 / 9.0])
    np.testing.assert_allclose(moved_to("real", "nu", 1)[:, 0], [mean, kappa, 2 * nu, scale2])
    np.testing.assert_allclose(moved_to("real", "kappa", 1)[:, 0], [mean, 2 * kappa, nu, scale2])
    assert (kappa, nu) == (REAL_EMPIRICAL.kappa, REAL_EMPIRICAL.nu)


def test_the_grids_of_a_spiked_column_are_those_of_its_other_cells():
    *still, rest, atom = moved_to("spiked", "variance", 0)[:, 0]
    mean, kappa, nu, scale2 = still
    assert rest + atom == pytest.approx(STRENGTH["binary"])
    for name, step, expected in [
        ("variance", -2, [mean, kappa / 9.0, nu, scale2 / 9.0]),
        ("nu", 1, [mean, kappa, 2 * nu, scale2]),
        ("kappa", 1, [mean, 2 * kappa, nu, scale2]),
    ]:
        moved = moved_to("spiked", name, step)[:, 0]
        np.testing.assert_allclose(moved, [*expected, rest, atom])


def test_the_shape_of_a_count_leaves_its_mean():
    a, b = moved_to("count", "shape", 0)[:, 0]
    np.testing.assert_allclose(moved_to("count", "shape", 2)[:, 0], [4 * a, 4 * b])
    np.testing.assert_allclose(moved_to("count", "mean", 2)[:, 0], [a, b / np.e])


@pytest.mark.parametrize("step", [GRID[0], GRID[-1]])
def test_priors_are_proper_at_the_ends_of_the_grid(step):
    grid = {kind: np.full_like(positions, step) for kind, positions in centred(LAYOUT).items()}
    families = find_families(LAYOUT, "learn", pooled(), grid)
    binary, categorical, real, count, spiked = (family.prior for family in families)
    for table in (binary, categorical, real[1:], count, spiked[1:]):
        assert (table > 0.0).all()
        assert np.isfinite(table).all()
