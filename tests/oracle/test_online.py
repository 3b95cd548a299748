"""The online classifier says, row by row, what the slow one says."""

import numpy as np
import pytest

from infinimix import NEW_CLASS, OnlineCRPClassifier
from tests.oracle.online import NEW, SlowOnlineCRP
from tests.unit.estimators.online_streams import make_texts

ROWS = 60
COUNTS = {"weighting": "counts", "refine": 0.0, "negative": 1.0}
AUTO = (True, 0.5, True)  # logs, root of rarity, unit length

CASES = {  # parameters of the classifier, and what of the slow one differs from its defaults
    "counts": (COUNTS, {}),
    "as published, a learned new class": (
        OnlineCRPClassifier.as_published().get_params()
        | {"regret": (0.5, 0.4, np.inf), "new_class": "learned"},
        {"regret": (0.5, 0.4, np.inf), "calibrate": False, "open_world": True},
    ),
    "fixed alpha": (
        COUNTS | {"alpha_rule": "fixed", "alpha": 7.0, "calibrate": False},
        {"alpha_rule": "fixed", "alpha": 7.0, "calibrate": False},
    ),
    "posterior alpha": (
        COUNTS | {"alpha_rule": "posterior", "prior": 0.05},
        {"alpha_rule": "posterior", "prior": 0.05},
    ),
    "a tight cap": (
        COUNTS | {"regret": (0.9, 0.7, 0.8), "alpha": 30.0, "open_world": True},
        {"regret": (0.9, 0.7, 0.8), "alpha": 30.0, "open_world": True},
    ),
    "strong corrections": (
        COUNTS | {"positive": 2.5, "negative": 4.0},
        {"positive": 2.5, "settings": ((4.0, 0.0),)},
    ),
    "no negative point": (
        COUNTS | {"negative": 0.0, "positive": 0.3},
        {"positive": 0.3, "settings": ((0.0, 0.0),)},
    ),
    "logidf": (
        {"weighting": "logidf", "refine": 0.0, "negative": 0.5},
        {"rule": (True, 1.0, True), "prior": 0.1, "settings": ((0.5, 0.0),)},
    ),
    "log, refined": (
        {"weighting": "log", "refine": 0.7, "negative": 1.0, "prior": 0.3},
        {"rule": (True, 0.0, True), "prior": 0.3, "settings": ((1.0, 0.7),)},
    ),
    "default": ({}, {"rule": AUTO, "prior": 0.1, "settings": ((0.0, 0.25), (1.0, 1.0))}),
    "default, open": (
        {"open_world": True, "alpha": 20.0},
        {
            "rule": AUTO, "prior": 0.1, "settings": ((0.0, 0.25), (1.0, 1.0)),
            "open_world": True, "alpha": 20.0,
        },
    ),
    "counts, two replicas": (
        COUNTS | {"negative": "auto", "refine": "auto"},
        {"settings": ((0.0, 0.25), (1.0, 1.0))},
    ),
}  # fmt: skip


def both(name, seed):
    parameters, slow = CASES[name]
    return OnlineCRPClassifier(**parameters), SlowOnlineCRP(**slow), make_texts(ROWS, seed)


def digits_of(fast):
    """Counts are scored in double precision; logs of weights and corrections are kept in single."""
    return 1e-6 if fast.weighting == "counts" and fast.refine == 0.0 else 1e-4


def close(a, b, digits):
    np.testing.assert_allclose(a, b, rtol=digits, atol=1e-6)


def assert_alike(fast, slow, row):
    """Compare the answers for one row."""
    mean, new = slow.think(row)
    digits = digits_of(fast)
    close(fast.predict_proba([row])[0], [mean.get(c, 0.0) for c in fast.classes_], digits)
    close(fast.new_class_proba([row])[0], new, digits)
    z = slow.predict()
    assert fast.predict([row])[0] == (NEW_CLASS if z is NEW else z)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_every_row_is_predicted_and_learned_alike(name, seed):
    fast, slow, (X, y) = both(name, seed)
    mistakes = 0
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        if i:
            assert_alike(fast, slow, row)
            mistakes += slow.predict() != label
        slow.learn(row, label)
        fast.partial_fit([row], [label])
        close(fast.alpha_, slow.alpha, digits_of(fast))
    assert mistakes > 5  # there was something to correct
    assert len(fast.classes_) == 4
    assert fast.class_count_.tolist() == [slow.held[c] for c in fast.classes_]
    shares = [replica.share for replica in slow.replicas]
    close(list(fast.negative_weights_.values()), shares, digits_of(fast))
    temperature = np.exp(-np.dot(shares, [r.log_beta for r in slow.replicas]))
    close(fast.temperature_, temperature, digits_of(fast))


@pytest.mark.parametrize("name", ["counts", "default, open"])
def test_a_forecast_is_what_the_slow_one_says(name):
    fast, slow, (X, y) = both(name, 2)
    forecast = fast.forecast(X, y)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        mean, new = slow.think(row)
        z = slow.predict()
        said = None if not mean else NEW_CLASS if z is NEW else z
        assert forecast.predicted[i] is said or forecast.predicted[i] == said
        close(forecast.confidence[i], new if z is NEW else mean[z], digits_of(fast))
        close(forecast.proba_true[i], mean.get(label, np.nan), digits_of(fast))
        close(forecast.new[i], new, digits_of(fast))
        slow.learn(row, label)


def test_labels_that_come_late_correct_what_was_said_then():
    fast, slow, (X, y) = both("counts", 3)
    rng = np.random.default_rng(0)
    for i, (row, label) in enumerate(zip(X, y, strict=True)):
        known = [*slow.held, NEW]
        z = known[rng.integers(len(known))] if i else NEW
        slow.learn(row, label, z)
        fast.partial_fit([row], [label], predicted=[NEW_CLASS if z is NEW else z])
    for row in X:
        assert_alike(fast, slow, row)
