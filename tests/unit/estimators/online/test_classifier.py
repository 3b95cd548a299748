"""`OnlineCRPClassifier`: what it takes, what it answers, and what it refuses."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

from infinimix import NEW_CLASS, OnlineCRPClassifier, Text
from tests.unit.estimators.online_streams import make_stream, make_texts, new_model, online_state
from tests.unit.estimators.states import differences

TEXTS = ["the ball and the goal", "votes for the law", "a goal in the match", "a new law"]
TOPICS = ["sport", "politics", "sport", "politics"]


def assert_same(a, b):
    assert differences(online_state(a), online_state(b)) == []


# --- forms of rows and labels --------------------------------------------------------------------


def test_all_forms_of_rows_are_the_same_rows():
    X, y = make_texts(60)
    words = sorted({word for row in X for word in row})
    dense = np.array([[row.get(word, 0.0) for word in words] for row in X])
    lists = [[word for word, x in row.items() for _ in range(int(x))] for row in X]
    strings = [" ".join(row) for row in lists]
    expected = new_model().fit(X, y).predict_proba(X)
    for rows in (lists, strings, np.array(strings, object)):
        assert np.array_equal(new_model().fit(rows, y).predict_proba(rows), expected)
    for rows in (dense, sparse.csr_matrix(dense), sparse.csr_array(dense)):
        model = new_model().fit(rows, y)
        np.testing.assert_allclose(model.predict_proba(rows), expected, rtol=1e-6)
        assert model.n_features_in_ == len(words)
    assert not hasattr(new_model().fit(X, y), "n_features_in_")


@pytest.mark.parametrize(
    "labels", [["x", "y", "x", "z"], [3, 1, 3, 2], [True, False, True, True], [2**70, -1, -1, 0]]
)
def test_labels_of_any_kind(labels):
    model = new_model().partial_fit(TEXTS, labels)
    assert model.classes_.tolist() == sorted(set(labels))
    assert all(label in labels for label in model.predict(TEXTS).tolist())
    series = new_model().partial_fit(TEXTS, np.array(labels))
    assert np.array_equal(series.predict_proba(TEXTS), model.predict_proba(TEXTS))
    said = model.forecast(TEXTS[:1], labels[:1]).predicted
    assert said.tolist() == series.predict(TEXTS[:1]).tolist()


def test_a_single_class_and_a_single_row():
    model = new_model().fit(TEXTS[:1], ["sport"])
    assert model.predict_proba(TEXTS).tolist() == [[1.0]] * 4
    assert model.predict(TEXTS).tolist() == ["sport"] * 4
    assert model.class_count_.tolist() == [1.0]
    assert model.partial_fit(TEXTS, ["sport"] * 4).class_count_.tolist() == [5.0]


def test_classes_may_be_declared_before_their_first_row():
    model = new_model().partial_fit(TEXTS[:1], ["sport"], classes=["law", "sport", "art"])
    assert model.classes_.tolist() == ["art", "law", "sport"]
    assert model.predict_proba(TEXTS)[0].tolist() == [0.0, 0.0, 1.0]
    assert np.isneginf(model.predict_log_proba(TEXTS)[0, 0])
    plain = new_model().partial_fit(TEXTS[:1], ["sport"])
    for m in (model, plain):
        m.partial_fit(TEXTS, TOPICS)
    shared = np.isin(model.classes_, plain.classes_)
    assert np.array_equal(model.predict_proba(TEXTS)[:, shared], plain.predict_proba(TEXTS))


@pytest.mark.parametrize("weighting", ["auto", "counts", "log", "logidf"])
@pytest.mark.parametrize("algorithm", ["collapsed", "sampled"])
def test_empty_documents_and_unknown_words_say_nothing(weighting, algorithm):
    model = new_model(weighting=weighting, algorithm=algorithm, refine=0.0, regret=(0.0, 0.0))
    model.partial_fit(["", *TEXTS, "", TEXTS[0]], ["sport", *TOPICS, "sport", "sport"])
    proba = model.predict_proba(["", "xylophone", "zyx zyx"])
    prior = model.class_count_ / model.class_count_.sum()
    np.testing.assert_allclose(proba, np.tile(prior, (3, 1)), rtol=1e-9)
    new = model.new_class_proba(["", "xylophone"])
    assert new[1] > new[0]  # words that nobody knows are a sign
    nothing = new_model(weighting=weighting, algorithm=algorithm).fit(["", ""], ["b", "a"])
    assert np.isfinite(nothing.predict_proba(["", "word"])).all()


def test_options_of_text():
    options = Text(stop_words="english", stem=True)
    model = new_model(options).fit(["The connected", "a wall", "The wall"], [0, 1, 1])
    assert model._state.source.vocabulary.words == ["connect", "wall"]
    assert model.predict(["connecting", "walls"]).tolist() == [0, 1]
    upper = new_model(Text(lower=False)).fit(["US law", "us all"], ["a", "b"])
    assert upper.predict(["US", "us"]).tolist() == ["a", "b"]


def test_hashed_words_need_no_vocabulary():
    X, y = make_texts(120, n_words=30)
    hashed, named = new_model(Text(hash_bits=12)).fit(X, y), new_model().fit(X, y)
    assert len(hashed._state.source.vocabulary) == 0
    assert hashed._state.learner.words == 4096
    np.testing.assert_allclose(hashed.predict_proba(X), named.predict_proba(X), atol=1e-6)
    few = new_model(Text(hash_bits=3)).fit(X, y)
    assert few._state.learner.words == 8
    assert np.allclose(few.predict_proba(X).sum(axis=1), 1.0)
    open_ = new_model(Text(hash_bits=12), open_world=True).fit(X, y)
    open_.partial_fit([{"oboe": 2.0, "harp": 1.0}], [None])
    (found,) = open_.provisional_classes()
    assert all(word.startswith("#") for word in [*found.top, *found.examples[0]])


def test_one_row_at_a_time():
    X, y = make_texts(40)
    one, many = new_model(), new_model()
    assert one.predict_one(X[0]) is None
    assert one.predict_proba_one(X[0]) == {}
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        if i:
            assert one.predict_one(row) == many.predict([row])[0]
            proba = many.predict_proba([row])[0].tolist()
            assert list(one.predict_proba_one(row).values()) == proba
            assert type(one.predict_one(row)) is str
        assert one.learn_one(row, label) is None
        many.partial_fit([row], [label])
    assert_same(one, many)
    with pytest.raises(TypeError, match="One row is a dict.*list"):
        one.predict_one(["word"])
    with pytest.raises(TypeError, match="One row is a dict.*str"):
        one.learn_one("word", "c0")
    table = new_model({"size": "real", "colour": "categorical"})
    table.learn_one({"size": 1.0}, 0)
    table.learn_one({"size": 2.0, "colour": "red"}, 1)
    assert table.predict_one({"colour": "red"}) == 1


# --- parameters ----------------------------------------------------------------------------------


def test_as_published_is_algorithm_2_on_counts():
    model = OnlineCRPClassifier.as_published(alpha=3.0, decision="sample", random_state=1)
    assert model.get_params() == OnlineCRPClassifier(
        alpha=3.0, decision="sample", random_state=1, weighting="counts",
        regret=(0.01, 0.01, np.inf), negative=1.0, calibrate=False, refine=0.0, open_world=True,
        new_class="published",
    ).get_params()  # fmt: skip
    model.fit(TEXTS, TOPICS)
    assert model.temperature_ == 1.0
    assert model.negative_weights_ == {(1.0, 0.0): 1.0}


def test_what_runs_side_by_side():
    def settings(**parameters):
        return list(new_model(**parameters).fit(TEXTS, TOPICS).negative_weights_)

    assert settings() == [(0.0, 0.25), (1.0, 1.0)]
    assert settings(negative=0.5) == [(0.5, 0.25), (0.5, 1.0)]
    assert settings(refine=0.5) == [(0.0, 0.5), (1.0, 0.5)]
    assert settings(negative=2, refine=0) == [(2.0, 0.0)]
    X, y = make_texts(80)
    weights = new_model().fit(X, y).negative_weights_
    assert sum(weights.values()) == pytest.approx(1.0)


def test_decisions_are_drawn_where_that_is_asked():
    X, y = make_texts(60)
    model = new_model(decision="sample", weighting="counts", prior=9.0).fit(X, y)
    proba = model.predict_proba(X[:1])[0]
    drawn = np.array([model.predict(X[:1])[0] for _ in range(400)])
    share = np.array([(drawn == c).mean() for c in model.classes_])
    spread = np.sqrt(proba * (1 - proba) / 400)
    assert (np.abs(share - proba) < 5 * spread + 1e-9).all()  # fails once in a million
    assert len(set(drawn)) > 1


WRONG = {
    "alpha": [0, -1.0, np.inf, np.nan, "learn", None, True],
    "alpha_rule": ["static", None, 3],
    "regret": [0.1, (0.1,), (0.1, 1.0), (-0.1, 0.1), (0.1, 0.1, -1.0), "no", (1, 0, 0, 0)],
    "positive": [-1, "auto", None, np.inf],
    "negative": [-1, "none", None],
    "refine": [-0.5, "yes", None, np.nan],
    "prior": [0, -1.0, "learned", None, [1]],
    "weighting": ["tfidf", None],
    "algorithm": ["gibbs", 2],
    "decision": ["max", None],
    "calibrate": [None, "yes"],
    "open_world": [1, "yes"],
    "half_life": [0, -3, "long", np.inf],
    "max_classes": [0, 2.5, "many"],
    "max_features": [0, -1, True],
    "random_state": ["x", -1],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, vs in WRONG.items() for v in vs])
def test_wrong_parameters_are_refused_by_name(name, value):
    model = OnlineCRPClassifier(**{name: value})
    with pytest.raises(ValueError, match=f"'{name}' parameter"):
        model.fit(TEXTS, TOPICS)
    assert not model.__sklearn_is_fitted__()


def test_parameters_that_do_not_go_together():
    X, y, columns = make_stream("real", 20)
    for parameters, words in (
        ({"columns": columns, "prior": 0.5}, "rows are a table; got 0.5"),
        ({"columns": columns, "prior": {"zz": 1.0}}, "zz"),
    ):
        with pytest.raises(ValueError, match=words):
            OnlineCRPClassifier(**parameters).fit(X, y)
    for prior in ("empirical", {"real": (0, 1, 1, 1)}):
        with pytest.raises(ValueError, match="pseudo-count of each word"):
            OnlineCRPClassifier(prior=prior).fit(TEXTS, TOPICS)
    for columns in ("words", {0: "text"}, 3):
        with pytest.raises((ValueError, TypeError)):
            OnlineCRPClassifier(columns).fit(X, y)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "new_class_proba", "score"])
def test_a_model_that_has_learned_nothing_says_so(ask):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        getattr(new_model(), ask)(*[TEXTS] * (2 if ask == "score" else 1))
    for name in ("classes_", "class_count_", "alpha_", "temperature_", "negative_weights_"):
        with pytest.raises((NotFittedError, AttributeError)):
            getattr(new_model(), name)


# --- failed calls --------------------------------------------------------------------------------

TEXT_FAILS = {
    "a number as a row": ([3, "a"], ["x", "y"], {}, "Expected 2D array"),
    "a negative count": ([{"a": 1}, {"new": -1}], ["x", "y"], {}, "row 1 of X.*'new'"),
    "an infinite count": ([{"new": np.inf}], ["x"], {}, "'new'"),
    "a word that is none": ([{"new": 1}, {3: 1}], ["x", "y"], {}, "row 1"),
    "too few labels": (["new word", "b"], ["x"], {}, "X has 2 rows, y has 1"),
    "no labels": (["new word"], None, {}, "y is None"),
    "a missing label": (["new word", "b"], ["x", None], {}, "NaN, None"),
    "one string of labels": (["new word"], "x", {}, "1d array"),
    "labels side by side": (["new", "word"], np.array([["x", "y"], ["y", "x"]]), {}, "1d array"),
    "a number among labels": (["new word"], [3], {}, "all text or all numbers"),
    "a number among classes": (["new word"], ["x"], {"classes": [3]}, "all text or all numbers"),
    "a label that is none": (["new word"], [{1}], {}, "text or whole numbers"),
    "too few predictions": (["new word"], ["x"], {"predicted": []}, "predicted has 0 labels"),
    "a prediction that is none": (["new word"], ["x"], {"predicted": [["x"]]}, "list in row 0"),
    "a matrix": (np.ones((1, 3)), ["x"], {}, None),
}


@pytest.mark.parametrize("name", TEXT_FAILS)
@pytest.mark.parametrize("open_world", [False, True])
def test_a_failed_call_leaves_the_model_as_it_was(name, open_world):
    X, y, more, words = TEXT_FAILS[name]
    if open_world and name == "a missing label":
        return  # that is a row without label
    model = new_model(open_world=open_world).fit(TEXTS, TOPICS)
    before = online_state(model)
    for call in (model.partial_fit, model.forecast):
        with pytest.raises((ValueError, TypeError), match=words):
            call(X, y, **more)
        assert differences(before, online_state(model)) == []
    again = new_model(open_world=open_world).fit(TEXTS, TOPICS)
    assert_same(model.partial_fit(TEXTS, TOPICS), again.partial_fit(TEXTS, TOPICS))


def test_a_failed_first_call_and_a_failed_fit_leave_nothing_behind():
    model = new_model()
    with pytest.raises(ValueError, match="rows, y has"):
        model.partial_fit(TEXTS, TOPICS[:2])
    assert not model.__sklearn_is_fitted__()
    assert sorted(vars(model)) == sorted(model.get_params())
    model.fit(TEXTS, TOPICS)
    before = online_state(model)
    with pytest.raises(ValueError, match="rows, y has"):
        model.fit(TEXTS, TOPICS[:2])
    assert differences(before, online_state(model)) == []


@pytest.mark.parametrize("open_world", [False, True])
def test_failed_calls_on_tables_leave_the_model_as_it_was(open_world):
    columns = {"b": "binary", "c": "categorical", "r": "real"}
    rows = [{"b": i % 2, "c": "xyz"[i % 3], "r": i / 7} for i in range(20)]
    labels = ["p", "q"] * 10
    model = new_model(columns, open_world=open_world).fit(rows, labels)
    before = online_state(model)
    for X, y, words in (
        ([{"c": "late"}, {"b": 2}], ["new", "p"], "column 'b' is binary"),
        ([{"c": "late"}, {"r": "much"}], ["new", "p"], "column 'r' is real"),
        ([{"c": "late"}, {"zz": 1}], ["new", "p"], "unknown: 'zz'"),
        ([{"c": "late"}], ["new", "p"], "X has 1 rows, y has 2"),
        ([{"c": "late"}], [7], "all text or all numbers"),
    ):
        with pytest.raises(ValueError, match=words):
            model.partial_fit(X, y)
        assert differences(before, online_state(model)) == []
    assert np.isfinite(model.predict_proba([{"c": "late"}] * 3)).all()
    assert differences(before, online_state(model)) == []


def test_matrices_keep_their_width():
    X, y = np.eye(4)[[0, 1, 2, 3, 0, 1]], [0, 1, 0, 1, 0, 1]
    model = new_model().fit(X, y)
    for wrong in (X[:, :3], np.ones((2, 5))):
        with pytest.raises(ValueError, match=f"X has {wrong.shape[1]} features.*expecting 4"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.partial_fit(X[:, :3], y)
    model.partial_fit(np.eye(5), [0, 1, 0, 1, 1])  # a word more
    assert model.n_features_in_ == 5
    assert model.predict([[0, 0, 0, 0, 1]]).tolist() == [1]


# --- the rest ------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["text", "mixed"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_go_on_alone(what, copied):
    X, y, columns = make_stream(what, 60)
    model = new_model(columns).fit(X[:40], y[:40])
    again, before = copied(model), online_state(model)
    again.partial_fit(X[40:], y[40:])
    assert differences(before, online_state(model)) == []
    assert_same(model.partial_fit(X[40:], y[40:]), again)


def test_a_copy_with_read_only_arrays_learns():
    """As joblib hands them over to processes, mapped from a file."""
    X, y = make_texts(30)
    model = new_model().fit(X, y)
    state = model._state.learner.__getstate__()
    m = state["model"]
    frozen = m.classes.copy()
    frozen.flags.writeable = False
    again = copy.copy(model)
    again._state = copy.copy(model._state)
    again._state.learner = type(model._state.learner).__new__(type(model._state.learner))
    again._state.learner.__setstate__(state | {"model": m._replace(classes=frozen)})
    assert again._state.learner.model.classes.flags.writeable
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_score_is_accuracy_also_in_an_open_world():
    X, y = make_texts(80)
    model = new_model(open_world=True, alpha=500.0, alpha_rule="fixed").fit(X, y)
    predicted = model.predict(X)
    assert any(label is NEW_CLASS for label in predicted)
    right = np.array([a == b for a, b in zip(predicted, y, strict=True)])
    assert model.score(X, y) == right.mean()
    assert model.score(X, y, sample_weight=np.arange(80)) == np.average(right, weights=range(80))


def test_alpha_follows_its_rule():
    X, y = make_texts(40)
    assert new_model(alpha=3.0, alpha_rule="fixed").fit(X, y).alpha_ == 3.0
    one = new_model(alpha_rule="posterior").fit(X, ["a"] * 40).alpha_
    many = new_model(alpha_rule="posterior").fit(X, [f"c{i}" for i in range(40)]).alpha_
    assert one < 0.5 < 100.0 < many


def test_calibration_is_a_temperature():
    X, y = make_texts(200, longest=40)
    assert new_model(calibrate=False).fit(X, y).temperature_ == 1.0
    noise = np.random.default_rng(0).permutation(y).tolist()
    sure = new_model(weighting="counts", refine=0.0).fit(X, y)
    unsure = new_model(weighting="counts", refine=0.0).fit(X, noise)
    assert unsure.temperature_ > 1.5 * sure.temperature_
