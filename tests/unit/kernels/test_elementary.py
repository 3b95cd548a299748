"""`log`, `log_ratio`, `log1p` and `exp` against NumPy's, over all arguments of kernels."""

import numpy as np
import pytest

from infinimix.kernels.compile import INTERPRETED, kernel
from infinimix.kernels.elementary import TINIEST_LOG, exp, log, log1p, log_ratio


@kernel
def logs(x, out):
    for i in range(x.shape[0]):
        out[i] = log(x[i])


@kernel
def log_ratios(x, out):
    for i in range(out.shape[0]):
        out[i] = log_ratio(x[i], x[out.shape[0] + i])


@kernel
def log1ps(x, out):
    for i in range(x.shape[0]):
        out[i] = log1p(x[i])


@kernel
def exps(x, out):
    for i in range(x.shape[0]):
        out[i] = exp(x[i])


def of(function, x):
    out = np.empty(len(x))
    function(np.asarray(x, float), out)
    return out


def ulps(found, expected):
    return np.abs(found - expected) / np.spacing(np.abs(expected))


rng = np.random.default_rng(0)
TINY, HUGE = np.finfo(float).tiny, np.finfo(float).max


@pytest.mark.parametrize(
    "x",
    [
        np.exp(rng.uniform(np.log(TINY), np.log(HUGE), 200_000)),
        1.0 + rng.uniform(-0.4, 0.6, 200_000),
        1.0 + np.concatenate([s * 2.0 ** -np.arange(1, 53) for s in (0.5, 1, -0.5)]),
        np.arange(1.0, 100_000.0),
        np.array([TINY, 1.0, HUGE, np.sqrt(0.5), np.nextafter(np.sqrt(0.5), 0), 2.0**-1022]),
        2.0 ** np.arange(-1022, 1024),
    ],
    ids=["all", "near one", "nearest one", "whole", "edges", "powers"],
)
def test_log_is_right_to_the_last_digits(x):
    assert of(logs, [1.0])[0] == 0.0
    expected = np.log(x)
    known = expected != 0.0
    assert ulps(of(logs, x)[known], expected[known]).max() <= 2.0


@pytest.mark.parametrize("close", [1e-15, 1e-6, 0.1, 0.5, 1.0, 20.0, 300.0])
def test_log_of_a_ratio_is_right_to_the_last_digits(close):
    b = np.exp(rng.uniform(-300.0, 300.0, 100_000))
    a = b * np.exp(rng.uniform(-close, close, len(b)))
    out = np.empty(len(b))
    log_ratios(np.concatenate([a, b]), out)
    wide = a.astype(np.longdouble)
    near = np.abs(a - b) < 0.5 * b
    expected = np.log(wide / b).astype(float)
    expected[near] = np.log1p(((wide - b) / b)[near])
    known = expected != 0.0
    assert (out[~known] == 0.0).all()
    assert ulps(out[known], expected[known]).max() <= 3.0


@pytest.mark.parametrize(
    "x",
    [
        rng.uniform(TINIEST_LOG, 700.0, 200_000),
        rng.uniform(-1.0, 1.0, 200_000),
        np.concatenate([s * 2.0 ** -np.arange(0, 1075, dtype=float) for s in (1.0, -1.0)]),
        np.arange(-708, 701) * np.log(2.0) * 0.5,
        np.array([0.0, -0.0, TINIEST_LOG, 700.0]),
    ],
    ids=["all", "small", "tiny", "half-way", "edges"],
)
def test_exp_is_right_to_the_last_digits(x):
    x = x[(x >= TINIEST_LOG) & (x <= 700.0)]
    assert ulps(of(exps, x), np.exp(x)).max() <= 2.0


@pytest.mark.skipif(INTERPRETED, reason="interpreted, exp is the C library's")
@pytest.mark.parametrize("x", [-708.5, -745.0, -1e4, -1e300, -np.inf])
def test_exp_of_less_than_the_least_is_normal_and_negligible(x):
    """Never subnormal (slow), never zero (its log is finite), never more than exp(-708)."""
    (found,) = of(exps, [x])
    assert TINY < found <= np.exp(TINIEST_LOG) * (1 + 1e-15)
    assert np.isfinite(of(logs, [found])[0])


def test_exp_rises():
    x = np.sort(rng.uniform(-5.0, 5.0, 100_000))
    found = of(exps, x)
    assert (np.diff(found) >= -2 * np.spacing(found[1:])).all()


def test_they_undo_each_other():
    x = rng.uniform(-600.0, 600.0, 10_000)
    np.testing.assert_allclose(of(logs, of(exps, x)), x, rtol=1e-13, atol=1e-15)


def test_any_length_of_a_vectorised_loop():
    """The remainder of a loop gives the same bits as its body."""
    x = rng.uniform(0.1, 9.0, 37)
    for function in (logs, exps):
        whole = of(function, x)
        for n in range(1, 37):
            assert (of(function, x[:n]) == whole[:n]).all()


def test_log1p_is_right_to_the_last_digits():
    x = np.exp(rng.uniform(np.log(TINY), np.log(HUGE), 200_000))
    small = np.concatenate([2.0 ** -np.arange(1.0, 1000.0), rng.uniform(0.0, 2.0, 200_000)])
    assert of(log1ps, [0.0])[0] == 0.0
    for values in (x, small):
        assert ulps(of(log1ps, values), np.log1p(values)).max() <= 3.0
