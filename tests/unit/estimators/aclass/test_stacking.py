"""Stacking: its optimum against the formula, its gradient against differences."""

import numpy as np
import pytest
from scipy.special import log_softmax

from infinimix.estimators.aclass.stacking import HeldOut, Weights, log_posterior, relative, solve

RNG = np.random.default_rng(0)


def held_out(n=90, classes=3, width=4, seed=0, models=1):
    rng = np.random.default_rng(seed)
    codes = rng.integers(classes, size=n)
    log_density = rng.normal(size=(models, n, classes)) * 3.0
    log_density[:, np.arange(n), codes] += 1.0
    features = rng.normal(size=(n, width)) + codes[:, None]
    log_prior = np.log(rng.dirichlet(np.ones(classes), n))
    return HeldOut(relative(log_density), log_prior, rng.random(n), features, codes)


def slow_cost(rows, weights, strength):
    """Written from the formula, row by row."""
    centre = -np.log(len(rows.log_density))
    total = 0.5 * sum((a - centre) ** 2 for a in weights.log_powers)
    total += 0.5 * sum(b * b for b in weights.offsets)
    for i, y in enumerate(rows.codes):
        joint = rows.log_prior[i] + rows.observed[i] * weights.offsets
        for a, log_p in zip(weights.log_powers, rows.log_density, strict=True):
            joint = joint + np.exp(a) * log_p[i]
        if weights.coefficients.size:
            joint = joint + rows.features[i] @ weights.coefficients
        total -= log_softmax(joint)[y]
    if weights.coefficients.size:
        total += 0.5 * strength * (weights.coefficients**2).sum()
    return total


@pytest.mark.parametrize("models", [1, 2])
@pytest.mark.parametrize("strength", [np.inf, 30.0, 1.0])
def test_the_solution_is_the_most_probable_one(strength, models):
    rows = held_out(models=models)
    found = solve(rows, strength)
    best = slow_cost(rows, found, strength)
    for _ in range(40):
        other = Weights(
            found.log_powers + 0.05 * RNG.normal(size=models),
            found.offsets + 0.05 * RNG.normal(size=3),
            found.coefficients + 0.05 * RNG.normal(size=found.coefficients.shape),
        )
        assert slow_cost(rows, other, strength) > best - 1e-6
    assert found.coefficients.shape == ((0 if strength == np.inf else 4), 3)
    p = np.exp(log_posterior(rows, found))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_model_that_says_nothing_has_a_small_power():
    """The second model is noise: with many rows its power is at its lower bound."""
    rows = held_out(3000, models=2)
    noise = np.random.default_rng(9).normal(size=rows.log_density[1].shape)
    rows = rows._replace(log_density=relative(np.stack([rows.log_density[0], noise])))
    powers = np.exp(solve(rows, np.inf).log_powers)
    assert powers[1] < 0.1 < powers[0]


def test_powers_may_be_bounded():
    rows = held_out(models=2)._replace(up=0.0)
    alike = rows._replace(log_density=0.1 * rows.log_density)  # they call for large powers
    found = solve(alike, 10.0)
    assert (np.exp(found.log_powers) <= 0.5).all()
    assert np.exp(solve(alike._replace(up=3.0), 10.0).log_powers).sum() > 1.0


def test_rows_are_taken_from_all_models():
    rows = held_out(20, models=2)
    some = rows.take(np.array([3, 5]))
    assert some.log_density.shape == (2, 2, 3)
    assert (some.log_density[1, 0] == rows.log_density[1, 3]).all()
    assert (rows.only(np.array([1])).log_density == rows.log_density[1:]).all()
    bounded = rows._replace(up=0.5)
    assert bounded.take(np.array([3, 5])).up == bounded.only(np.array([1])).up == 0.5
    more = rows.with_models(rows.log_density[1:] + 3.0)
    assert more.log_density.shape == (3, 20, 3)
    np.testing.assert_allclose(
        more.log_density[2], rows.log_density[1] - rows.log_density[1].max(axis=1)[:, None]
    )
