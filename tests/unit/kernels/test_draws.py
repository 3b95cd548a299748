"""Draws and sums in the log domain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infinimix.kernels.draws import invert, log_sum_exp

weights = st.lists(st.sampled_from([0.0, 1e-9, 0.5, 1.0, 3.0]), min_size=1, max_size=12)


@given(weights=weights, u=st.floats(0.0, 1.0, exclude_max=True))
def test_invert_finds_where_the_running_sum_passes(weights, u):
    w = np.array(weights)
    k = invert(w, len(w), u * w.sum())
    if w.sum() > 0.0:
        assert w[k] > 0.0
        # but for rounding, the sum before is not above u and the sum after is
        assert w[:k].sum() <= u * w.sum() + 1e-12
        assert w[: k + 1].sum() >= u * w.sum() - 1e-12


def test_invert_never_returns_what_has_no_weight():
    w = np.array([0.0, 2.0, 0.0, 1.0, 0.0])
    assert invert(w, 5, 0.0) == 1
    assert invert(w, 5, 2.0) == 3  # the end of one is the start of the next
    assert invert(w, 5, 3.0) == 3  # the total itself, as rounding may have it
    assert invert(w, 5, 4.0) == 3
    assert invert(w, 2, 9.0) == 1  # only the first two count


@given(x=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=20))
def test_log_sum_exp_is_the_log_of_the_sum(x):
    x = np.array(x)
    assert log_sum_exp(x) == pytest.approx(np.logaddexp.reduce(x), rel=1e-13, abs=1e-13)


def test_log_sum_exp_of_nothing_and_of_infinities():
    assert log_sum_exp(np.zeros(0)) == -np.inf
    assert log_sum_exp(np.full(3, -np.inf)) == -np.inf
    assert log_sum_exp(np.array([-np.inf, -5.0, -np.inf])) == -5.0
    assert log_sum_exp(np.array([-1e300, 1e300])) == 1e300
