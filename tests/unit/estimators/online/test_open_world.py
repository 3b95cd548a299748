"""The open world: rows that are new, classes without a name, and names for them."""

import copy
import pickle

import numpy as np
import pytest

from infinimix import NEW_CLASS
from infinimix.inference.online_crp import model as at
from tests.unit.estimators.online_streams import make_texts, new_model, online_state
from tests.unit.estimators.states import differences

FRUIT, CARS = ["red apple", "green apple", "red pear"], ["fast car", "slow car"]
OBOES, BOATS = ["oboe solo", "oboe harp"], ["wide hull", "hull keel"]


@pytest.fixture
def model():
    rows, labels = (FRUIT + CARS) * 4, (["fruit"] * 3 + ["car"] * 2) * 4
    return new_model(open_world=True).fit(rows, labels)


def test_the_answer_for_a_new_class_is_one_of_a_kind(model):
    found = model.predict([*OBOES, *CARS])
    assert found.tolist() == [NEW_CLASS, NEW_CLASS, "car", "car"]
    assert found[0] is NEW_CLASS
    assert model.predict_one({"oboe": 1}) is NEW_CLASS
    assert pickle.loads(pickle.dumps(NEW_CLASS)) is copy.deepcopy(NEW_CLASS) is NEW_CLASS
    assert repr(NEW_CLASS) == "NEW_CLASS"
    assert model.predict(CARS).dtype.kind == "U"
    proba = model.predict_proba([*OBOES, *CARS])
    assert proba.shape == (4, 2)
    assert np.allclose(proba.sum(axis=1), 1.0)
    new = model.new_class_proba([*OBOES, *CARS])
    assert new[:2].min() > 0.5 > new[2:].max()


def test_in_a_closed_world_nothing_is_new():
    rows, labels = (FRUIT + CARS) * 4, (["fruit"] * 3 + ["car"] * 2) * 4
    closed = new_model().fit(rows, labels)
    assert set(closed.predict(OBOES)) <= {"fruit", "car"}
    assert closed.new_class_proba(OBOES).min() > 0.3  # it is still said
    with pytest.raises(ValueError, match="NaN, None"):
        closed.partial_fit(OBOES, [None, None])


def test_rows_without_label_gather(model):
    before = model.class_count_.tolist()
    forecast = model.forecast([*OBOES, *CARS], [None, np.nan, None, None])
    assert forecast.predicted[0] is NEW_CLASS
    assert np.isnan(forecast.proba_true).all()
    (found,) = model.provisional_classes()
    assert (found.number, found.size) == (1, 2.0)
    assert next(iter(found.top)) == "oboe"
    assert found.examples == [{"oboe": 1.0, "solo": 1.0}, {"oboe": 1.0, "harp": 1.0}]
    assert model.class_count_.tolist() == before  # rows that look known join none
    assert model.classes_.tolist() == ["car", "fruit"]
    assert model.predict_proba(OBOES).shape == (2, 2)


def test_a_name_for_a_provisional_class(model):
    model.partial_fit(OBOES, [None, None])
    model.name_class(1, "music")
    assert model.classes_.tolist() == ["car", "fruit", "music"]
    assert model.predict(["oboe", "harp solo"]).tolist() == ["music", "music"]
    assert model.provisional_classes() == []
    assert model.class_count_.tolist() == [8.0, 12.0, 2.0]
    with pytest.raises(ValueError, match="no provisional class 1; there are: none"):
        model.name_class(1, "again")


def test_a_provisional_class_may_join_a_known_one(model):
    model.partial_fit(OBOES, [None, None])
    model.name_class(1, "fruit")
    assert model.classes_.tolist() == ["car", "fruit"]
    assert model.class_count_.tolist() == [8.0, 14.0]
    assert model.predict(["oboe"]).tolist() == ["fruit"]
    assert model._state.learner.n_classes == 2


def test_wrong_names_change_nothing(model):
    model.partial_fit(OBOES, [None, None])
    before = online_state(model)
    for number, label, error in (
        (7, "music", ValueError),
        (1, 3, ValueError),
        (1, None, ValueError),
        (1, 0.5, ValueError),
        (1, ["music"], (ValueError, TypeError)),
    ):
        with pytest.raises(error):
            model.name_class(number, label)
        assert differences(before, online_state(model)) == []


def test_provisional_classes_can_be_merged_and_forgotten():
    model = new_model(open_world=True, alpha=10.0, alpha_rule="fixed")
    model.fit((FRUIT + CARS) * 4, (["fruit"] * 3 + ["car"] * 2) * 4)
    model.partial_fit([*OBOES, *BOATS, "hull"], [None] * 5)
    numbers = {c.number: next(iter(c.top)) for c in model.provisional_classes()}
    assert len(numbers) == 2
    assert [c.size for c in model.provisional_classes()] == [3.0, 2.0]  # the largest first
    oboe = next(k for k, word in numbers.items() if word == "oboe")
    (hull,) = numbers.keys() - {oboe}
    with pytest.raises(ValueError, match="itself"):
        model.merge_provisional(hull, hull)
    with pytest.raises(ValueError, match="no provisional class 9"):
        model.merge_provisional(9, hull)
    model.merge_provisional(oboe, into=hull)
    (found,) = model.provisional_classes()
    assert (found.number, found.size, len(found.examples)) == (hull, 5.0, 5)
    assert {"oboe", "hull"} <= set(found.top)
    rows = model._state.learner.model.course[at.ROWS]
    model.forget_provisional(hull)
    assert model.provisional_classes() == []
    assert model._state.learner.model.course[at.ROWS] == rows == 25.0  # they stay among all rows
    model.partial_fit(["kiln clay", "clay pot"], [None, None])
    assert all(c.number > max(oboe, hull) for c in model.provisional_classes())  # no number twice


def test_a_class_can_be_forgotten(model):
    model.partial_fit(["oboe"], ["music"])
    model.forget_class("car")
    assert model.classes_.tolist() == ["fruit", "music"]
    assert model.predict_proba(CARS).shape == (2, 2)
    assert model.predict(["oboe", "apple"]).tolist() == ["music", "fruit"]
    with pytest.raises(ValueError, match="'car' is none of the classes"):
        model.forget_class("car")
    model.forget_class("music")
    with pytest.raises(ValueError, match="only class"):
        model.forget_class("fruit")
    model.partial_fit(["oboe"] * 3, ["music"] * 3)  # it may come back, as if for the first time
    assert model.class_count_.tolist() == [12.0, 3.0]


@pytest.mark.parametrize("first", ["c0", "c2"])
def test_to_forget_a_class_moves_no_other(first):
    """The last class takes the number of the forgotten one, and answers as before."""
    X, y = make_texts(120)
    model = new_model(regret=(0.0, 0.0)).fit(X, y)
    kept = model.classes_ != first
    before = model.predict_proba(X)[:, kept]
    model.forget_class(first)
    found = model.predict_proba(X)
    assert model.classes_.tolist() == [c for c in ("c0", "c1", "c2", "c3") if c != first]
    shares = list(model.negative_weights_.values())
    assert found.shape == before.shape
    assert np.allclose(found.sum(axis=1), 1.0)
    # each replica keeps its odds among the others; their mean does so where one of them rules
    assert max(shares) > 0.5
    assert (found.argmax(axis=1) == before.argmax(axis=1)).mean() > 0.95


def test_an_only_replica_keeps_the_odds_of_the_others():
    X, y = make_texts(120)
    model = new_model(negative=1.0, refine=0.5).fit(X, y)
    before = model.predict_proba(X)[:, 1:]
    model.forget_class("c0")
    sure = before.sum(axis=1) > 1e-6
    expected = before / before.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X)[sure], expected[sure], rtol=1e-7, atol=1e-12)


def test_a_bound_on_classes_holds_for_names_too():
    model = new_model(open_world=True, max_classes=2)
    model.fit((FRUIT + CARS) * 4, (["fruit"] * 3 + ["car"] * 2) * 4)
    model.partial_fit(OBOES, [None, None])
    model.name_class(1, "music")
    assert model.classes_.tolist() == ["car", "music"]  # fruit had no row for longest
    assert model.predict(["oboe", "car"]).tolist() == ["music", "car"]
    model.partial_fit(["kiln"], ["pots"], classes=["more", "yet more"])
    assert len(model.classes_) == 2
    assert "pots" in model.classes_


def test_rows_without_label_only_are_refused_or_answered():
    model = new_model(open_world=True)
    model.partial_fit(["aa bb", "cc"], [None, None])  # nothing is known, so nothing is new either
    assert model.provisional_classes() == []
    assert model.predict(["aa"])[0] is NEW_CLASS
    assert model.classes_.tolist() == []
    model.partial_fit(["aa bb"], ["x"])
    assert model.predict_proba(["aa"]).tolist() == [[1.0]]


def test_a_half_life_fades_provisional_classes_too(model):
    fading = new_model(open_world=True, half_life=4.0)
    fading.fit((FRUIT + CARS) * 4, (["fruit"] * 3 + ["car"] * 2) * 4)
    fading.partial_fit(OBOES, [None, None])
    sizes = [c.size for c in fading.provisional_classes()]
    fading.partial_fit(FRUIT * 2, ["fruit"] * 6)
    later = [c.size for c in fading.provisional_classes()]
    np.testing.assert_allclose(later, np.array(sizes) * 2.0 ** (-6 / 4))
