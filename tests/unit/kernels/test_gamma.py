"""Ratios of gamma functions against SciPy's and against exact products."""

from fractions import Fraction
from math import log as exact_log

import numpy as np
import pytest
from scipy.special import gammaln

from infinimix.kernels.compile import kernel
from infinimix.kernels.gamma import half_rise, log_factorial
from infinimix.kernels.gamma import rise as rise_of


@kernel
def rises(s, x, out):
    """out = lgamma(s + x) - lgamma(s)."""
    for i in range(s.shape[0]):
        out[i] = rise_of(s[i], x[i])


@kernel
def half_rises(s, out):
    for i in range(s.shape[0]):
        out[i] = half_rise(s[i])


def half(s):
    out = np.empty(s.size)
    half_rises(s, out)
    return out


def rise(s, x):
    s, x = np.broadcast_arrays(np.asarray(s, float), np.asarray(x, float))
    out = np.empty(s.size)
    rises(s.ravel().copy(), x.ravel().copy(), out)
    return out.reshape(s.shape)


def test_it_is_the_difference_of_two_lgammas():
    rng = np.random.default_rng(0)
    s = np.exp(rng.uniform(np.log(1e-8), np.log(1e4), 100_000))
    x = rng.permutation(np.exp(rng.uniform(-5.0, 8.0, 100_000)))  # a sum of weights, too
    top, bottom = gammaln(s + x), gammaln(s)
    size = np.maximum(np.maximum(np.abs(top), np.abs(bottom)), 1.0)
    assert (np.abs(rise(s, x) - (top - bottom)) / size).max() < 1e-14


@pytest.mark.parametrize("s", [1e-300, 1e-5, 0.5, 7.25, 1e9, 1e16, 1e28, 1e100])
@pytest.mark.parametrize("x", [0, 1, 2, 9, 400])
def test_large_shapes_keep_their_digits(s, x):
    """The product s (s + 1) ... (s + x - 1), exactly; lgamma(1e28) alone is off by 1e14."""
    product = Fraction(1)
    for j in range(x):
        product *= Fraction(s) + j
    expected = exact_log(product.numerator) - exact_log(product.denominator)
    assert rise(s, x) == pytest.approx(expected, rel=2e-14, abs=1e-13)


def test_nothing_added_is_nothing_but_rounding():
    s = np.exp(np.random.default_rng(1).uniform(-200.0, 200.0, 1000))
    assert np.abs(rise(s, 0.0)).max() < 1e-12


def test_half_a_step_is_the_difference_of_two_lgammas():
    s = np.exp(np.random.default_rng(2).uniform(np.log(1e-8), np.log(1e4), 100_000))
    top, bottom = gammaln(s + 0.5), gammaln(s)
    size = np.maximum(np.maximum(np.abs(top), np.abs(bottom)), 1.0)
    assert (np.abs(half(s) - (top - bottom)) / size).max() < 1e-14


def test_two_half_steps_are_a_step():
    """Their sum is log s, exactly, for every s; that and the limit of large s leave no freedom."""
    s = np.exp(np.random.default_rng(3).uniform(np.log(1e-100), np.log(1e100), 10_000))
    np.testing.assert_allclose(half(s) + half(s + 0.5), np.log(s), rtol=1e-14, atol=2e-15)
    np.testing.assert_allclose(half(s)[s > 1e16], 0.5 * np.log(s[s > 1e16]), rtol=1e-15)


@kernel
def factorials(x, out):
    for i in range(x.shape[0]):
        out[i] = log_factorial(x[i])


def test_factorials_are_those_of_the_table_and_beyond():
    x = np.array([0.0, 1.0, 2.0, 20.0, *range(250, 260), 1e6, 2.0**53 - 1])
    out = np.empty(len(x))
    factorials(x, out)
    np.testing.assert_allclose(out, gammaln(x + 1.0), rtol=1e-14)
    assert out[:2].tolist() == [0.0, 0.0]
