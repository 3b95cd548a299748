"""Single documents learned and answered by the shorter way leave what the longer one does."""

import copy

import numpy as np
import pytest

from infinimix import NEW_CLASS, OnlineCRPClassifier, Text
from infinimix.estimators.online import row_by_row
from tests.unit.estimators.online.test_classifier import assert_same

ROWS = ["red fish", "blue car", "a red red rose", "fast blue car car", "", "old rose", "new pond"]
LABELS = ["life", "thing", "life", "thing", "life", "life", "thing"]
OPTIONS = {
    "defaults": {},
    "counts": {"weighting": "counts"},
    "drawn decisions": {"decision": "sample"},
    "drawn parameters": {"algorithm": "sampled"},
    "drawn alpha": {"alpha_rule": "posterior-published"},
    "published": {"new_class": "published", "weighting": "counts"},
    "open world": {"open_world": True},
    "forgetting": {"half_life": 16.0},
    "few words": {"max_features": 4},
    "few classes": {"max_classes": 2},
    "options of text": {"columns": Text(stop_words="english", stem=True)},
    "hashed": {"columns": Text(hash_bits=5)},
}


@pytest.fixture
def longer_way(monkeypatch):
    """Let no row be plain while the returned function runs."""

    def run(function, *args):
        with monkeypatch.context() as patch:
            patch.setattr(row_by_row, "_is_plain", lambda state, X: False)
            return function(*args)

    return run


def make(options):
    return OnlineCRPClassifier(random_state=3, **options)


def learn(model, n=60):
    rng = np.random.default_rng(0)
    for k in range(n):
        i = int(rng.integers(len(ROWS)))
        model.partial_fit([f"{ROWS[i]} word{k // 3}"], [LABELS[i]])
    return model


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_model_is_the_same(options, longer_way):
    model = learn(make(options))
    assert_same(model, longer_way(learn, make(options)))


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("row", ["red car word1", "quarks and gluons", "", {"car": 2, "z": 0.5}])
def test_answers_are_the_same(options, row, longer_way):
    model = learn(make(options))
    other = copy.deepcopy(model)
    for ask in ("predict", "predict_proba", "new_class_proba"):
        expected = longer_way(getattr(other, ask), [row])
        np.testing.assert_array_equal(getattr(model, ask)([row]), expected)
    assert_same(model, other)


def test_most_rows_go_the_shorter_way(monkeypatch):
    model = learn(OnlineCRPClassifier(), 20)
    monkeypatch.setattr(OnlineCRPClassifier, "_learn", None)
    monkeypatch.setattr(OnlineCRPClassifier, "_read", None)
    for row in ("red pond", {"red": 1, "sea": 2}, ["red", "lake"]):
        model.partial_fit([row], ["life"])
        assert model.predict([row]).tolist() == ["life"]
        assert model.predict_proba([row]).shape == (1, 2)
    assert "lake" in model._state.source.vocabulary.known


@pytest.mark.parametrize("row", [{"red": -1}, {3: 1}, {"red": "x"}])
def test_a_refused_row_changes_nothing(row):
    model = learn(OnlineCRPClassifier(), 20)
    before = copy.deepcopy(model)
    with pytest.raises((ValueError, TypeError)):
        model.learn_one(row, "life")
    with pytest.raises((ValueError, TypeError)):
        model.predict_one(row)
    assert_same(model, before)


def test_an_interrupted_row_is_noticed(monkeypatch):
    model = learn(OnlineCRPClassifier(), 20)

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(model._state.learner, "_entry", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({"red": 1}, "life")
    with pytest.raises(RuntimeError, match="interrupted"):
        model.predict_one({"red": 1})


def test_new_labels_and_new_classes_are_left_to_the_longer_way():
    model = learn(OnlineCRPClassifier(open_world=True), 40)
    model.learn_one({"oboe": 3, "harp": 1}, "music")
    assert model.classes_.tolist() == ["life", "music", "thing"]
    assert model.predict_one({"oboe": 1}) == "music"
    answer = model.predict(["quarks gluons leptons bosons"]).tolist()[0]
    assert answer is NEW_CLASS or answer in model.classes_
