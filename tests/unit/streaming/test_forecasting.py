"""Predict, then learn: a slow loop written out, and every kind of model and chunk beside it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import Perceptron
from sklearn.naive_bayes import GaussianNB

from infinimix import AClassClassifier
from infinimix.streaming.forecasting import as_learner, forecast
from tests.unit.estimators.states import differences, state_of
from tests.unit.streaming.fakes import NEW_CLASS, OpenCounter, RowCounter, Scripted, TableCounter

Y = ["a", "b", "b", "a", "b", "c"]
X = np.arange(12.0).reshape(6, 2)
SHARE = [np.nan, np.nan, 1 / 2, 1 / 3, 2 / 4, np.nan]  # of the true label, before it is learned
BEST = [None, "a", "a", "b", "a", "b"]
CONFIDENCE = [np.nan, 1, 1 / 2, 2 / 3, 2 / 4, 3 / 5]

CHUNKS = {
    "array": X,
    "sparse": sparse.coo_array(X),
    "lists": X.tolist(),
    "dicts": [{"p": p, "q": q} for p, q in X.tolist()],
    "pandas": pd.DataFrame(X, columns=["p", "q"], index=range(10, 16)),
    "polars": pl.DataFrame({"p": X[:, 0], "q": X[:, 1]}),
}


@pytest.mark.parametrize("form", CHUNKS)
@pytest.mark.parametrize("cls", [TableCounter, RowCounter])
def test_each_row_is_predicted_before_it_is_learned(cls, form):
    found = forecast(cls(), CHUNKS[form], Y)
    assert found.predicted.tolist() == BEST
    assert np.array_equal(found.proba_true, SHARE, equal_nan=True)
    assert np.array_equal(found.confidence, CONFIDENCE, equal_nan=True)
    assert np.isnan(found.new).all()


@pytest.mark.parametrize("y", [Y, np.array(Y), pd.Series(Y), pl.Series(Y), tuple(Y)])
def test_labels_come_in_any_form(y):
    assert forecast(TableCounter(), X, y).predicted.tolist() == BEST


def test_rows_reach_a_model_of_dicts_as_dicts():
    for form in ("pandas", "polars", "dicts"):
        model = RowCounter()
        forecast(model, CHUNKS[form], Y)
        assert model.rows == CHUNKS["dicts"]
    forecast(model := RowCounter(), X, Y)
    assert model.rows[1] == {0: 2.0, 1: 3.0}


def test_texts_reach_a_model_as_texts():
    forecast(model := RowCounter(), ["two words", "three more words"], ["a", "b"])
    assert model.rows == ["two words", "three more words"]


def test_a_batch_is_predicted_then_learned():
    model = TableCounter()
    found = forecast(model, X, Y, batch=4)
    assert found.predicted.tolist() == [None] * 4 + ["a", "a"]
    assert model.calls == [4, 2]


def test_a_model_that_can_do_it_itself_does_it():
    model = Scripted()
    rows = [{"says": "a", "proba": 0.5}, {"says": NEW_CLASS, "new": 0.9}]
    assert forecast(model, rows, ["a", "b"]).predicted.tolist() == ["a", NEW_CLASS]
    assert model.cuts == [2]


def test_an_open_world_may_answer_new():
    found = forecast(OpenCounter(), X, Y)
    assert found.predicted.tolist() == [None, NEW_CLASS, NEW_CLASS, "b", "a", "b"]
    assert np.allclose(found.new, [np.nan, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 1 / 6], equal_nan=True)
    assert found.confidence[1] == 0.5


def test_aclass_is_the_loop_written_out():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    parameters = {"columns": "real", "n_particles": 3, "n_islands": 2, "random_state": 0}
    a, b = AClassClassifier(**parameters), AClassClassifier(**parameters)
    found = forecast(a, X, y)
    for i in range(30):
        if i:
            proba = dict(zip(b.classes_.tolist(), b.predict_proba(X[i : i + 1])[0], strict=True))
            assert found.predicted[i] == b.predict(X[i : i + 1])[0]
            assert found.confidence[i] == max(proba.values())
            assert np.array_equal(found.proba_true[i], proba.get(y[i], np.nan), equal_nan=True)
        b.partial_fit(X[i : i + 1], y[i : i + 1])
    assert differences(state_of(a), state_of(b)) == []


def test_dicts_reach_aclass_one_by_one_so_that_the_first_may_lack_features():
    model = AClassClassifier({"p": "real", "q": "real"}, n_particles=2, n_islands=1)
    forecast(model, [{"p": 1.0}, {"q": 2.0}, {}], ["a", "b", "a"])
    assert list(model.columns_) == ["p", "q"]


def test_models_of_scikit_learn_that_must_know_all_classes():
    learner = as_learner(GaussianNB(), classes=["a", "b", "c"])
    learner.learn(X, Y)
    assert learner.answer(X, Y).proba_true.min() >= 0
    with pytest.raises(ValueError, match="classes"):
        forecast(GaussianNB(), X, Y)


def test_models_without_probabilities():
    learner = as_learner(Perceptron(), classes=["a", "b", "c"])
    learner.learn(X, Y)
    found = learner.answer(X, Y)
    assert set(found.predicted) <= {"a", "b", "c"}
    assert np.isnan(found.confidence).all()

    class Shy(RowCounter):
        def predict_proba_one(self, x):
            raise NotImplementedError

        def predict_one(self, x):
            return "a"

    assert forecast(Shy(), X, Y).predicted.tolist() == ["a"] * 6


def test_what_cannot_learn_from_a_stream_is_refused():
    with pytest.raises(TypeError, match="object cannot learn from a stream"):
        forecast(object(), X, Y)


def test_no_rows_give_no_answers():
    assert len(forecast(TableCounter(), X[:0], []).predicted) == 0
