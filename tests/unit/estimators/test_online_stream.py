"""Streams: forecasts, any cutting into calls, late labels, forgetting, and bounds on memory."""

import numpy as np
import pytest

from infinimix import NEW_CLASS, OnlineCRPClassifier, Text
from tests.unit.estimators.online_streams import (
    cuts_of,
    hide,
    make_stream,
    make_texts,
    new_model,
    online_state,
)
from tests.unit.estimators.states import differences
from tests.unit.estimators.tables import KINDS

ROWS = 90
OPTIONS = {
    "plain": {},
    "counts": {"weighting": "counts", "refine": 0.0, "negative": 1.0, "alpha_rule": "posterior"},
    "drawn": {"algorithm": "sampled", "decision": "sample"},
    "faded": {"half_life": 11.0},
    "faded draws": {"half_life": 11.0, "algorithm": "sampled"},
    "few classes": {"max_classes": 2},
    "open": {"open_world": True, "alpha": 40.0},
    "open, few classes": {"open_world": True, "max_classes": 2, "alpha": 40.0},
    "hashed": {"columns": Text(hash_bits=6)},
    "published": {"new_class": "published", "alpha_rule": "posterior-published"},
    "published draws": OnlineCRPClassifier.as_published(
        algorithm="redrawn", decision="sample", random_state=0
    ).get_params(),
}
TABLES = [(kind, name) for kind in KINDS for name in ("plain", "open", "faded", "published")]
TABLES += [(kind, name) for kind in KINDS for name in ("faded draws", "published draws")]
STREAMS = [("text", name) for name in OPTIONS] + TABLES


def stream(what, name):
    X, y, columns = make_stream(what, ROWS, seed=1)
    parameters = {"columns": columns} | {
        key: value for key, value in OPTIONS[name].items() if key != "columns" or what == "text"
    }
    return X, hide(y, 0.3) if "open" in name else y, parameters


def same(a, b):
    return a.tolist() == b.tolist() or np.array_equal(a, b, equal_nan=True)


def assert_same(one, two):
    assert differences(online_state(one), online_state(two)) == []


@pytest.mark.parametrize(("what", "name"), STREAMS)
def test_any_cutting_into_calls_gives_the_same_model(what, name):
    X, y, parameters = stream(what, name)
    whole = new_model(**parameters)
    forecast = whole.forecast(X, y)
    for seed, longest in ((0, 2), (1, 30)):  # row by row, and in portions
        parts = new_model(**parameters)
        said = []
        for first, last in cuts_of(ROWS, seed, longest):
            said.append(parts.forecast(X[first:last], y[first:last]))
            parts.predict(X[-3:])  # to ask changes nothing
        assert_same(whole, parts)
        for k, expected in enumerate(forecast):
            assert same(np.concatenate([part[k] for part in said]), expected)


@pytest.mark.parametrize("name", ["plain", "one replica", "open", "published"])
def test_many_classes_may_be_heard_of_early_or_late(name):
    """Sums over classes have one order, however many are declared: the same to the last bit."""
    X, y = make_texts(200, seed=5, n_classes=25, n_words=80)
    parameters = {"one replica": {"negative": 1.0, "refine": 0.5}, "plain": {}}
    parameters |= {"open": OPTIONS["open"], "published": OPTIONS["published"]}
    models = [new_model(**parameters[name]) for _ in range(2)]
    models[0].partial_fit(X, y)
    for row, label in zip(X, y, strict=True):
        models[1].partial_fit([row], [label])
    assert_same(*models)


def test_few_words_are_the_same_up_to_rounding():
    X, y = make_texts(300, seed=2, n_words=200)
    models = [new_model(max_features=40) for _ in range(2)]
    models[0].partial_fit(X, y)
    for first, last in cuts_of(300, 0):
        models[1].partial_fit(X[first:last], y[first:last])
    np.testing.assert_allclose(*(model.predict_proba(X) for model in models), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("what", "name"), [s for s in STREAMS if "open" not in s[1]])
def test_a_forecast_is_what_predict_says_before_each_row(what, name):
    X, y, parameters = stream(what, name)
    forecast = new_model(**parameters).forecast(X, y)
    model = new_model(**parameters)
    for i in range(ROWS):
        row, label = X[i : i + 1], y[i]
        if i == 0:
            assert forecast.predicted[0] is None
        else:
            proba = dict(zip(model.classes_.tolist(), model.predict_proba(row)[0], strict=True))
            assert forecast.new[i] == model.new_class_proba(row)[0]
            known = proba | {NEW_CLASS: forecast.new[i]}  # which the published form may answer
            assert forecast.confidence[i] == known[forecast.predicted[i]]
            if parameters.get("decision") != "sample":
                assert forecast.predicted[i] == model.predict(row)[0]
            if label in proba:
                assert forecast.proba_true[i] == proba[label]
            else:
                assert np.isnan(forecast.proba_true[i])
        model.partial_fit(row, [label])


@pytest.mark.parametrize("what", ["text", "mixed"])
def test_answers_change_nothing(what):
    for name in ("drawn" if what == "text" else "faded", "open"):
        X, y, parameters = stream(what, name)
        model, asked = new_model(**parameters), new_model(**parameters)
        for first, last in cuts_of(ROWS, 4):
            model.partial_fit(X[first:last], y[first:last])
            asked.partial_fit(X[first:last], y[first:last])
            for ask in (asked.predict, asked.predict_proba, asked.new_class_proba):
                ask(X)
            if what == "text":
                asked.predict([{f"never seen {i}": 1.0 for i in range(first, 2 * last)}])
        assert_same(model, asked)
        assert all(map(same, model.forecast(X, y), asked.forecast(X, y)))


def test_answers_need_no_room_for_unknown_words():
    X, y = make_texts(40)
    model = new_model(max_features=30).fit(X, y)
    words = model._state.learner.words
    model.predict([{f"u{i}": 1.0 for i in range(10_000)}])
    assert model._state.learner.words <= 2 * max(words, 60)


def test_delayed_labels_correct_what_was_predicted_then():
    X, y = make_texts(ROWS)
    at_once, late = new_model(), new_model()
    at_once.partial_fit(X[:40], y[:40])
    late.partial_fit(X[:40], y[:40])
    made = at_once.forecast(X[40:], y[40:]).predicted
    late.partial_fit(X[40:], y[40:], predicted=made)
    assert_same(at_once, late)
    other, unknown = new_model().fit(X[:40], y[:40]), new_model().fit(X[:40], y[:40])
    other.partial_fit(X[40:41], y[40:41], predicted=[NEW_CLASS])
    unknown.partial_fit(X[40:41], y[40:41], predicted=[None])
    assert differences(online_state(other), online_state(unknown)) != []
    again = new_model().fit(X[:40], y[:40])
    again.partial_fit(X[40:41], y[40:41], predicted=np.array([np.nan], object))
    assert_same(again, unknown)  # a hole is a prediction that is not known


def test_a_prediction_of_a_class_that_is_gone_corrects_none():
    X, y = make_texts(40)
    models = [new_model().fit(X, y) for _ in range(2)]
    models[0].partial_fit(X[:1], y[:1], predicted=["gone"])
    models[1].partial_fit(X[:1], y[:1], predicted=[NEW_CLASS])
    assert_same(*models)
    declared = new_model().fit(X, y)
    declared.partial_fit(X[:1], y[:1], classes=["gone"], predicted=["gone"])
    assert declared.class_count_.sum() == 41
    expected = np.delete(models[0].predict_proba(X), [], axis=1)
    found = declared.predict_proba(X)
    assert (found[:, declared.classes_ == "gone"] == 0.0).all()
    assert np.array_equal(found[:, declared.classes_ != "gone"], expected)


def test_with_a_half_life_a_change_of_concept_is_forgotten():
    X, y = make_texts(600, n_classes=2, longest=8)
    swapped = [{"c0": "c1", "c1": "c0"}[label] for label in y]
    fixed = {"weighting": "counts", "refine": 0.0, "negative": 0.0, "calibrate": False}
    keeps, forgets = new_model(**fixed), new_model(half_life=50.0, **fixed)
    for model in (keeps, forgets):
        model.partial_fit(X, y)
        model.partial_fit(X[:200], swapped[:200])
    assert forgets.score(X[200:], swapped[200:]) > 0.8
    assert forgets.score(X[200:], swapped[200:]) > keeps.score(X[200:], swapped[200:]) + 0.3
    assert forgets.class_count_.sum() < 80 < keeps.class_count_.sum()


def test_memory_is_bounded():
    rng = np.random.default_rng(0)
    model = new_model(max_features=50, max_classes=3, open_world=True)
    largest = 0
    for start in range(0, 3000, 100):
        words = rng.integers(start, start + 400, (100, 6))
        X = [{f"w{w}": 1.0 for w in row} for row in words]
        y = [f"c{k}" if k % 3 else None for k in rng.integers(start // 50, start // 50 + 9, 100)]
        y[0] = y[0] or "c0"
        model.partial_fit(X, y)
        largest = max(largest, model._state.learner.model.stats.n.size)
        assert len(model.classes_) <= 3
        assert len(model.provisional_classes()) <= 3
        known = len(model._state.learner.known_words())
        assert known <= 50 + 64 * 6  # until the next look
        assert len(model._state.source.vocabulary) <= 2 * 50 + 600
    assert largest <= 1600 * (1 + 2 * 8)
    assert model._state.learner.model.family.known[0] == known


def test_the_class_that_had_no_row_for_longest_is_forgotten():
    model = new_model(max_classes=2)
    model.partial_fit(["aa bb", "cc dd", "aa bb"], ["x", "y", "x"])
    model.partial_fit(["ee ff"], ["z"])
    assert model.classes_.tolist() == ["x", "z"]
    assert model.predict(["aa", "ee"]).tolist() == ["x", "z"]
    assert model.partial_fit(["cc dd"] * 2, ["y", "y"]).classes_.tolist() == ["y", "z"]
    assert model.class_count_.tolist() == [2.0, 1.0]
    one = new_model(max_classes=1).partial_fit(["aa", "bb", "aa"], ["x", "y", "x"])
    assert one.classes_.tolist() == ["x"]
    assert one.class_count_.tolist() == [1.0]


def test_a_category_that_only_a_row_without_label_has_is_known_later():
    """Once it led beyond the statistics."""
    columns = {0: "categorical", 1: "real"}
    rng = np.random.default_rng(0)
    X = [[letter, float(x)] for letter, x in zip("ab" * 20, rng.normal(size=40), strict=True)]
    model = new_model(columns, open_world=True, alpha=1e-3).fit(X, list("uv" * 20))
    model.partial_fit([["c", 0.1], ["d", 0.2]], [None, None])
    model.partial_fit([["c", 0.1], ["d", 0.2], ["e", 0.0]], ["u", "v", "w"])
    assert model._state.learner.layout.category_counts.tolist() == [5]
    assert np.isfinite(model.predict_proba([["d", 0.0], ["zz", 1.0]])).all()
    eager = new_model(columns, open_world=True, alpha=900.0, alpha_rule="fixed")
    eager.fit(X, list("uvvu" * 10))  # labels that nothing says, so that it is unsure
    eager.partial_fit([["f", 0.0], ["g", 0.0]], [None, None])
    examples = [row for c in eager.provisional_classes() for row in c.examples]
    assert {"x0": "g", "x1": 0.0} in examples
