"""The stack of means against plain ridge regressions, solved again for each row left out."""

import numpy as np
import pytest

from infinimix.estimators.mixture.regression.stacking import (
    MOST_FEATURES,
    OWN_STRENGTH,
    find_stack,
    solve,
)

rng = np.random.default_rng(0)
N = 30
FEATURES = rng.normal(size=(N, 4))
T = 5.0 + FEATURES @ [1.0, -2.0, 0.0, 0.5] + rng.normal(size=N)
MEANS = np.column_stack([T + rng.normal(size=N), rng.normal(size=N)])


def by_hand(means, features, t, strength, unit):
    """Minimise the penalised squares by least squares with rows for the penalties."""
    models = means.shape[1]
    A = np.column_stack([np.ones(len(t)), means / unit, features])
    weights = np.sqrt([0.0] + [OWN_STRENGTH] * models + [strength] * features.shape[1])
    centre = np.array([0.0] + [1.0 / models] * models + [0.0] * features.shape[1])
    A = np.vstack([A, np.diag(weights)])
    b = np.concatenate([t / unit, weights * centre])
    return np.linalg.lstsq(A, b, rcond=None)[0]


@pytest.mark.parametrize("strength", [0.3, 10.0])
@pytest.mark.parametrize("models", [1, 2])
def test_a_stack_is_the_penalised_least_squares(models, strength):
    means = MEANS[:, :models]
    found = solve(means, FEATURES, T, strength).stack
    w, unit = by_hand(means, FEATURES, T, strength, T.std()), T.std()
    assert np.isclose(found.intercept, unit * w[0])
    np.testing.assert_allclose(found.shares, w[1 : 1 + models])
    np.testing.assert_allclose(found.coefficients, unit * w[1 + models :])
    fitted = found.mean(means, FEATURES)
    np.testing.assert_allclose(fitted, found.intercept + means @ found.shares
                               + FEATURES @ found.coefficients)  # fmt: skip


@pytest.mark.parametrize("strength", [1.0, np.inf])
def test_a_row_left_out_is_predicted_by_the_others(strength):
    found, unit = solve(MEANS, FEATURES, T, strength), T.std()
    z = FEATURES if np.isfinite(strength) else FEATURES[:, :0]
    for i in (0, 7, 29):
        kept = np.arange(N) != i
        w = by_hand(MEANS[kept], z[kept], T[kept], min(strength, 1e9), unit)
        alone = unit * (w @ np.concatenate([[1.0], MEANS[i] / unit, z[i]]))
        assert np.isclose(found.left_out[i], alone)


def test_the_ridge_is_strong_where_features_are_noise_and_weak_where_they_are_not():
    noise = rng.normal(size=(200, 6))
    t = rng.normal(size=200)
    m = t + 0.5 * rng.normal(size=200)
    quiet = find_stack(m[:, None], noise, t).stack
    assert np.abs(quiet.coefficients).sum() < 0.15 if quiet.coefficients.size else True
    t = noise @ np.arange(6.0) + 0.1 * rng.normal(size=200)
    loud = find_stack(rng.normal(size=(200, 1)), noise, t).stack
    np.testing.assert_allclose(loud.coefficients, np.arange(6.0), atol=0.1)


def test_without_features_or_with_too_many_there_is_no_linear_part():
    m = rng.normal(size=(20, 1))
    for z in (np.empty((20, 0)), np.zeros((20, MOST_FEATURES + 1))):
        assert find_stack(m, z, m[:, 0]).stack.coefficients.size == 0


def test_a_constant_target_is_predicted():
    found = solve(np.full((12, 1), 3.0), np.zeros((12, 2)), np.full(12, 3.0), 1.0)
    np.testing.assert_allclose(found.stack.mean(np.full((1, 1), 3.0), np.zeros((1, 2))), 3.0)
