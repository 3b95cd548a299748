"""Base measures found in the data."""

import numpy as np
import pytest

from infinimix.families.priors import (
    COUNT_SHAPES,
    REAL_EMPIRICAL,
    STRENGTH,
    Layout,
    blank,
    depends_on_data,
    find_families,
)
from infinimix.families.seam import add, empty


def column_prior(kind, values, prior):
    layout = Layout({kind: ("x",)}, np.zeros(0, np.int64))
    family = blank(layout)
    pool = empty(family, 1)
    X = (np.array(values, float)[:, None],)
    for i in range(len(values)):
        add(family, pool, 0, X, i, 1.0)
    return find_families(layout, prior, pool)[0].prior[:, 0]


def real_prior(values, prior="empirical"):
    return column_prior("real", values, prior)


@pytest.mark.parametrize("prior", ["empirical", "reference"])
@pytest.mark.parametrize("scale", [1e-120, 1e-10, 1e-3, 1.0, 1e9, 1e120])
@pytest.mark.parametrize("values", [[-1.0, 1.0], [-1.0, 1.0, 2.5], [4.0, 4.0, 4.0], [7.0]])
def test_a_real_column_is_measured_in_its_own_units(values, scale, prior):
    """Also when its mean is zero, and when it is constant."""
    mean, kappa, nu, variance = real_prior(values, prior)
    found = real_prior(np.multiply(values, scale), prior)
    np.testing.assert_allclose(found, [mean * scale, kappa, nu, variance * scale**2], rtol=1e-12)


@pytest.mark.parametrize("values", [[], [np.nan], [0.0], [0.0, 0.0], [1e-200], [1e-200, -1e-200]])
def test_a_column_without_a_scale_has_a_proper_prior(values):
    mean, kappa, nu, variance = real_prior(values)
    assert abs(mean) <= 1e-200
    assert (kappa, nu, variance) == REAL_EMPIRICAL


def test_rounding_errors_are_no_scale():
    assert real_prior([0.1 + 0.2, 0.3, 0.3])[3] == pytest.approx(REAL_EMPIRICAL.variance * 0.3**2)


def test_an_empirical_binary_or_categorical_column_has_its_shares():
    layout = Layout({"binary": ("a", "b"), "categorical": ("c",)}, np.array([3]))
    family = blank(layout)
    pool = empty(family, 1)
    X = np.array([[1, -1], [1, -1], [0, -1]], np.int8), np.array([[0], [2], [2]], np.int32)
    for i in range(3):
        add(family, pool, 0, X, i, 1.0)
    binary, categorical = find_families(layout, "empirical", pool)
    share = np.array([[1.5 / 4, 0.5], [2.5 / 4, 0.5]])
    np.testing.assert_allclose(binary.prior, STRENGTH["binary"] * share)
    share = np.array([1.5, 0.5, 2.5]) / 4.5
    np.testing.assert_allclose(categorical.prior, STRENGTH["categorical"] * share)
    binary, categorical = find_families(layout, "reference", pool)
    assert (binary.prior == 0.5).all()
    assert (categorical.prior == 0.5).all()


@pytest.mark.parametrize(
    ("prior", "kind", "answer"),
    [
        ("empirical", "binary", True),
        ("learn", "binary", True),
        ({"x": "learn"}, "categorical", True),
        ("reference", "binary", False),
        ("reference", "categorical", False),
        ("reference", "real", True),
        ("reference", "count", True),
        ({"x": "empirical"}, "binary", True),
        ({"x": "reference"}, "real", True),
        ({"x": "reference"}, "binary", False),
        ({"x": (0.0, 1.0, 1.0, 1.0)}, "real", False),
    ],
)
def test_only_what_is_found_in_the_data_changes_with_it(prior, kind, answer):
    assert depends_on_data(Layout({kind: ("x",)}, np.zeros(0, np.int64)), prior) is answer


@pytest.mark.parametrize("prior", ["empirical", "reference"])
@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([3.0, np.nan, 5.0], 8.5 / 2.5),
        ([4.0] * 8, 32.5 / 8.5),
        ([0.0] * 20, 0.5 / 20.5),
        ([np.nan], 1.0),
        ([], 1.0),
        ([1e15, 0.0], (1e15 + 0.5) / 2.5),
    ],
)
def test_the_rate_of_a_count_has_the_pooled_mean(values, mean, prior):
    """Half a count and half a row more than there are keep it positive."""
    shape, rate = column_prior("count", values, prior)
    assert shape == COUNT_SHAPES[prior]
    assert shape / rate == pytest.approx(mean)


def test_a_given_prior_of_a_count_stays():
    assert column_prior("count", [3.0, 9.0], {"x": (2.0, 0.25)}).tolist() == [2.0, 0.25]
