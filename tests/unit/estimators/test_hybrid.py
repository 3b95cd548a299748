import io

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from infinimix import AClassClassifier, CRPMixture, HybridClassifier, save
from infinimix.estimators.hybrid import design_matrix
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
FAST = AClassClassifier(effort="fast")


def model(**parameters):
    return HybridClassifier(**{"generative": FAST, "n_draws": 3, "random_state": 0} | parameters)


@pytest.mark.parametrize("generative", [FAST, CRPMixture(effort="fast")])
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


def test_it_is_not_saved_without_pickle():
    with pytest.raises(TypeError, match="joblib"):
        save(model().fit(X, Y), io.BytesIO())
