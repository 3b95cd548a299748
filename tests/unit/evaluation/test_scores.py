"""Scores against scikit-learn and against counting."""

import numpy as np
import pytest
from sklearn import metrics

from infinimix.evaluation.calibration import calibration_error
from infinimix.evaluation.intervals import wilson
from infinimix.evaluation.summary import score

LABELS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], 200)
    y = [LABELS[k] for k in rng.integers(0, 3, 200)]
    return y, [LABELS[k] for k in proba.argmax(axis=1)], proba


def test_scores_are_those_of_scikit_learn(answers):
    y, predicted, proba = answers
    found = score(LABELS, y, predicted, proba)
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, predicted))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, proba))
    assert (found["confusion"] == metrics.confusion_matrix(y, predicted)).all()
    p, r, f, n = metrics.precision_recall_fscore_support(y, predicted)
    for k, one in enumerate(found["classes"]):
        assert (one["precision"], one["recall"]) == pytest.approx((p[k], r[k]))
        assert (one["f1"], one["rows"]) == pytest.approx((f[k], n[k]))


def test_calibration_by_counting(answers):
    y, predicted, proba = answers
    right = np.array(y) == np.array(predicted)
    confidence = proba.max(axis=1)
    total = 0.0
    for k in range(15):
        here = (confidence >= k / 15) & (confidence < (k + 1) / 15)
        if here.any():
            total += here.sum() * abs(confidence[here].mean() - right[here].mean())
    assert calibration_error(confidence, right) == pytest.approx(total / 200)


def test_a_class_nobody_has_or_says_has_no_precision():
    found = score(LABELS, ["a", "b"], ["a", "b"], np.array([[1.0, 0, 0], [0, 1.0, 0]]))
    assert np.isnan(found["classes"][2]["precision"])
    assert found["log_loss"] == 0.0


def test_wilson():
    _, low, high = wilson(8, 10)  # the textbook's example
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert wilson(0, 5).low == pytest.approx(0.0)
    assert wilson(5, 5).high == pytest.approx(1.0)
