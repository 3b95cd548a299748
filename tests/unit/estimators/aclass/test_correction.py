"""The correction of class probabilities: its choice, and all that must carry it."""

import io

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, load, save
from infinimix.estimators.aclass.choices import STRENGTHS, weigh
from infinimix.estimators.aclass.correction import FEW_LABELS, find_correction
from infinimix.estimators.aclass.stacking import CrossValidation, cross_validate
from infinimix.estimators.common.features import CLIP, LinearFeatures
from infinimix.tables import encode, read_schema
from tests.unit.estimators.aclass.test_stacking import held_out


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
    folds = np.random.default_rng(np.random.default_rng(0).integers(2**63))
    losses = cross_validate(held_out(2000), STRENGTHS, folds)
    assert told.loss == pytest.approx(losses.min(), abs=2e-3)


def test_a_second_model_must_lower_the_loss():
    alone, both = [0.50, 0.49], [0.50, 0.48]
    many = weigh(np.array([alone, both]), 10_000)
    assert many[1, 1] == 1.0
    few = weigh(np.array([alone, [0.51, 0.50]]), 100)
    assert (few[1] == 0.0).all()
    assert few.sum() == pytest.approx(1.0)


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


@pytest.mark.parametrize("seed", range(3))
def test_ignored_holes_say_nothing_of_the_class(seed):
    """Noise, whose cells are missing in one class: complete rows are of either, as P(y) says.

    Over eight tables the mean was .500 to .547; with an offset for observed cells it was .75.
    """
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(400, 3)), np.arange(400) % 2
    X[(y == 1)[:, None] & (rng.random(X.shape) < 0.6)] = np.nan
    model = AClassClassifier(holes="ignore", n_islands=4, random_state=0).fit(X, y)
    p = model.predict_proba(rng.normal(size=(200, 3)))[:, 0]
    assert p.mean() == pytest.approx(0.5, abs=0.1)


def shifted(n, seed, shift=1.0):
    """Six normal columns, whose means differ between two classes that are as large as can be."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, 6)) + shift * y[:, None], y


def test_five_rows_are_not_corrected_for_the_worse():
    """Held-out rows are of one class. The mean cost of the correction, over 12 tables, is none.

    Of 60 fresh tables the mean is .001 nats, with a deviation of .004, so that the mean of 12 is
    never beyond the bound. With offsets found on one class it was .075, with a deviation of .048.
    """
    plain = {"correction": "none", "calibrate": False}
    query, truth = shifted(400, 1000)
    costs = []
    for seed in range(12):
        X, y = shifted(5, seed)
        models = [
            AClassClassifier("binary", n_islands=4, random_state=0, **options).fit(X > 0.5, y)
            for options in ({}, plain)
        ]
        costs.append(loss(models[0], query > 0.5, truth) - loss(models[1], query > 0.5, truth))
    assert np.mean(costs) < 0.03


@pytest.mark.parametrize("sizes", [(3, 2), (30, 2), (12, 12, 1)])
def test_classes_without_held_out_rows_leave_a_power_alone(sizes):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), 3)) + y[:, None]
    found = AClassClassifier("real", n_islands=4, random_state=0).fit(X, y)._state.correction
    assert found.offsets is None
    assert found.power <= 1.0


@pytest.mark.parametrize("correction", ["linear", "none"])
def test_few_rows_do_not_raise_the_power(correction):
    """Classes that are far apart: any power classifies all rows correctly."""
    options = {"n_islands": 4, "random_state": 0, "correction": correction}
    X, y = shifted(FEW_LABELS, 0, shift=3.0)
    few = AClassClassifier("real", **options).fit(X[1:], y[1:])._state.correction
    enough = AClassClassifier("real", **options).fit(X, y)._state.correction
    assert few.power + few.joint_power <= 1.0 < enough.power + enough.joint_power
    assert (few.offsets is None) == (correction == "none")


def test_rows_without_label_are_not_counted():
    X, y = shifted(80, 0, shift=3.0)
    y = np.where(np.arange(80) < FEW_LABELS - 1, y, -1)
    model = AClassClassifier("real", n_islands=2, random_state=0, unlabelled=-1).fit(X, y)
    assert model.likelihood_power_ <= 1.0


def test_strengths_in_two_calls_have_the_losses_of_one():
    rows = held_out(200)
    whole = cross_validate(rows, STRENGTHS, np.random.default_rng(3))
    run = CrossValidation(rows, np.random.default_rng(3))
    parts = [run.follow(STRENGTHS[:1]), run.follow(STRENGTHS[1:4]), run.follow(STRENGTHS[4:])]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
