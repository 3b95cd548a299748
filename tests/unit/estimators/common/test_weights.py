import io

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import infinimix
from infinimix import AClassClassifier, FiniteMixtureClassifier
from infinimix.estimators.aclass.calibration import calibrate
from infinimix.estimators.aclass.stacking import HeldOut, cross_validate, relative, solve
from infinimix.estimators.common.weights import read_weights, weigh_rows
from infinimix.families import NormalInverseChiSquared
from infinimix.inference.finite import em

SMALL = {"n_islands": 2, "n_particles": 3, "random_state": 0}
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
Y = np.array(["no", "yes"])[(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=90) > 1).astype(int)]
X[rng.random(X.shape) < 0.1] = np.nan
COUNTS = rng.integers(0, 4, 90)
SHARES = rng.random(90) + 0.01


def repeated(*arrays):
    return [np.repeat(array, COUNTS, axis=0) for array in arrays]


# --- What weights are ----------------------------------------------------------------------------


def test_whole_numbers_are_counts_and_others_have_a_mean_of_one():
    assert read_weights(None, 3) is None
    assert read_weights([1, 1, 1], 3) is None
    assert read_weights(0.25, 3) is None
    assert read_weights([2, 0, 1], 3).tolist() == [2, 0, 1]
    assert read_weights(pd.Series([0.1, 0.0, 0.3]), 3).tolist() == pytest.approx([0.5, 0, 1.5])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([1, 2], "one number for each row"),
        ([[1], [2], [3]], "one number for each row"),
        ([1, -2, 3], "-2.0 in row 1"),
        ([1, 2, np.nan], "nan in row 2"),
        ([0, 0, 0], "zero"),
        (["a", "b", "c"], "must be numbers"),
        ([1e9, 1, 1], "relative"),
    ],
)
def test_other_weights_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        AClassClassifier(**SMALL).fit([[0.0], [1.0], [2.0]], [0, 1, 1], sample_weight=wrong)


def test_the_factor_of_a_class_is_the_mean_weight_of_its_rows():
    found = weigh_rows(np.array([0, 0, 1, -1]), 2, np.array([1.0, 3.0, 0.5, 9.0]), None)
    assert found.classes.tolist() == [2.0, 0.5]
    assert found.rows[:3].mean() == pytest.approx(1.0)


# --- Losses on held-out rows: a weight of 2 is the row twice -------------------------------------


def held_out():
    log_density = relative(rng.normal(size=(2, 60, 3)))
    log_prior = np.log(rng.dirichlet(np.ones(3), 60))
    return HeldOut(
        log_density, log_prior, rng.random(60), rng.normal(size=(60, 2)), rng.integers(3, size=60),
        rng.integers(0, 4, 60).astype(float),
    )  # fmt: skip


def test_the_correction_of_weighted_rows_is_that_of_repeated_ones():
    rows = held_out()
    twice = rows.take(np.repeat(np.arange(60), rows.weight.astype(int)))._replace(weight=None)
    for strength in (np.inf, 3.0):
        pairs = zip(solve(rows, strength), solve(twice, strength), strict=True)
        for weighted, plain in pairs:
            np.testing.assert_allclose(weighted, plain, atol=1e-4)


def test_the_power_of_weighted_rows_is_that_of_repeated_ones():
    rows = held_out()
    index = np.repeat(np.arange(60), rows.weight.astype(int))
    weighted = calibrate(rows.log_density[0], rows.codes, rows.log_prior, rows.weight)
    plain = calibrate(rows.log_density[0, index], rows.codes[index], rows.log_prior[index])
    assert weighted == pytest.approx(plain)


def test_rows_without_weight_have_no_say_in_the_choice_of_a_ridge():
    rows = held_out()
    rows.weight[30:] = 0.0
    other = rows._replace(
        log_density=np.append(rows.log_density[:, :30], -rows.log_density[:, 30:], 1)
    )
    losses = [cross_validate(r, (np.inf, 3.0), np.random.default_rng(0)) for r in (rows, other)]
    np.testing.assert_array_equal(*losses)


# --- AClass --------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [np.asarray, pd.DataFrame, lambda a: a.tolist()])
def test_counts_are_repeated_rows_to_the_bit(table):
    counted = AClassClassifier(**SMALL).fit(table(X), Y, sample_weight=COUNTS)
    plain = AClassClassifier(**SMALL).fit(*repeated(X, Y))
    assert np.array_equal(counted.predict_proba(table(X)), plain.predict_proba(X))
    assert counted.class_count_.sum() == COUNTS.sum()


def test_only_ratios_of_other_weights_matter_and_rows_of_weight_zero_are_absent():
    model = AClassClassifier(**SMALL)
    weights = np.where(np.arange(90) % 9 == 0, 0.0, SHARES)
    first = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    again = model.fit(X, Y, sample_weight=weights * 123.4).predict_proba(X)
    np.testing.assert_allclose(again, first, rtol=1e-6)
    some = weights > 0
    absent = model.fit(X[some], Y[some], sample_weight=weights[some]).predict_proba(X)
    assert np.array_equal(absent, first)
    assert not np.allclose(model.fit(X[some], Y[some]).predict_proba(X), first)


def log_odds(model):
    return np.subtract(*model.predict_log_proba(X).T)


@pytest.mark.parametrize("weights", [{"class_weight": {"no": 3.0}}, {"sample_weight": None}])
def test_weights_shift_the_log_odds_of_the_classes_and_leave_densities_alone(weights):
    plain = AClassClassifier(**SMALL, calibrate=False).fit(X, Y)
    if "class_weight" in weights:
        model = AClassClassifier(**SMALL, calibrate=False, **weights).fit(X, Y)
    else:
        model = AClassClassifier(**SMALL, calibrate=False)
        model.fit(X, Y, sample_weight=np.where(Y == "no", 0.3, 0.1))
    np.testing.assert_allclose(log_odds(model) - log_odds(plain), np.log(3.0))
    densities = [m._bank.log_densities(m._rows(X).blocks) for m in (plain, model)]
    assert np.array_equal(*densities)


def test_balanced_classes_are_found_more_often():
    few = np.where(np.arange(90) % 10 == 0, "yes", "no")
    shifted = X + 1.0 * (few == "yes")[:, None]
    recall = [
        (AClassClassifier(**SMALL, class_weight=w).fit(shifted, few).predict(shifted) == "yes")[
            few == "yes"
        ].mean()
        for w in (None, "balanced")
    ]
    assert recall[1] > recall[0]


def test_weights_of_classes_are_saved_and_continued():
    model = AClassClassifier(**SMALL, class_weight={"no": 3.0, "new": 2.0}).fit(X, Y)
    file = io.BytesIO()
    infinimix.save(model, file)
    file.seek(0)
    loaded = infinimix.load(file)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    for one in (model, loaded):
        one.partial_fit(X[:3], ["new", "no", "other"])
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model._state.class_factors.tolist() == [1.0, 3.0, 2.0, 1.0]  # "yes" came first


def test_a_stream_takes_weights_of_classes_by_name_only():
    model = AClassClassifier(**SMALL, class_weight={"no": 3.0}).partial_fit(X, Y)
    plain = AClassClassifier(**SMALL).partial_fit(X, Y)
    np.testing.assert_allclose(log_odds(model) - log_odds(plain), np.log(3.0))
    with pytest.raises(ValueError, match="whole table"):
        AClassClassifier(class_weight="balanced").partial_fit(X, Y)
    with pytest.raises(ValueError, match="none of the classes"):
        AClassClassifier(class_weight={"maybe": 3.0}).fit(X, Y)


def test_a_batch_is_weighed_too():
    found = [
        AClassClassifier(**SMALL, class_weight=w).fit(X, Y).predict_proba_batch(X[:4])
        for w in (None, {"no": 3.0})
    ]
    odds = [p[:, 0] / p[:, 1] for p in found]
    np.testing.assert_allclose(odds[1] / odds[0], 3.0)


# --- Finite mixtures -----------------------------------------------------------------------------

NAIVE = {"n_components": "classes", "class_model": "owned", "columns": "real", "random_state": 0}


def test_a_step_of_em_with_counts_is_one_with_repeated_rows():
    family = (NormalInverseChiSquared(np.array([[0.2], [0.3], [2.0], [0.5]]), np.zeros(1)),)
    cells = np.ascontiguousarray(rng.normal(size=(12, 1)))
    count = rng.integers(0, 3, 12)
    model = em.EMModel(family, 2, 3, None, False)
    rows = em.WeightedRows((cells,), np.full(12, -1), count.astype(float))
    many = np.repeat(cells, count, axis=0)
    twice = em.WeightedRows((many,), np.full(len(many), -1), np.ones(len(many)))
    state = em.init(np.random.default_rng(0), model, rows)
    (a, seen), (b, seen_twice) = em.step(model, rows, state), em.step(model, twice, state)
    np.testing.assert_allclose(a.log_share, b.log_share)
    np.testing.assert_allclose(a.stats[0].n, b.stats[0].n)
    np.testing.assert_allclose(seen.log_likelihood, seen_twice.log_likelihood)


@pytest.mark.parametrize("settings", [NAIVE, {"n_components": 3, "n_init": 2, "random_state": 0}])
def test_counts_are_repeated_rows_in_finite_mixtures(settings):
    """To the bit, where restarts end in different optima too."""
    counted = FiniteMixtureClassifier(**settings).fit(X, Y, sample_weight=COUNTS)
    plain = FiniteMixtureClassifier(**settings).fit(*repeated(X, Y))
    np.testing.assert_array_equal(counted.predict_proba(X), plain.predict_proba(X))


def test_a_weight_of_a_class_is_that_of_its_rows():
    twice = np.where(Y == "yes", 1.0, 0.5)
    factors = dict(zip(Y.tolist(), read_weights(twice, len(Y)).tolist(), strict=True))
    by_class = FiniteMixtureClassifier(**NAIVE, class_weight=factors).fit(X, Y)
    by_rows = FiniteMixtureClassifier(**NAIVE).fit(X, Y, sample_weight=twice)
    np.testing.assert_array_equal(by_class.predict_proba(X), by_rows.predict_proba(X))
    doubled = FiniteMixtureClassifier(**NAIVE, class_weight={"yes": 2.0}).fit(X, Y)
    counted = FiniteMixtureClassifier(**NAIVE).fit(X, Y, sample_weight=2 * twice)
    np.testing.assert_allclose(doubled.predict_proba(X), counted.predict_proba(X), rtol=1e-6)
    file = io.BytesIO()
    infinimix.save(by_rows, file)
    file.seek(0)
    loaded = infinimix.load(file)
    assert np.array_equal(loaded.predict_proba_batch(X), by_rows.predict_proba_batch(X))


def test_rows_without_labels_have_weights_too():
    some = [label if i % 2 else None for i, label in enumerate(Y)]
    model = FiniteMixtureClassifier(n_init=2, random_state=0)
    first = model.fit(X, some, sample_weight=SHARES).predict_proba(X)
    assert np.isfinite(model.unlabelled_gain_)
    np.testing.assert_allclose(
        model.fit(X, some, sample_weight=SHARES * 7).predict_proba(X), first, rtol=1e-6
    )


# --- Inside scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [AClassClassifier(**SMALL), FiniteMixtureClassifier(n_init=2, random_state=0)]
)
def test_boosting_voting_stacking_and_searches_hand_weights_on(model):
    table = np.nan_to_num(X)
    others = [("own", model), ("line", LogisticRegression())]
    for whole in (
        AdaBoostClassifier(model, n_estimators=2),
        VotingClassifier(others, voting="soft", weights=[2, 1]),
        StackingClassifier(others, cv=2),
        GridSearchCV(model, {"class_weight": [None, "balanced"]}, cv=2, error_score="raise"),
    ):
        whole.fit(table, Y, sample_weight=SHARES)
        assert whole.score(table, Y) > 0.6
    name = type(model).__name__.lower()
    line = make_pipeline(StandardScaler(), model)
    line.fit(table, Y, **{f"{name}__sample_weight": SHARES})
    assert line.score(table, Y) > 0.6
