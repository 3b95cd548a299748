"""One row as a dict is a table of one row: the same model, the same answers."""

import numpy as np
import pytest

from infinimix import AClassClassifier
from tests.unit.estimators.states import differences, state_of

COLUMNS = {"size": "real", "colour": "categorical", "flies": "binary"}
rng = np.random.default_rng(0)


def make_rows(n):
    """Rows with holes, as dicts that lack keys or hold None, and labels."""
    y = np.where(rng.random(n) < 0.5, "ant", "bee").tolist()
    rows = []
    for label in y:
        row = {
            "size": float(rng.normal(3 if label == "ant" else 8)),
            "colour": str(rng.choice(["red", "blue"])),
            "flies": bool(label == "bee"),
        }
        gone = str(rng.choice([*row, "none"]))
        if rng.random() < 0.5:
            row.pop(gone, None)
        rows.append(row)
    return rows, y


def small(**parameters):
    return AClassClassifier(
        **{"columns": COLUMNS, "n_particles": 3, "n_islands": 2, "random_state": 0} | parameters
    )


def test_learning_one_by_one_is_learning_portions():
    rows, y = make_rows(40)
    one, many = small(), small()
    for x, label in zip(rows, y, strict=True):
        assert one.learn_one(x, label) is None
    many.partial_fit([dict.fromkeys(COLUMNS) | rows[0]], y[:1]).partial_fit(rows[1:], y[1:])
    assert differences(state_of(one), state_of(many)) == []


def test_the_answers_are_those_of_a_table_of_one_row():
    rows, y = make_rows(40)
    model = small()
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    for x in rows[:10]:
        proba = model.predict_proba_one(x)
        assert list(proba.values()) == model.predict_proba([x])[0].tolist()
        assert list(proba) == model.classes_.tolist()
        assert model.predict_one(x) == model.predict([x])[0] == max(proba, key=proba.get)


def test_nothing_is_answered_while_nothing_is_learned():
    assert small().predict_one({"size": 1.0}) is None
    assert small().predict_proba_one({"size": 1.0}) == {}


@pytest.mark.parametrize("y", ["word", 3, True])
def test_labels_come_back_as_plain_values(y):
    model = small()
    model.learn_one({"size": 1.0}, y)
    assert type(model.predict_one({"size": 1.0})) is type(y)
    assert [type(label) for label in model.predict_proba_one({})] == [type(y)]


def test_the_first_row_may_lack_features_that_columns_names():
    model = small()
    model.learn_one({}, "ant")
    model.learn_one({"flies": True}, "bee")
    assert list(model.columns_) == list(COLUMNS)
    model = small(columns={("a", "b"): "gaussian"})
    model.learn_one({"b": 1.0}, "x")
    assert set(model.columns_) == {"a", "b"}


def test_an_unknown_feature_is_refused_by_name_and_changes_nothing():
    rows, y = make_rows(5)
    model = small()
    for x, label in zip(rows, y, strict=True):
        model.learn_one(x, label)
    before = state_of(model)
    for call in (lambda x: model.learn_one(x, "ant"), model.predict_one, model.predict_proba_one):
        with pytest.raises(ValueError, match="weight"):
            call({"size": 1.0, "weight": 2.0})
    assert differences(before, state_of(model)) == []


@pytest.mark.parametrize("x", [[1.0], np.ones(3), "text", None])
def test_a_row_is_a_dict(x):
    with pytest.raises(TypeError, match="One row is a dict"):
        small().learn_one(x, "ant")
