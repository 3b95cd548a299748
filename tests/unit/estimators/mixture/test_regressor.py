"""`CRPRegressor`: means that predict, intervals that cover, and tables of all forms."""

import copy
import datetime as dt
import io
import pickle
import warnings
from decimal import Decimal
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import infinimix
from infinimix import CRPRegressor, artifacts

rng = np.random.default_rng(0)
FAST = {"effort": "fast", "random_state": 0}


def linear(n, seed=0):
    own = np.random.default_rng(seed)
    X = own.normal(size=(n, 3))
    return X, 10.0 + X @ [3.0, -2.0, 0.0] + own.normal(size=n)


def mixed(n, seed=0):
    """Numbers, categories and holes; the noise depends on a category, and the tail is long."""
    own = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "size": own.normal(size=n), "shop": own.choice(["a", "b", "c"], n),
        "new": own.random(n) < 0.5,
    })  # fmt: skip
    noise = np.where(frame["shop"] == "a", 1.0, 0.2)
    price = np.exp(1.0 + frame["size"] + 0.8 * frame["new"] + noise * own.normal(size=n))
    return frame.mask(own.random(frame.shape) < 0.1), price.to_numpy()


# --- predictions ---------------------------------------------------------------------------------


def test_a_linear_target_is_predicted_as_well_as_by_a_line():
    X, y = linear(300)
    new, truth = linear(500, 1)
    corrected = CRPRegressor(random_state=0).fit(X, y).score(new, truth)
    plain = CRPRegressor(random_state=0, correction="none").fit(X, y).score(new, truth)
    assert corrected > LinearRegression().fit(X, y).score(new, truth) - 0.02
    assert corrected > plain + 0.02


def test_steps_are_predicted_that_no_line_fits():
    X = rng.uniform(-1, 1, (300, 1))
    y = np.where(np.abs(X[:, 0]) < 0.4, 5.0, 0.0) + 0.3 * rng.normal(size=300)
    model = CRPRegressor(**FAST).fit(X, y)
    assert model.score(X, y) > 0.85
    assert LinearRegression().fit(X, y).score(X, y) < 0.1


def test_held_out_r2_is_about_that_of_new_rows():
    X, y = linear(300)
    model = CRPRegressor(**FAST).fit(X, y)
    assert abs(model.held_out_r2_ - model.score(*linear(2000, 1))) < 0.04
    assert np.isnan(CRPRegressor(**FAST, calibrate=False).fit(X, y).held_out_r2_)


def test_a_long_tail_is_found_and_answers_are_in_natural_units():
    X, y = mixed(400)
    model = CRPRegressor(**FAST).fit(X, y)
    assert model.target_ == "real:log"
    assert list(model.columns_) == ["size", "shop", "new"]
    assert model.n_features_in_ == 3
    mean, std = model.predict(X, return_std=True)
    assert (y.min() <= mean).all()
    assert (mean <= y.max()).all()
    assert (std > 0).all()
    levels = model.predict_quantiles(X, [0.1, 0.5, 0.9])
    assert (np.diff(levels, axis=1) > 0).all()
    assert (levels > 0).mean() > 0.99
    assert CRPRegressor(**FAST, target="real").fit(X, y).target_ == "real"


def test_a_row_without_cells_and_with_unknown_categories_has_an_answer():
    X, y = mixed(200)
    model = CRPRegressor(**FAST).fit(X, y)
    rows = pd.DataFrame({"size": [np.nan, 0.0], "shop": [None, "z"], "new": [None, True]})
    assert np.isfinite(model.predict(rows)).all()
    assert np.isfinite(model.predict_interval(rows)).all()


@pytest.mark.parametrize("y", [np.full(40, 2.5), np.arange(40.0) % 2, 1e9 + np.arange(40.0)])
def test_odd_targets_are_learned(y):
    X = np.column_stack([y + rng.normal(size=40), rng.normal(size=40)])
    model = CRPRegressor(**FAST).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    low, high = model.predict_interval(X).T
    assert (low <= high).all()
    assert abs(model.predict(X).mean() - y.mean()) <= 0.5 * y.std() + 1e-6


@pytest.mark.parametrize("n", [1, 2, 3, 9, 10, 12])
def test_few_rows_are_enough(n):
    X, y = linear(n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CRPRegressor(random_state=0, n_islands=2).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
        assert np.isfinite(model.predict_interval(X)).all()


# --- intervals that cover ------------------------------------------------------------------------


def covered(model, X, y, coverage):
    low, high = model.predict_interval(X, coverage).T
    return int(((low <= y) & (y <= high)).sum())


def assert_covers(found, n, n_calibrated, coverage):
    """Within the noise of n new rows, and of the rows by which the levels were found."""
    share = found / n
    deviation = np.sqrt(coverage * (1 - coverage) * (1 / n + 1 / n_calibrated))
    assert abs(share - coverage) < 3.5 * deviation


@pytest.fixture(scope="module", params=[linear, mixed])
def table(request):
    return request.param


@pytest.fixture(scope="module", params=["auto", "none"])
def learned(request, table):
    return CRPRegressor(**FAST, correction=request.param).fit(*table(400))


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_cover_new_rows(table, learned, coverage):
    X, y = table(1500, 1)
    assert_covers(covered(learned, X, y, coverage), 1500, 400, coverage)


def test_intervals_cover_new_rows_of_a_real_table():
    X, y = load_diabetes(return_X_y=True)
    folds = np.arange(len(y)) % 3
    found = 0
    for k in range(3):
        model = CRPRegressor(**FAST).fit(X[folds != k], y[folds != k])
        found += covered(model, X[folds == k], y[folds == k], 0.9)
    assert binom.cdf(found, len(y), 0.9) > 1e-3
    assert binom.sf(found, len(y), 0.9) > 1e-3


def test_noise_that_depends_on_a_column_makes_wider_intervals_there():
    X, y = mixed(600)
    model = CRPRegressor(random_state=0, n_islands=4).fit(X, y)
    rows = pd.DataFrame({"size": [0.0, 0.0], "shop": ["a", "b"], "new": [True, True]})
    low, high = np.log(model.predict_interval(rows)).T
    assert (high - low)[0] > 1.05 * (high - low)[1]  # the truth is 5: groups are of the mean, too


def test_a_calibrated_density_is_better_than_the_plain_one_on_new_rows():
    X, y = linear(300)
    new = linear(1000, 1)
    plain = CRPRegressor(**FAST, calibrate=False).fit(X, y).log_density(*new).mean()
    assert CRPRegressor(**FAST).fit(X, y).log_density(*new).mean() > plain + 0.1


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["a", "b", "c"], "y must be numbers"),
        ([1.0, "2", 3.0], r"row 1 is the text '2' \(strings are never parsed\)"),
        (np.array(["1", "2", "3"], dtype=object), "row 0 is the text '1'"),
        (pd.array(["1", "2", "3"], dtype="string"), "row 0 is the text '1'"),
        (pd.date_range("2020-01-01", periods=3), "date or time 2020-01-01.*Convert it, to days"),
        (pd.Series(pd.date_range("2020-01-01", periods=3, tz="UTC")), "date or time 2020-01-01"),
        ([dt.date(2020, 1, 1)] * 3, "date or time 2020-01-01"),
        (np.arange(3).astype("m8[s]"), "date or time 0 seconds"),
        ([1.0, np.nan, 2.0], "row 1 has no target"),
        ([1.0, np.inf, 2.0], "row 1 is inf"),
        ([1.0, 2.0], "X has 3 rows, y has 2"),
        (None, "y is None"),
        (np.array([1j, 2, 3]), "Complex"),
    ],
)
def test_targets_that_are_no_numbers_are_refused_and_nothing_changes(y, words):
    X = [[0.0], [1.0], [2.0]]
    model = CRPRegressor(**FAST).fit(X, [1.0, 2.0, 3.0])
    before = model.predict(X)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    assert np.array_equal(model.predict(X), before)


def test_numbers_in_objects_are_a_target():
    X = [[0.0], [1.0], [2.0]]
    plain = CRPRegressor(**FAST).fit(X, [1.0, 2.0, 3.0]).predict(X)
    for y in (np.array([1, 2.0, Decimal(3)], dtype=object), pd.array([1, 2, 3], dtype="Int64")):
        assert np.array_equal(CRPRegressor(**FAST).fit(X, y).predict(X), plain)


def test_parameters_of_questions_are_checked():
    model = CRPRegressor(**FAST).fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1; got 90"):
        model.predict_interval([[0.0]], 90)
    with pytest.raises(ValueError, match="q must be levels between 0 and 1"):
        model.predict_quantiles([[0.0]], [0.5, 1.0])
    with pytest.raises(ValueError, match="n_samples"):
        model.sample_y([[0.0]], 0)
    with pytest.raises(ValueError, match="'target' parameter"):
        CRPRegressor(target="log").fit([[0.0]], [1.0])
    assert model.predict_quantiles([[0.0]], 0.5).shape == (1,)
    assert model.sample_y([[0.0]], 3).shape == (1, 3)


def test_a_column_may_be_called_y():
    frame = pd.DataFrame({"y": rng.normal(size=40)})
    model = CRPRegressor(**FAST).fit(frame, 2 * frame["y"])
    assert model.score(frame, 2 * frame["y"]) > 0.9


# --- files ---------------------------------------------------------------------------------------


def saved(model):
    file = io.BytesIO()
    infinimix.save(model, file)
    return file.getvalue()


@pytest.mark.parametrize("more", [{"calibrate": False}, {"correction": "none"}, {}])
def test_a_saved_model_answers_the_same(more):
    X, y = mixed(150)
    model = CRPRegressor(random_state=0, n_islands=2, **more).fit(X, y)
    again = infinimix.load(io.BytesIO(saved(model)))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.predict_interval(X), model.predict_interval(X))
    assert np.array_equal(again.log_density(X, y), model.log_density(X, y))
    assert (again.target_, again.log_evidence_) == (model.target_, model.log_evidence_)
    assert again.held_out_r2_ == model.held_out_r2_ or np.isnan(model.held_out_r2_)


def test_a_saved_or_copied_second_model_answers_the_same():
    X, y = linear(120)
    y = np.where(X[:, 2] > 0, y, -y)
    model = CRPRegressor(random_state=0, n_islands=2).fit(X, y)
    assert model._state.correction.second is not None
    saved_one = infinimix.load(io.BytesIO(saved(model)))
    for again in (saved_one, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict(X), model.predict(X))


@cache
def small_file():
    return saved(CRPRegressor(**FAST).fit(*linear(60)))


def _spoil(tree, *path, value):
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("correction", "scale"), -1.0),
        (("correction", "levels"), [np.zeros(2), np.ones(2)]),
        (("correction", "features"), None),
        (("correction", "stack"), None),
        (("target",), ["x0", None]),
        (("target",), ["y", ["spike", 0.0]]),
        (("within",), [2.0, 1.0]),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(path, value):
    name, tree, _version = artifacts.read(io.BytesIO(small_file()))
    _spoil(tree, *path, value=value)
    file = io.BytesIO()
    artifacts.write(file, name, tree, library_version="0")
    with pytest.raises(artifacts.ArtifactError):
        infinimix.load(io.BytesIO(file.getvalue()))
