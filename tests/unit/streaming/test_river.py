"""River's own checks, and what its streams do that tables do not."""

import copy
import random
import sys

import numpy as np
import pandas as pd
import pytest

from infinimix import AClassClassifier, CRPMixture, DPMeans, OnlineCRPClassifier
from infinimix.streaming import prequential

pytest.importorskip("river", reason="River is not installed: pip install 'infinimix[river]'")
from river import checks, compose, datasets, evaluate, metrics, preprocessing

from infinimix.streaming import RiverAnomalyDetector, RiverClassifier, RiverClusterer

SMALL = {"n_particles": 2, "n_islands": 1, "random_state": 0}


def make(settle=100, **parameters):
    return RiverClassifier(AClassClassifier(**SMALL | parameters), settle)


CHECKED = [
    cls(**next(iter(cls._unit_test_params())))
    for cls in (RiverClassifier, RiverClusterer, RiverAnomalyDetector)
]


class Cards:
    """Stands for River's CreditCard, which is downloaded: rows, and a few that are unlike them."""

    def take(self, n):
        rng = np.random.default_rng(0)
        for k in range(min(n, 200)):
            row = rng.normal(9.0 * (k % 20 == 19), 1.0, 3).tolist()
            yield dict(zip("abc", row, strict=True)), k % 20 == 19


def list_checks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "CreditCard", Cards)
        return [(model, check) for model in CHECKED for check in checks.yield_checks(model)]


@pytest.mark.parametrize(
    ("model", "check"),
    list_checks(),
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_rivers_own_checks(model, check):
    random.seed(0)  # some drop features at random
    check(copy.deepcopy(model))


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


# --- mixtures, many rows, weights -----------------------------------------------------------------

PHISHING = list(datasets.Phishing().take(130))


@pytest.mark.parametrize("wrong", [CRPMixture(), DPMeans(), "AClassClassifier"])
def test_what_learns_no_labels_is_refused_at_once(wrong):
    with pytest.raises(TypeError, match="RiverClassifier takes a classifier"):
        RiverClassifier(wrong)


@pytest.mark.parametrize("cls", [RiverClusterer, RiverAnomalyDetector])
def test_what_needs_labels_is_refused_at_once(cls):
    with pytest.raises(TypeError, match=f"{cls.__name__} takes a CRPMixture"):
        cls(AClassClassifier())


@pytest.mark.parametrize("learner", [AClassClassifier, OnlineCRPClassifier])
def test_many_rows_are_the_rows_one_after_the_other(learner):
    settings = {"columns": "auto", "random_state": 0}
    settings |= {"effort": "fast"} if learner is AClassClassifier else {}
    one, many = (RiverClassifier(learner(**settings), settle=20) for _ in range(2))
    for x, y in PHISHING:
        one.learn_one(x, y)
    X, y = pd.DataFrame([x for x, _ in PHISHING]), pd.Series([y for _, y in PHISHING])
    assert many.predict_proba_many(X).empty
    for rows in (slice(0, 7), slice(7, 50), slice(50, 130)):
        many.learn_many(X[rows], y[rows])
    proba = many.predict_proba_many(X[:5])
    assert list(proba.columns) == [False, True]
    expected = [one.predict_proba_one(x) for x, _ in PHISHING[:5]]
    assert proba.to_dict("records") == [pytest.approx(p, abs=1e-12) for p in expected]
    assert many.predict_many(X[:5]).tolist() == [one.predict_one(x) for x, _ in PHISHING[:5]]


def test_a_mixture_learns_as_it_does_without_river():
    rows = [{"a": float(x["age_of_domain"]), "b": bool(x["ip_in_url"])} for x, _ in PHISHING]
    clusterer = RiverClusterer(CRPMixture(**SMALL), settle=3)
    detector = RiverAnomalyDetector(CRPMixture(**SMALL), settle=3)
    assert clusterer.predict_one(rows[0]) == 0
    assert detector.score_one(rows[0]) == 0.0
    detector.learn_many(pd.DataFrame(rows))
    for x in rows:
        clusterer.learn_one(x)
    model = CRPMixture({"a": "real", "b": "binary"}, **SMALL)
    for part in (rows[:1], rows[1:2], rows[2:]):
        model.partial_fit(part)
    assert detector.score_one(rows[9]) == -model.score_samples(rows[9:10])[0]
    assert clusterer.predict_one(rows[9]) == model.predict(rows[9:10])[0]


def test_a_weight_is_a_number_of_copies():
    one, two = make(), make()
    for k, (x, y) in enumerate(PHISHING[:30]):
        one.learn_one(x, y, w=k % 3)
        for _ in range(k % 3):
            two.learn_one(x, y)
    x = PHISHING[40][0]
    assert one.predict_proba_one(x) == two.predict_proba_one(x)
    with pytest.raises(ValueError, match="w must be a whole number from 0 on; got 0.5"):
        one.learn_one(x, True, w=0.5)
    with pytest.raises(ValueError, match="2 weights, but there are 1 rows"):
        one.learn_many(pd.DataFrame([x]), pd.Series([True]), w=[1, 2])
