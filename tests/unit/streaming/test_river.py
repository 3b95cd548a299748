"""River's own checks, and what its streams do that tables do not."""

import copy
import random
import sys

import numpy as np
import pytest

from infinimix import AClassClassifier
from infinimix.streaming import prequential

pytest.importorskip("river", reason="River is not installed: pip install 'infinimix[river]'")
from river import checks, compose, datasets, evaluate, metrics, preprocessing

from infinimix.streaming import RiverClassifier

SMALL = {"n_particles": 2, "n_islands": 1, "random_state": 0}


def make(settle=100, **parameters):
    return RiverClassifier(AClassClassifier(**SMALL | parameters), settle)


CHECKED = RiverClassifier(**next(iter(RiverClassifier._unit_test_params())))


@pytest.mark.parametrize(
    "check", list(checks.yield_checks(CHECKED)), ids=lambda check: check.__name__
)
def test_rivers_own_checks(check):
    random.seed(0)  # some drop features at random
    check(copy.deepcopy(CHECKED))


def test_it_works_in_a_pipeline_and_learns():
    model = compose.Pipeline(preprocessing.StandardScaler(), make())
    accuracy = evaluate.progressive_val_score(
        datasets.Phishing().take(400), model, metrics.Accuracy()
    )
    assert accuracy.get() > 0.8


def test_a_run_over_the_same_stream_agrees():
    rows = list(datasets.Phishing().take(150))
    result = prequential(make(), rows)
    accuracy = metrics.Accuracy()
    model = make()
    for x, y in rows:
        answer = model.predict_one(x)
        if answer is not None:
            accuracy.update(y, answer)
        model.learn_one(x, y)
    assert result.unanswered == 1
    assert 149 * (1 - accuracy.get()) + 1 == pytest.approx(150 * result.error)


def test_features_that_emerge_are_as_if_they_had_been_there():
    rng = np.random.default_rng(0)
    rows = [{"a": float(rng.normal()), "b": float(rng.normal())} for _ in range(30)]
    for row in rows[:10]:
        del row["b"]
    y = [int(row["a"] > 0) for row in rows]
    model, expected = make(), AClassClassifier({"a": "real", "b": "real"}, **SMALL)
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
        expected.learn_one({"a": None, **x}, label)
    for x in rows:
        assert model.predict_proba_one(x) == expected.predict_proba_one(x)


def test_features_that_come_too_late_are_left_out_with_one_warning():
    model = make(settle=2)
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"a": 2.0}, "y")
    with pytest.warns(UserWarning, match="the feature 'b' came after 2 rows"):
        model.learn_one({"a": 1.0, "b": 1.0}, "x")
    model.learn_one({"a": 1.0, "b": 1.0, "c": 1.0}, "x")
    assert model.n_ignored == 3
    assert list(model.learned.columns_) == ["a"]
    assert sum(model.predict_proba_one({"a": 1.0, "d": 5}).values()) == pytest.approx(1)


def test_kinds_follow_the_types_of_the_first_values():
    model = make()
    model.learn_one({"whole": 1, "flag": True, "word": "p", "none": None}, "x")
    model.learn_one({"whole": 2.5, "none": "now"}, "y")
    assert model.learned.columns_ == {
        "flag": "binary", "none": "categorical", "whole": "real", "word": "categorical",
    }  # fmt: skip


def test_columns_of_the_model_go_first():
    model = make(columns={"code": "categorical", "late": "real"})
    model.learn_one({"other": True}, "x")
    model.learn_one({"code": 3, "word": "w"}, "y")
    assert model.learned.columns_ == {
        "code": "categorical", "late": "real", "other": "binary", "word": "categorical",
    }  # fmt: skip
    model = make(columns={("p", "q"): "gaussian"})
    model.learn_one({"q": 1.0}, "x")
    assert model.learned.blocks_ == (("p", "q"),)
    model = make(columns="real")
    model.learn_one({"n": True}, "x")
    model.learn_one({"m": 4}, "x")
    assert set(model.learned.columns_.values()) == {"real"}


def test_a_row_that_is_refused_changes_nothing():
    model = make()
    with pytest.raises(ValueError, match="no features"):
        model.learn_one({}, "x")
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"a": 2.0}, "y")
    before = model.predict_proba_one({"a": 1.0})
    for x in ({"a": float("inf")}, {"a": "word"}, {"a": 1.0, "b": float("inf")}):
        with pytest.raises(ValueError, match="column"):
            model.learn_one(x, "x")
    assert model.predict_proba_one({"a": 1.0}) == before
    assert len(model._kept) == 2


def test_models_whose_features_emerge_get_the_rows_as_they_are():
    class Words(AClassClassifier):
        features_emerge = True
        rows = ()

        def learn_one(self, x, y):
            self.rows += (x,)

        def predict_proba_one(self, x):
            return {"x": 1.0}

    model = RiverClassifier(Words())
    model.learn_one({"a": 1}, "x")
    model.learn_one({"b": 1}, "x")
    assert model.learned.rows == ({"a": 1}, {"b": 1})
    assert model.predict_one({"c": 1}) == "x"


def test_a_clone_knows_nothing():
    model = make()
    model.learn_one({"a": 1.0}, "x")
    assert model.clone().predict_one({"a": 1.0}) is None
    assert not model.model.__sklearn_is_fitted__()


def test_without_river_it_is_said_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    monkeypatch.delitem(sys.modules, "infinimix.streaming.river")
    with pytest.raises(ImportError, match=r"RiverClassifier needs River: pip install"):
        from infinimix.streaming import RiverClassifier  # noqa: F401
