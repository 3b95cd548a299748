"""Levels are those of held-out rows, and a corrected distribution is one."""

import numpy as np
import pytest

from infinimix.estimators.mixture.regression.calibration import (
    SAME,
    Levels,
    Outlook,
    find_scale,
)
from infinimix.estimators.mixture.regression.conditional import Students, TargetDensity

rng = np.random.default_rng(0)


def students(place, scale, degrees):
    place, scale, degrees = (np.array(x, float) for x in (place, scale, degrees))
    return Students(place, scale, degrees, scale**2 * degrees / (degrees - 2.0))


TWO = students([-2.0, 3.0], [0.5, 1.5], [8.0, 5.0])
ROWS = TargetDensity(TWO, np.array([[0.3, 0.7], [1.0, 0.0], [0.0, 1.0]]))
BENT = Levels(np.array([0.0, 0.1, 0.6, 1.0]), np.array([0.0, 0.3, 0.5, 1.0]))
LINE = np.linspace(-300.0, 300.0, 600_001)


def test_levels_that_are_uniform_stay():
    found = Levels.learn(np.arange(1, 200) / 200)
    np.testing.assert_allclose(found.level, found.share, atol=1e-12)
    assert found.sound()


def test_the_share_of_rows_below_a_level_is_found():
    levels = rng.beta(4.0, 2.0, 999)
    found = Levels.learn(levels)
    for p in (0.05, 0.5, 0.95):
        assert np.isclose((levels < found.to_level(np.array(p))).mean(), p, atol=0.003)
        assert np.isclose(found.to_share(found.to_level(np.array(p))), p)


@pytest.mark.parametrize("levels", [[0.5], [0.2, 0.2], [0.0] * 50, [1.0] * 50])
def test_few_or_equal_levels_leave_an_increasing_map(levels):
    assert Levels.learn(np.array(levels)).sound()


def test_a_corrected_density_integrates_to_its_distribution():
    for row in range(3):
        one = ROWS.take([row])
        rows = TargetDensity(TWO, np.repeat(one.weight, len(LINE), axis=0))
        outlook = Outlook(rows, np.full(len(LINE), 10.0), 2.5, BENT)
        below = np.cumsum(np.exp(outlook.log_density(LINE))) * (LINE[1] - LINE[0])
        assert np.isclose(below[-1], 1.0, atol=1e-3)
        at = np.searchsorted(LINE, [4.0, 9.0, 12.0])
        np.testing.assert_allclose(outlook.cdf(LINE)[at], below[at], atol=2e-3)


def test_quantiles_are_where_the_distribution_has_their_level():
    outlook = Outlook(ROWS, np.array([10.0, 11.0, 12.0]), 2.5, BENT)
    for p in (1e-6, 0.02, 0.3, 0.5, 0.77, 0.999):
        found = outlook.quantile(np.full(3, p))
        np.testing.assert_allclose(outlook.cdf(found), p, rtol=1e-6)


def test_cells_are_a_distribution_around_the_mean():
    middles, share = Outlook(ROWS, ROWS.mean, 1.0, SAME).shares_of_cells()
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    near = np.where(np.abs(middles) < 1e3, middles, 0.0)
    np.testing.assert_allclose((share * near).sum(axis=1), ROWS.mean, atol=0.05)


@pytest.mark.parametrize("scale", [0.2, 3.0])
def test_the_scale_of_draws_is_found(scale):
    n = 600
    rows = TargetDensity(TWO, np.tile([0.5, 0.5], (n, 1)))
    inner = rows.quantile(rng.uniform(size=n))
    t = 7.0 + scale * (inner - rows.mean)
    assert np.isclose(find_scale([rows], [np.full(n, 7.0)], [t]), scale, rtol=0.1)


def test_the_variance_of_far_values_loses_no_digits():
    far = students([1e9, 1e9 + 2.0], [0.1, 0.1], [9.0, 9.0])
    one = TargetDensity(far, np.array([[0.5, 0.5]]))
    assert np.isclose(one.variance[0], 1.0 + 0.01 * 9 / 7, rtol=1e-6)
