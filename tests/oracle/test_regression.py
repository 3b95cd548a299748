"""The conditional of a target against the ratio p(x, y) / p(x) of the exact joint.

With room for all partitions the filter is exact, so densities must be the ratio of enumerated
densities, and means, quantiles and draws must be those of numerical integrals of that ratio.
"""

import numpy as np
import pytest
from scipy import stats

from infinimix import CRPRegressor
from tests.oracle.test_estimators import EXACT, Enumerated, log_counts, log_normal

NAN = np.nan
PRIOR = (0.5, 0.3, 4.0, 2.0)  # four degrees of freedom: every variance is finite
X = [[0, 0, 0.2], [1, 1, -0.5], [0, 2, NAN], [1, NAN, 1.5], [NAN, 0, 0.9]]
Y = [1.5, -0.5, 0.75, 2.25, 1.25]
KINDS = {0: "binary", 1: "categorical", 2: "real"}
COLUMNS = [(log_counts, [1.5, 0.25]), (log_counts, [0.7] * 3), (log_normal, PRIOR)]
GIVEN = {"x0": (0.25, 1.5), "categorical": 0.7, "x2": PRIOR, "y": PRIOR}
QUERIES = [[0, 1, NAN], [NAN, 2, 0.3], [NAN, NAN, NAN], [1, NAN, 4.0], [0, 0, 0.2]]


@pytest.fixture(scope="module")
def exact():
    return Enumerated([[*x, y] for x, y in zip(X, Y, strict=True)], [*COLUMNS, (log_normal, PRIOR)])


def fitted(y=Y, **more):
    settings = EXACT | {"prior": GIVEN, "calibrate": False, "target": "real"} | more
    return CRPRegressor(KINDS, **settings, random_state=0).fit(X, y)


def log_ratio(exact, row, y):
    return exact.log_density([*row, y]) - exact.log_density([*row, NAN])


# Points of an integral over the whole line, dense around zero: y = sinh(u), dy = cosh(u) du.
U = np.linspace(-16.0, 16.0, 20_001)
LINE, STEPS = np.sinh(U), np.cosh(U) * (U[1] - U[0])


def density_of(model, row):
    """The density on the line, as the test below has found it to be the exact ratio."""
    return np.exp(model.log_density([row] * len(LINE), LINE))


@pytest.mark.parametrize("row", QUERIES)
@pytest.mark.parametrize("y", [-30.0, -0.4, 0.9, 2.3, 11.0])
def test_the_density_is_the_ratio_of_the_joint_densities(exact, row, y):
    found = fitted().log_density([row], [y])[0]
    assert np.isclose(found, log_ratio(exact, row, y), atol=1e-9)


@pytest.mark.parametrize("row", QUERIES)
def test_mean_and_deviation_are_integrals_of_the_density(row):
    model = fitted()
    mean, std = model.predict([row], return_std=True)
    moments = [(LINE**k * density_of(model, row) * STEPS).sum() for k in range(3)]
    assert np.isclose(moments[0], 1.0, atol=1e-7)
    assert np.isclose(mean[0], moments[1], atol=1e-6)
    assert np.isclose(std[0], np.sqrt(moments[2] - moments[1] ** 2), rtol=1e-4)


@pytest.mark.parametrize("row", QUERIES)
def test_below_a_quantile_lies_its_level(row):
    model, levels = fitted(), [0.001, 0.05, 0.5, 0.9, 0.9999]
    below = np.cumsum(density_of(model, row) * STEPS)
    found = model.predict_quantiles([row], levels)[0]
    middles = 0.5 * (U[1:] + U[:-1])  # a sum of steps ends in the middle between two points
    np.testing.assert_allclose(np.interp(np.arcsinh(found), middles, below[:-1]), levels, atol=1e-6)


def test_evidence_and_density_of_a_transformed_target_are_in_natural_units():
    y = np.exp(Y)
    logs, natural = fitted(), fitted(y, target="real:log")
    row, at = [QUERIES[1]], np.array([3.0])
    assert natural.target_ == "real:log"
    expected = logs.log_density(row, np.log(at)) - np.log(at)
    np.testing.assert_allclose(natural.log_density(row, at), expected, atol=1e-9)
    assert np.isclose(natural.log_evidence_, logs.log_evidence_ - sum(Y), atol=1e-9)
    np.testing.assert_allclose(
        natural.predict_quantiles(QUERIES, [0.5, 0.8]),
        np.exp(logs.predict_quantiles(QUERIES, [0.5, 0.8])),
        rtol=1e-9,
    )


def test_the_mean_of_a_transformed_target_is_that_of_values_within_the_training_values():
    y = np.exp(Y)
    logs, natural = fitted(), fitted(y, target="real:log")
    for row in QUERIES:
        values = np.clip(np.exp(np.minimum(LINE, 9.0)), y.min(), y.max())
        expected = (values * density_of(logs, row) * STEPS).sum()
        assert np.isclose(natural.predict([row])[0], expected, rtol=2e-3)


def test_draws_follow_the_density():
    model = fitted()
    draws = model.sample_y(QUERIES[:2], 4000, random_state=1)
    for row, drawn in zip(QUERIES[:2], draws, strict=True):
        levels = [0.1, 0.3, 0.5, 0.7, 0.9]
        ends = model.predict_quantiles([row], levels)[0]
        counts = np.bincount(np.searchsorted(ends, drawn), minlength=6)
        assert stats.chisquare(counts, 4000 * np.diff([0.0, *levels, 1.0])).pvalue > 1e-4
