"""The correction of class probabilities: its optimum, its choice, and all that must carry it."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax

from infinimix import AClassClassifier, load, save
from infinimix.estimators.aclass.correction import (
    STRENGTHS,
    HeldOut,
    Weights,
    cross_validate,
    find_correction,
    log_posterior,
    solve,
)
from infinimix.estimators.aclass.features import CLIP, LinearFeatures
from infinimix.tables import encode, read_schema

RNG = np.random.default_rng(0)


def held_out(n=90, classes=3, width=4, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(classes, size=n)
    log_density = rng.normal(size=(n, classes)) * 3.0
    log_density[np.arange(n), codes] += 1.0
    features = rng.normal(size=(n, width)) + codes[:, None]
    log_prior = np.log(rng.dirichlet(np.ones(classes), n))
    return HeldOut(log_density, log_prior, rng.random(n), features, codes)


def slow_cost(rows, weights, strength):
    """Written from the formula, row by row."""
    total = 0.5 * weights.log_power**2 + 0.5 * sum(b * b for b in weights.offsets)
    for log_p, prior, observed, z, y in zip(*rows, strict=True):
        joint = prior + np.exp(weights.log_power) * log_p + observed * weights.offsets
        if weights.coefficients.size:
            joint = joint + z @ weights.coefficients
        total -= log_softmax(joint)[y]
    if weights.coefficients.size:
        total += 0.5 * strength * (weights.coefficients**2).sum()
    return total


@pytest.mark.parametrize("strength", [np.inf, 30.0, 1.0])
def test_the_solution_is_the_most_probable_one(strength):
    rows = held_out()
    found = solve(rows, strength)
    best = slow_cost(rows, found, strength)
    for _ in range(40):
        other = Weights(
            found.log_power + 0.05 * RNG.normal(),
            found.offsets + 0.05 * RNG.normal(size=3),
            found.coefficients + 0.05 * RNG.normal(size=found.coefficients.shape),
        )
        assert slow_cost(rows, other, strength) > best - 1e-6
    assert found.coefficients.shape == ((0 if strength == np.inf else 4), 3)
    p = np.exp(log_posterior(rows, found))
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_features_that_say_nothing_are_left_out():
    """With noise instead of features, and many rows, no coefficient is of any size."""
    rows = held_out(2000)
    rows = rows._replace(features=np.random.default_rng(3).normal(size=(2000, 4)))
    features = LinearFeatures(np.zeros(4), np.ones(4), np.zeros(0, np.int64))
    found = find_correction(rows, features, np.random.default_rng(0))
    size = 0.0 if found.coefficients is None else np.abs(found.coefficients).max()
    assert size < 0.05
    told = find_correction(held_out(2000), features, np.random.default_rng(0))
    assert np.abs(told.coefficients).max() > 0.2
    losses = cross_validate(held_out(2000), STRENGTHS, np.random.default_rng(0))
    assert told.loss == pytest.approx(losses.min(), abs=2e-3)


def table(n=300, seed=0):
    """Classes that differ by how two numbers go together, which no group alone tells."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    x = rng.normal(size=n)
    frame = pd.DataFrame({"a": x, "b": x + 0.3 * rng.normal(size=n) + 0.5 * y})
    frame["c"] = pd.Categorical(np.where(rng.random(n) < 0.5, "u", "v"))
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    return frame, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def model():
    return AClassClassifier(random_state=0, n_islands=8).fit(*table())


def loss(model, X, y):
    p = model.predict_proba(X)
    return -np.log(p[np.arange(len(y)), np.searchsorted(model.classes_, y)]).mean()


def test_it_lowers_the_loss_of_new_rows_where_columns_go_together(model):
    plain = AClassClassifier(random_state=0, n_islands=8, correction="none").fit(*table())
    query = table(2000, seed=1)
    assert loss(model, *query) < loss(plain, *query) - 0.05
    assert abs(model.loo_log_loss_ - loss(model, *query)) < 0.08
    assert (model.score_samples(query[0]) == plain.score_samples(query[0])).all()


def test_doubling_a_column_leaves_the_loss_within_noise(model):
    (frame, y), (query, truth) = table(), table(2000, seed=1)
    doubled = AClassClassifier(random_state=0, n_islands=8).fit(frame.assign(d=frame["b"]), y)
    change = loss(doubled, query.assign(d=query["b"]), truth) - loss(model, query, truth)
    assert abs(change) < 0.06  # of about .45; a standard error is .02


def test_it_is_saved_and_goes_on(model):
    file = io.BytesIO()
    save(model, file)
    again = load(io.BytesIO(file.getvalue()))
    X, y = table(50, seed=2)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    again.partial_fit(X.assign(c="w"), np.where(np.arange(50) < 25, y, "new"))
    proba = again.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert again.classes_.tolist() == ["new", "no", "yes"]


def test_explanations_hold_what_it_adds(model):
    X, _ = table(1, seed=5)
    why = model.explain(X, label="yes", against="no")
    log_p, before = model.predict_log_proba(X)[0], model._log_prior()
    gained = log_p[1] - log_p[0] - (before[1] - before[0])
    assert why.columns["evidence"].sum() == pytest.approx(gained, abs=1e-8)


def test_a_row_without_cells_has_the_prior(model):
    proba = model.predict_proba(pd.DataFrame({"a": [np.nan], "b": [np.nan], "c": [None]}))
    prior = (model.class_count_ + 1.0) / (300 + 2.0)
    np.testing.assert_allclose(proba[0], prior, rtol=1e-12)


def test_missing_cells_and_unseen_categories_add_nothing():
    frame, _ = table(40)
    schema = read_schema(frame)
    encoded = encode(schema, frame, learn=True)
    encoded = encoded._replace(schema=schema.extended(encoded.novel))
    features = LinearFeatures.learn(encoded)
    Z = features.transform(encoded)
    assert Z.shape == (40, features.width) == (40, 4)
    assert np.abs(Z[:, :2]).max() <= CLIP
    assert (Z[frame["a"].isna().to_numpy(), 0] == 0.0).all()
    np.testing.assert_allclose(Z[:, :2].mean(axis=0), 0.0, atol=1e-9)
    unknown = encode(encoded.schema, frame.assign(c="z", a=np.nan, b=np.nan), learn=False)
    assert (features.transform(unknown) == 0.0).all()


def test_a_fast_fit_only_finds_a_power():
    found = AClassClassifier(effort="fast", random_state=0).fit(*table(80))._state.correction
    assert found.offsets is None
    assert found.power != 1.0
