"""Base measures found in the data."""

import numpy as np
import pytest

from infinimix.families.base_measures import COUNT_SHAPES, REAL_EMPIRICAL, STRENGTH
from infinimix.families.gaussian_priors import (
    CORRELATION_KEPT,
    GAUSSIAN_EMPIRICAL,
    GAUSSIAN_REFERENCE,
    LEAST_EIGENVALUE,
)
from infinimix.families.priors import Layout, blank, depends_on_data, find_families
from infinimix.families.seam import empty
from infinimix.inference.ensemble.bank import pool_rows


def column_prior(kind, values, prior):
    layout = Layout({kind: ("x",)}, np.zeros(0, np.int64))
    family = blank(layout)
    pool = empty(family, 1)
    X = (np.array(values, float)[:, None],)
    pool_rows(family, pool, X, 0, len(values))
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
    pool_rows(family, pool, X, 0, 3)
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
        ("reference", "spiked", True),
        ({"x": (1.0, 1.0, 0.0, 1.0, 1.0, 1.0)}, "spiked", False),
        ({"x": (1.0, 1.0, 1.0)}, "gaussian", True),
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


@pytest.mark.parametrize("prior", ["empirical", "reference", "learn"])
@pytest.mark.parametrize("values", [[np.inf, 3.0, 5.0, np.nan], [np.inf] * 4, [2.0, 2.5], []])
def test_a_spiked_column_has_the_prior_of_a_share_and_that_of_its_other_cells(values, prior):
    x = np.array(values)
    *rest, others, atom = column_prior("spiked", values, prior)
    assert rest == real_prior(x[np.isfinite(x)], prior).tolist()
    share = (np.isposinf(x).sum() + 0.5) / ((~np.isnan(x)).sum() + 1.0)
    weight = STRENGTH["binary"]
    expected = [0.5, 0.5] if prior == "reference" else [weight * (1.0 - share), weight * share]
    assert [others, atom] == pytest.approx(expected)


def test_a_given_prior_of_a_spiked_column_stays():
    given = column_prior("spiked", [np.inf, 3.0], {"x": (0.5, 2.0, -3.0, 0.1, 4.0, 3.0)})
    assert given.tolist() == [-3.0, 0.1, 4.0, 9.0, 2.0, 0.5]


def block_prior(X, prior="empirical"):
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    layout = Layout({"gaussian": names}, np.zeros(0, np.int64))
    family = blank(layout)
    pool = empty(family, 1)
    pool_rows(family, pool, (X,), 0, len(X))
    return find_families(layout, prior, pool)[0].prior


def test_a_gaussian_block_has_a_part_of_the_pooled_covariance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 3)) + 5.0
    shapes = {"empirical": GAUSSIAN_EMPIRICAL, "reference": GAUSSIAN_REFERENCE}
    shapes["given"] = (0.5, 2.0, 0.09)
    for word, (kappa, nu, variance) in shapes.items():
        given = dict.fromkeys(["x0", "x1", "x2"], (0.5, 2.0, 0.3)) if word == "given" else word
        prior = block_prior(X, given)
        np.testing.assert_allclose(prior[0], X.mean(axis=0))
        assert (prior[1] == kappa).all()
        assert (prior[2] == nu).all()
        V = np.cov(X.T, ddof=0)
        few = CORRELATION_KEPT * 50 / 54  # 50 rows, 3 columns
        expected = nu * variance * (few * V + (1 - few) * np.diag(np.diag(V)))
        np.testing.assert_allclose(prior[3:], expected, rtol=1e-10)


HARD = {
    "nothing": np.zeros((0, 3)),
    "one row": np.array([[1.0, 2.0, 3.0]]),
    "two rows": np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 0.0]]),
    "no cells": np.full((4, 3), np.nan),
    "constant": np.column_stack([np.full(9, 7.0), np.zeros(9), np.arange(9.0)]),
    "the same thrice": np.repeat(np.arange(9.0)[:, None], 3, axis=1),
    "time stamps": np.column_stack([1.7e9 + np.arange(9.0), np.arange(9.0) ** 2, np.ones(9)]),
    "sizes": np.random.default_rng(1).normal(size=(9, 3)) * [1e-120, 1.0, 1e120],
    "contradictions": np.array(
        [
            [1, 1, np.nan],
            [2, 2, np.nan],
            [np.nan, 1, 1],
            [np.nan, 2, 2],
            [1, np.nan, 2],
            [2, np.nan, 1],
        ]
        * 30
    ),
}


@pytest.mark.parametrize("name", HARD)
def test_the_prior_of_a_block_is_proper(name):
    prior = block_prior(HARD[name])
    assert np.isfinite(prior).all()
    root = np.sqrt(np.diag(prior[3:]))
    least = np.linalg.eigvalsh(prior[3:] / root / root[:, None])[0]
    assert least >= min(LEAST_EIGENVALUE, 1.0 - CORRELATION_KEPT) - 1e-9
