"""AClassClassifier with labels partly missing, and batches of queries."""

import io

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, load, save

rng = np.random.default_rng(0)
Y = np.repeat(["low", "high"], 40)
X = pd.DataFrame(
    {
        "size": rng.normal(size=80) + 3 * (Y == "high"),
        "wet": np.where(rng.random(80) < 0.85, Y == "high", Y == "low").astype(int),
    }
)
X.loc[::7, "size"] = np.nan
FEW = np.array([0, 1, 41, 42])
REST = np.setdiff1d(np.arange(80), FEW)


def model(**parameters):
    return AClassClassifier(**{"n_islands": 4, "n_particles": 2, "random_state": 0} | parameters)


def some_labels(none):
    return [label if i in FEW else none for i, label in enumerate(Y)]


@pytest.mark.parametrize(("none", "unlabelled"), [(None, None), (np.nan, None), ("?", "?")])
def test_rows_without_labels_help(none, unlabelled):
    fitted = model(unlabelled=unlabelled).fit(X, some_labels(none))
    assert fitted.classes_.tolist() == ["high", "low"]
    assert np.mean(fitted.predict(X) == Y) > 0.85
    assert np.isclose(fitted.class_count_.sum(), 80)
    assert (fitted.class_count_ > 20).all()


def test_labels_that_are_all_there_leave_everything_as_it_was():
    fitted = model(unlabelled="?").fit(X, Y)
    assert fitted.class_count_.tolist() == [40, 40]
    assert np.array_equal(fitted.predict_proba(X), model().fit(X, Y).predict_proba(X))


def test_batches():
    few = model().fit(X.iloc[FEW], Y[FEW])
    proba = few.predict_proba_batch(X.iloc[REST])
    assert np.allclose(proba.sum(axis=1), 1)
    batch = few.predict_batch(X.iloc[REST])
    assert (batch == few.classes_[proba.argmax(axis=1)]).all()
    assert np.mean(batch == Y[REST]) > 0.85
    order = np.random.default_rng(1).permutation(len(REST))
    assert np.array_equal(few.predict_proba_batch(X.iloc[REST[order]]), proba[order])
    assert few.predict_batch(X.iloc[:0]).shape == (0,)


def test_a_saved_model_has_the_same_batches():
    fitted = model().fit(X, some_labels(None))
    file = io.BytesIO()
    save(fitted, file)
    again = load(io.BytesIO(file.getvalue()))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert np.array_equal(again.predict_proba_batch(X[:9]), fitted.predict_proba_batch(X[:9]))
    assert np.array_equal(again.class_count_, fitted.class_count_)


def test_streams_have_no_batches():
    fitted = model().fit(X, Y).partial_fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match="partial_fit"):
        fitted.predict_batch(X)


def test_some_row_needs_a_label():
    with pytest.raises(ValueError, match="no label at all"):
        model().fit(X, [None] * 80)
