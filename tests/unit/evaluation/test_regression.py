"""Scores of predicted numbers against scikit-learn's, and intervals that hold the truth."""

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score

from infinimix.evaluation.regression import PredictedNumbers, judge_numbers, score_numbers

rng = np.random.default_rng(0)


def predicted(n=200, noise=0.5, share=1.0, seed=0):
    own = np.random.default_rng(seed)
    y = own.normal(size=n)
    mean = share * y + noise * own.normal(size=n)
    return PredictedNumbers(y, mean, y - 1.0, y + np.where(np.arange(n) % 4, 1.0, -0.5),
                            np.full(n, y.mean()), 0.75)  # fmt: skip


def test_scores_are_those_of_scikit_learn():
    found = predicted()
    scores = score_numbers(found)
    assert np.isclose(scores["r2"], r2_score(found.y, found.mean))
    assert np.isclose(scores["mean_absolute_error"], mean_absolute_error(found.y, found.mean))
    assert np.isclose(scores["rmse"] ** 2, ((found.y - found.mean) ** 2).mean())
    assert scores["coverage"] == 0.75
    assert scores["coverage_interval"][0] < 0.75 < scores["coverage_interval"][1]
    assert np.isclose(scores["rmse_of_mean"], found.y.std())


def test_the_interval_of_r2_holds_the_truth():
    truth = 1.0 - 0.5**2
    inside = 0
    for seed in range(200):
        low, high = score_numbers(predicted(seed=seed))["r2_interval"]
        inside += low <= truth <= high
    assert inside > 175


@pytest.mark.parametrize(
    ("noise", "share", "words"),
    [(0.1, 1.0, "are better"), (0.3, 0.0, "not clearly better|worse"), (9.0, 0.0, "worse")],
)
def test_the_verdict_says_whether_predictions_are_of_use(noise, share, words):
    import re

    assert re.search(words, judge_numbers(score_numbers(predicted(30, noise, share))))


def test_a_single_row_and_a_constant_have_scores():
    one = np.array([2.0])
    scores = score_numbers(PredictedNumbers(one, one, one, one, one, 0.9))
    assert scores["mean_absolute_error"] == 0.0
    assert scores["r2"] == 1.0 - 0.0


def test_copies_of_rows_in_one_group_leave_intervals_as_they_are():
    rng = np.random.default_rng(1)
    y, noise = rng.normal(size=50), rng.normal(size=50)
    mean, zero = y + 0.3 * noise, np.zeros(50)
    once = PredictedNumbers(y, mean, mean - 0.5, mean + 0.5, zero, 0.9, np.arange(50))
    thrice = PredictedNumbers(*(np.tile(a, 3) for a in once[:5]), 0.9, np.tile(once.groups, 3))
    one, three = score_numbers(once), score_numbers(thrice)
    for name in ("r2", "mean_absolute_error", "coverage"):
        assert np.allclose(one[f"{name}_interval"], three[f"{name}_interval"])
