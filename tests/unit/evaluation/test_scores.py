"""Scores against scikit-learn and against counting."""

import numpy as np
import pytest
from sklearn import metrics

from infinimix.evaluation.averages import balanced_accuracy, roc_auc
from infinimix.evaluation.calibration import calibration_error
from infinimix.evaluation.intervals import wilson
from infinimix.evaluation.predictions import Predictions
from infinimix.evaluation.summary import gain_over_largest, score, verdict

LABELS = ["a", "b", "c"]


def predictions(labels, y, proba, groups=None):
    codes, none = np.array([labels.index(label) for label in y]), np.zeros(len(y), int)
    return Predictions(labels, None, none, codes, np.asarray(proba), none, [], "", groups)


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], 200)
    y = [LABELS[k] for k in rng.integers(0, 3, 200)]
    return y, [LABELS[k] for k in proba.argmax(axis=1)], proba


def test_scores_are_those_of_scikit_learn(answers):
    y, predicted, proba = answers
    found = score(predictions(LABELS, y, proba))
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, predicted))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, proba))
    assert (found["confusion"] == metrics.confusion_matrix(y, predicted)).all()
    assert found["balanced_accuracy"] == pytest.approx(
        metrics.balanced_accuracy_score(y, predicted)
    )
    assert found["roc_auc"] == pytest.approx(metrics.roc_auc_score(y, proba, multi_class="ovr"))
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
    found = score(predictions(LABELS, ["a", "b"], [[1.0, 0, 0], [0, 1.0, 0]]))
    assert np.isnan(found["classes"][2]["precision"])
    assert found["log_loss"] == 0.0


def test_wilson():
    _, low, high = wilson(8, 10)  # the textbook's example
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert wilson(0, 5).low == pytest.approx(0.0)
    assert wilson(5, 5).high == pytest.approx(1.0)


def noisy(rng, n=80, strength=0.7):
    """Two classes whose probabilities are better than chance; many are equal."""
    y = rng.integers(0, 2, n)
    p = np.clip(0.5 + strength * (y - 0.5) + rng.normal(0, 0.4, n), 0.01, 0.99).round(1)
    return predictions(["a", "b"], [*np.array(["a", "b"])[y]], np.column_stack([1 - p, p]))


def test_the_interval_of_the_auc_is_that_of_delong_by_pairs():
    """By all pairs of rows of the two classes, as the paper defines it."""
    found = noisy(np.random.default_rng(0))
    p, own = found.proba[:, 1], found.y == 1
    wins = (p[own][:, None] > p[~own]) + 0.5 * (p[own][:, None] == p[~own])
    variance = sum(
        wins.mean(axis=k).var(ddof=1) / n for k, n in ((1, own.sum()), (0, (~own).sum()))
    )
    value, low, high = roc_auc(found)
    assert value == pytest.approx(wins.mean())
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(variance), rel=0.02)


def test_intervals_of_averages_cover(seed):
    """95% intervals of 200 tables hold the figure of a large one at least 90% of the time.

    With 200 independent tables and a coverage of 95% this fails once in 400 times.
    """
    rng = np.random.default_rng(seed)
    large = noisy(rng, 200_000)
    for figure in (roc_auc, balanced_accuracy):
        truth = figure(large).value
        found = [figure(noisy(rng)) for _ in range(200)]
        assert np.mean([low <= truth <= high for _, low, high in found]) >= 0.9


def test_perfect_predictions_have_no_false_certainty():
    found = predictions(["a", "b"], [*"ab" * 10], [[0.9, 0.1], [0.2, 0.8]] * 10)
    assert balanced_accuracy(found).low < 0.9
    assert np.isnan(roc_auc(found).low)


def test_a_class_of_one_row_tells_nothing_of_the_error_of_the_auc():
    proba = np.random.default_rng(0).dirichlet([1, 1, 1], 41)
    value, low, high = roc_auc(predictions(LABELS, [*"ab" * 20, "c"], proba))
    assert 0 < value < 1
    assert np.isnan([low, high]).all()


@pytest.mark.parametrize(
    ("proba", "words"),
    [
        ([0.9, 0.1], "No better than always predicting 'a': accuracy 75.0% against 75.0%"),
        ([0.1, 0.9], "Worse than always predicting 'a'"),
    ],
)
def test_what_is_no_better_than_the_largest_class_is_told(proba, words):
    found = predictions(["a", "b"], [*"aaab" * 25], [proba] * 100)
    assert verdict(found).startswith(words)
    assert not score(found)["better_than_largest_class"]


def test_probabilities_that_rank_well_are_told_though_the_accuracy_is_no_better():
    p = np.tile([0.9, 0.9, 0.9, 0.6], 25)
    found = predictions(["a", "b"], [*"aaab" * 25], np.column_stack([p, 1 - p]))
    found.proba[::50] = [0.6, 0.4]  # so that the ranks are not perfect
    assert "No better" in verdict(found)
    assert "rank rows better than chance (ROC AUC 0.9" in verdict(found)


def test_the_gain_is_that_of_the_same_rows():
    found = noisy(np.random.default_rng(1), 200)
    plain = found.y == np.bincount(found.y).argmax()
    difference = found.right.astype(int) - plain
    assert gain_over_largest(found).value == pytest.approx(difference.mean())
    assert "Better" in verdict(found)
