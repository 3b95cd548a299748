"""The sum over classes is SciPy's, to the last bit."""

import numpy as np
import pytest
from scipy.special import logsumexp

from infinimix.estimators.aclass.normalising import log_totals


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0, 1e4])
def test_it_has_the_bits_of_scipy(order, scale):
    rng = np.random.default_rng(0)
    for n, c in [(1, 1), (1, 2), (1, 20), (3, 2), (7, 9), (40, 33)]:
        table = np.asarray(scale * rng.normal(size=(n, c)), order=order)
        for shown in (table, np.round(table), np.where(table > 0.5, -np.inf, table)):
            with np.errstate(all="ignore"):
                expected = logsumexp(shown, axis=1, keepdims=True)
            np.testing.assert_array_equal(log_totals(shown), expected)


@pytest.mark.parametrize("c", [2, 3, 7])
def test_one_row_has_the_bits_that_it_has_among_others(c):
    """On processors where NumPy's exp and the C library's differ in the last digit, too."""
    table = 5 * np.random.default_rng(0).normal(size=(3000, c))
    table[::7, 1] = table[::7, 0]
    each = np.concatenate([log_totals(row[None]) for row in table])
    np.testing.assert_array_equal(each, log_totals(table))


def test_rows_without_any_hope_and_broken_ones():
    table = np.array([[-np.inf, -np.inf], [0.0, np.nan], [np.inf, 1.0]])
    np.testing.assert_array_equal(log_totals(table)[:, 0], logsumexp(table, axis=1))
    assert log_totals(np.zeros((0, 3))).shape == (0, 1)
