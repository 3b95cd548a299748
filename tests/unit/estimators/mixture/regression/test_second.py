"""The second model: which numbers are linked, and a mean that is piecewise linear but never far."""

import numpy as np
import pandas as pd

from infinimix import CRPRegressor
from infinimix.estimators.common.joint_numbers import MOST_COLUMNS, correlation_within
from infinimix.estimators.mixture.regression.second import Linked
from infinimix.tables import encode, read_schema

rng = np.random.default_rng(0)


def table_of(X):
    schema = read_schema(X)
    table = encode(schema, X, learn=True)
    return table._replace(schema=schema.extended(table.novel))


def test_correlations_are_those_of_numpy_where_nothing_is_missing():
    X = rng.normal(size=(50, 3)) + rng.normal(size=(50, 1))
    one_class = np.zeros(50, np.int64)
    np.testing.assert_allclose(correlation_within(X, one_class), np.corrcoef(X.T))
    X[:, 1] = 4.0
    assert correlation_within(X, one_class)[1].tolist() == [0.0, 0.0, 0.0]


def test_numbers_are_linked_but_neither_copies_nor_categories_nor_empty_columns():
    n = 60
    frame = pd.DataFrame({
        "a": rng.normal(size=n), "word": rng.choice(["u", "v"], n), "same": 1.5,
        "none": np.nan, "b": rng.normal(size=n),
    })  # fmt: skip
    frame["copy"] = 2 * frame["a"]
    t = (frame["a"] - frame["b"]).to_numpy()
    linked = Linked.find(table_of(frame), t)
    assert linked.columns.tolist() == [0, 4]
    assert linked.fits(table_of(frame).schema)
    assert linked.ends.tolist() == [t.min(), t.max()]


def test_of_many_numbers_those_most_correlated_with_the_target_are_linked():
    X = rng.normal(size=(400, 40))
    t = X[:, 3] + 0.1 * rng.normal(size=400)
    linked = Linked.find(table_of(X), t)
    assert len(linked.columns) == MOST_COLUMNS
    assert 3 in linked.columns


def test_nothing_is_linked_without_numbers_or_with_blocks_that_were_asked_for():
    words = pd.DataFrame({"word": rng.choice(["u", "v"], 40)})
    assert Linked.find(table_of(words), rng.normal(size=40)) is None
    X = rng.normal(size=(40, 2))
    schema = read_schema(X, "gaussian")
    table = encode(schema, X, learn=True)
    assert Linked.find(table, X[:, 0]) is None
    assert Linked.find(table_of(X), np.ones(40)) is None


def test_two_lines_are_predicted_better_with_it():
    X = rng.uniform(-1, 1, (300, 2))
    y = np.where(X[:, 1] > 0, 5 * X[:, 0], -5 * X[:, 0]) + 0.2 * rng.normal(size=300)
    model = CRPRegressor(random_state=0, n_islands=4).fit(X[:200], y[:200])
    fast = CRPRegressor(random_state=0, n_islands=4, effort="fast").fit(X[:200], y[:200])
    assert model._state.correction.second is not None
    assert fast._state.correction.second is None
    assert model.score(X[200:], y[200:]) > fast.score(X[200:], y[200:])


def test_a_row_far_from_all_others_is_not_predicted_far_away():
    X = rng.uniform(-1, 1, (300, 2))
    y = np.where(X[:, 1] > 0, 5 * X[:, 0], -5 * X[:, 0]) + 0.2 * rng.normal(size=300)
    model = CRPRegressor(random_state=0, n_islands=4).fit(X, y)
    span = y.max() - y.min()
    far = model.predict([[1e6, 1.0], [-1e6, 1.0], [1e9, -1e9], [0.0, 1e6]])
    assert (far > y.min() - span).all()
    assert (far < y.max() + span).all()
