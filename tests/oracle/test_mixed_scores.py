"""Scores of numbers given categories and numbers, against the chain rule and an integral."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.special import gammaln

from infinimix.networks.engine.candidates import full_layout
from infinimix.networks.engine.scores import (
    discrete_data,
    family_score,
    gaussian_data,
    mixed_data,
    new_cache,
)
from tests.oracle.mixed_networks import log_mixed, log_regression, mixed_table

CARDS = np.array([2, 0, 3, 0, 0])


def all_scores(data, layout):
    N, cache = len(layout.cand), new_cache(data, layout)
    words = [np.uint64(mask) for mask in range(1 << (N - 1))]
    return np.array([[family_score(data, layout, cache, c, w) for w in words] for c in range(N)])


def parents_of(layout, c, mask):
    return tuple(int(i) for k, i in enumerate(layout.cand[c]) if mask >> k & 1)


@pytest.mark.parametrize("set_outside", [False, True])
def test_scores_are_products_of_predictives(set_outside):
    X = mixed_table(0, 35, CARDS)
    skip = np.random.default_rng(1).random(X.shape) < 0.3 if set_outside else None
    data = mixed_data(X, CARDS, 0.7, skip=skip)
    layout = full_layout(~np.eye(5, dtype=bool))
    scores = all_scores(data, layout)
    used = None if skip is None else ~skip
    for c in range(5):
        for mask in range(16):
            expected = log_mixed(X, CARDS, c, parents_of(layout, c, mask), 0.7, used)
            assert np.isclose(scores[c, mask], expected, rtol=1e-10)


def test_scores_leave_no_trace_in_the_room_that_they_share():
    X = mixed_table(3, 60, CARDS)
    data, layout = mixed_data(X, CARDS), full_layout(~np.eye(5, dtype=bool))
    known, cache = all_scores(data, layout), new_cache(data, layout)
    rng = np.random.default_rng(0)
    for _ in range(300):  # in any order
        c, mask = int(rng.integers(5)), int(rng.integers(16))
        cache.values[:] = np.nan
        assert family_score(data, layout, cache, c, np.uint64(mask)) == known[c, mask]


def test_scores_of_one_kind_are_those_of_tables_of_that_kind():
    X = mixed_table(2, 40, CARDS)
    both = all_scores(mixed_data(X, CARDS, 0.5), full_layout(~np.eye(5, dtype=bool)))
    for kind in (CARDS > 0, CARDS == 0):
        at = np.flatnonzero(kind)
        layout = full_layout(~np.eye(len(at), dtype=bool))
        data = discrete_data(X[:, at], CARDS[at]) if CARDS[at[0]] else gaussian_data(X[:, at])
        own = all_scores(data, layout)
        for k, c in enumerate(at):
            others = [j for j in range(5) if j != c]
            for mask in range(1 << (len(at) - 1)):
                wanted = at[list(parents_of(layout, k, mask))]
                word = sum(1 << others.index(p) for p in wanted)
                assert both[c, word] == own[k, mask]  # to the last bit


def test_the_chain_rule_is_the_integral_over_mean_and_variance():
    """No parents: y ~ N(a, v), a ~ N(0, v), v ~ inverse gamma(3/2, 1/4)."""
    y = np.array([0.3, -1.2, 0.8])

    def density(a, u):
        v = np.exp(u)
        logs = -0.5 * ((y - a) ** 2 / v + np.log(2 * np.pi * v)).sum()
        logs += -0.5 * (a * a / v + np.log(2 * np.pi * v))
        logs += 1.5 * np.log(0.25) - gammaln(1.5) - 2.5 * u - 0.25 / v + u
        return np.exp(logs)

    total, _ = dblquad(density, -6.0, 6.0, -12.0, 12.0, epsabs=1e-12, epsrel=1e-9)
    assert np.log(total) == pytest.approx(log_regression(y, np.zeros((3, 0))), abs=1e-6)


def test_the_chain_rule_is_the_integral_over_a_slope_too():
    """One parent: given v the rows are jointly normal, so one integral is left."""
    from scipy.integrate import quad
    from scipy.stats import multivariate_normal

    rng = np.random.default_rng(0)
    y, z = rng.standard_normal(4), rng.standard_normal(4)
    shape = np.eye(4) + np.ones((4, 4)) + 2.0 * np.outer(z, z)  # noise, intercept, slope

    def density(u):
        v = np.exp(u)
        log_prior = 2.0 * np.log(0.25) - gammaln(2.0) - 3.0 * u - 0.25 / v + u
        return np.exp(multivariate_normal.logpdf(y, np.zeros(4), v * shape) + log_prior)

    total, _ = quad(density, -12.0, 12.0, epsabs=1e-14, limit=200)
    assert np.log(total) == pytest.approx(log_regression(y, z[:, None]), abs=1e-6)


def test_a_category_has_no_numbers_as_parents():
    X = mixed_table(0, 20, CARDS)
    scores = all_scores(mixed_data(X, CARDS), full_layout(~np.eye(5, dtype=bool)))
    layout = full_layout(~np.eye(5, dtype=bool))
    for c in range(5):
        for mask in range(16):
            numbers = any(CARDS[p] == 0 for p in parents_of(layout, c, mask))
            assert np.isfinite(scores[c, mask]) == (CARDS[c] == 0 or not numbers)
