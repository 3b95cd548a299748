import io

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from infinimix import AClassClassifier, CRPMixture, HybridClassifier, load, save
from infinimix.estimators.common.effort import EFFORTS, Effort
from infinimix.estimators.hybrid.design import count_columns, design_matrix
from infinimix.tables import encode, read_schema

rng = np.random.default_rng(0)
Y = np.repeat(["low", "high"], 40)
WHOLE = pd.DataFrame(
    {
        "size": rng.normal(size=80) + 3 * (Y == "high"),
        "colour": rng.choice(["red", "blue", "green"], 80),
        "wet": np.where(rng.random(80) < 0.85, Y == "high", Y == "low").astype(int),
    }
)
X = WHOLE.mask(rng.random((80, 3)) < 0.2)
SOME = [None if i % 3 == 0 else label for i, label in enumerate(Y)]
FAST = AClassClassifier(effort="fast", n_islands=2)


def model(**parameters):
    return HybridClassifier(**{"generative": FAST, "n_draws": 3, "random_state": 0} | parameters)


@pytest.mark.parametrize("generative", [FAST, CRPMixture(effort="fast", n_islands=2)])
@pytest.mark.parametrize("discriminative", [None, DecisionTreeClassifier(max_depth=3), LinearSVC()])
def test_holes_in_cells_and_labels_are_filled(generative, discriminative):
    fitted = model(generative=generative, discriminative=discriminative).fit(X, SOME)
    proba = fitted.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1)
    assert fitted.classes_.tolist() == ["high", "low"]
    assert np.mean(fitted.predict(X) == Y) > 0.8
    assert len(fitted.estimators_) == 3
    assert fitted.feature_names_in_.tolist() == ["size", "colour", "wet"]


def test_a_row_has_the_same_answer_in_every_table():
    fitted = model().fit(X, SOME)
    proba, order = fitted.predict_proba(X), rng.permutation(80)
    assert np.allclose(fitted.predict_proba(X.iloc[order]), proba[order])
    assert np.allclose(fitted.predict_proba(X.iloc[5:6]), proba[5:6])
    assert np.array_equal(model().fit(X, SOME).predict_proba(X), proba)


def test_where_nothing_is_missing_it_is_the_classifier_itself():
    numbers = WHOLE[["size", "wet"]].to_numpy()
    fitted = model(discriminative=GaussianNB()).fit(numbers, Y)
    assert len(fitted.estimators_) == 1
    columns = numbers[:, [1, 0]]  # binary columns come first
    alone = GaussianNB().fit(columns, Y)
    assert np.allclose(fitted.predict_proba(numbers), alone.predict_proba(columns))


def test_the_matrix_has_numbers_and_categories():
    schema = read_schema(WHOLE)
    encoded = encode(schema, WHOLE, learn=True, who="test")
    schema = schema.extended(encoded.novel)
    matrix = design_matrix(encoded._replace(schema=schema))
    assert count_columns(schema) == matrix.shape[1]
    assert matrix.shape == (80, 5)
    assert np.array_equal(matrix[:, 0], WHOLE["wet"])
    assert np.allclose(matrix[:, 4], WHOLE["size"])
    assert np.array_equal(matrix[:, 1:4].sum(axis=1), np.ones(80))


def test_draws_given_a_label_are_of_its_class():
    holes = np.array([[np.nan]] * 40 + [[0.0]] * 20 + [[9.0]] * 20) + 0.1 * rng.normal(size=(80, 1))
    labels = ["a", "b"] * 20 + ["a"] * 20 + ["b"] * 20
    fitted = model(discriminative=GaussianNB()).fit(holes, labels)
    means = fitted.estimators_[0].theta_[:, 0]
    assert means[0] < 2
    assert means[1] > 7


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"generative": GaussianNB()}, TypeError),
        ({"discriminative": "svm"}, TypeError),
        ({"n_draws": 0}, ValueError),
        ({"random_state": "a"}, ValueError),
    ],
)
def test_wrong_parameters_are_refused_by_name(wrong, error):
    fresh = model(**wrong)
    with pytest.raises(error, match=next(iter(wrong))):
        fresh.fit(X, SOME)
    assert not fresh.__sklearn_is_fitted__()


def saved(fitted):
    file = io.BytesIO()
    save(fitted, file)
    return load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(
    "generative", [None, FAST, CRPMixture(effort="fast", n_islands=2, columns="auto")]
)
@pytest.mark.parametrize("labels", [Y, np.arange(80) // 27, SOME])
def test_files_hold_the_default_classifier_as_arrays(generative, labels, monkeypatch):
    monkeypatch.setitem(EFFORTS, "default", Effort(n_particles=4, n_islands=2, sweeps=0))
    fitted = model(generative=generative).fit(X, labels)
    again = saved(fitted)
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert np.array_equal(again.classes_, fitted.classes_)
    assert again.get_params(deep=False).keys() == fitted.get_params(deep=False).keys()
    assert type(again.generative) is type(fitted.generative)
    assert np.array_equal(saved(again).predict(X), fitted.predict(X))


@pytest.mark.parametrize("generative", [FAST, CRPMixture(effort="fast", n_islands=2)])
@pytest.mark.parametrize("labels", [["p"] * 80, ["p", None] * 40])
def test_one_class_is_always_predicted(generative, labels):
    fitted = model(generative=generative).fit(X, labels)
    assert fitted.estimators_ == []
    for one in (fitted, saved(fitted)):
        assert one.classes_.tolist() == ["p"]
        assert np.array_equal(one.predict_proba(X), np.ones((80, 1)))
        assert set(one.predict(X)) == {"p"}
        with pytest.raises(ValueError, match="feature names should match"):
            one.predict(X.rename(columns={"size": "weight"}))


def test_other_classifiers_are_not_saved_without_pickle():
    with pytest.raises(TypeError, match="joblib"):
        save(model(discriminative=GaussianNB()).fit(X, Y), io.BytesIO())


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("coef", lambda x: x[:, 1:]),
        ("coef", lambda x: x * np.nan),
        ("scale", lambda x: 0.0 * x),
        ("mean", lambda x: x.astype(int)),
        ("classes", lambda x: x[::-1].copy()),
        ("classes", lambda x: x + 1),
        ("intercept", lambda x: np.r_[x, x]),
    ],
)
def test_arrays_that_are_no_classifier_are_refused(name, change):
    fitted = model().fit(X, Y)
    tree = fitted._state.to_tree()
    tree["estimators"][0][name] = change(tree["estimators"][0][name])
    with pytest.raises(ValueError, match="classifier"):
        HybridClassifier.State.from_tree(tree, fitted)


def test_only_models_that_fill_are_held_by_a_file():
    fitted = model().fit(X, Y)
    tree = fitted._state.to_tree()
    tree["generative"]["model"] = "CRPRegressor"
    with pytest.raises(ValueError, match="none of AClassClassifier, CRPMixture"):
        HybridClassifier.State.from_tree(tree, fitted)


@pytest.mark.parametrize("generative", [FAST, CRPMixture(effort="fast", n_islands=2)])
def test_counts_are_repeated_rows(generative):
    count = rng.integers(0, 3, 80)
    rows = np.repeat(np.arange(80), count)
    weighted = model(generative=generative).fit(X, Y, sample_weight=count)
    repeated = model(generative=generative).fit(X.iloc[rows].reset_index(drop=True), Y[rows])
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_relative_weights_reach_both_models():
    heavy = np.where(Y == "high", 3.5, 0.5)
    plain, fitted = (model().fit(X, Y, sample_weight=w) for w in (None, heavy))
    assert fitted.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.03
    seeded = AClassClassifier(effort="fast", random_state=3)
    inside = model(generative=seeded).fit(X, Y, sample_weight=heavy).generative_
    alone = seeded.fit(X, Y, sample_weight=heavy)
    assert np.array_equal(inside.predict_proba(X), alone.predict_proba(X))
    numbers = WHOLE[["size", "wet"]].to_numpy()
    found = model(discriminative=GaussianNB()).fit(numbers, Y, sample_weight=heavy)
    direct = GaussianNB().fit(numbers[:, [1, 0]], Y, sample_weight=heavy / heavy.mean())
    assert np.allclose(found.predict_proba(numbers), direct.predict_proba(numbers[:, [1, 0]]))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"discriminative": KNeighborsClassifier()}, "KNeighborsClassifier, whose fit takes no"),
        ({"generative": CRPMixture(effort="fast", n_islands=2)}, "CRPMixture takes whole numbers"),
    ],
)
def test_relative_weights_are_refused_by_parts_that_have_none(parts, words):
    fresh = model(**parts)
    with pytest.raises(ValueError, match=words):
        fresh.fit(X, Y, sample_weight=np.full(80, 0.5) + (Y == "high"))
    assert not fresh.__sklearn_is_fitted__()
