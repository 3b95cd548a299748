"""The sums agree with scikit-learn and with loops over all pairs, however the rows are cut."""

import math
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import pair_confusion_matrix, roc_auc_score

from infinimix.estimators.online.forecast import NEW_CLASS, Forecast
from infinimix.evaluation.calibration import ReliabilityBins
from infinimix.evaluation.running import Contingency, Mean, Novelty, judge


def cuts(n, sizes=(1, 7, 100)):
    """Slices that cover n rows."""
    for size in sizes:
        yield [slice(i, i + size) for i in range(0, n, size)]


def test_pairs_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 60).tolist(), rng.integers(0, 3, 60).tolist()
    for parts in cuts(60):
        table = Contingency()
        for part in parts:
            table.add(a[part], b[part])
        together = [(a[i] == a[j], b[i] == b[j]) for i, j in combinations(range(60), 2)]
        both, predicted, true = (
            sum(map(all, together)), sum(p for p, _ in together), sum(t for _, t in together)
        )  # fmt: skip
        assert table.pairs() == (both, predicted, true, 60 * 59 // 2)
        scores = table.scores()
        assert scores["pair_f1"] == pytest.approx(2 / (predicted / both + true / both), rel=1e-12)
        (tn, fp), (fn, tp) = pair_confusion_matrix(b, a)
        assert scores["rand_index"] == pytest.approx((tn + tp) / (tn + fp + fn + tp), rel=1e-12)


def test_pairs_stay_exact_where_floats_do_not():
    table = Contingency()
    table.cells.update({("a", "a"): 2**40 + 1, ("b", "b"): 2**40, ("a", "b"): 1})
    n = 2**41 + 2
    assert table.pairs()[3] == n * (n - 1) // 2 > 2**53
    assert table.pairs()[0] == math.comb(2**40 + 1, 2) + math.comb(2**40, 2)


def test_two_million_rows_are_a_small_table():
    table = Contingency()
    labels = np.random.default_rng(0).integers(0, 50, 2_000_000).tolist()
    table.add(labels, labels)
    assert len(table.cells) == 50
    assert table.scores()["pair_f1"] == 1.0


def test_nothing_has_no_scores():
    assert all(math.isnan(value) for value in Contingency().scores().values())
    assert math.isnan(Mean().value)
    assert math.isnan(ReliabilityBins(5).error)
    assert all(math.isnan(value) for value in Novelty().rates().values())


def random_judged(n, seed=0):
    rng = np.random.default_rng(seed)
    found = Forecast.empty(n)
    found.predicted[:] = np.where(rng.random(n) < 0.1, NEW_CLASS, rng.integers(0, 5, n))
    found.proba_true[:] = np.where(rng.random(n) < 0.1, np.nan, rng.random(n))
    found.confidence[:] = np.where(rng.random(n) < 0.1, np.nan, rng.random(n))
    known = rng.random(n) < 0.7
    found.new[:] = 1 / (1 + np.exp(rng.normal(-2.0 * known, 3.0)))
    return found, judge(found, rng.integers(0, 5, n).tolist(), known)


def test_calibration_is_the_sum_over_bins():
    _, judged = random_judged(500)
    some = ~np.isnan(judged.confidence)
    confidence, right = judged.confidence[some], judged.right[some]
    error = 0.0
    for k in range(10):
        inside = (confidence >= k / 10) & (confidence < (k + 1) / 10)
        error += abs(right[inside].mean() - confidence[inside].mean()) * inside.mean()
    for parts in cuts(500):
        calibration = ReliabilityBins(10)
        for part in parts:
            calibration.add(judged.confidence[part], judged.right[part])
        assert calibration.error == pytest.approx(error, rel=1e-12)


def test_full_confidence_has_a_bin():
    found = Forecast.empty(1)
    found.predicted[0], found.confidence[0] = "a", 1.0
    calibration = ReliabilityBins(10)
    judged = judge(found, ["a"], np.array([True]))
    calibration.add(judged.confidence, judged.right)
    assert calibration.n[-1] == 1
    assert calibration.error == 0.0


def test_new_classes_are_scored_as_scikit_learn_does():
    _, judged = random_judged(2000)
    for parts in cuts(2000):
        novelty = Novelty()
        for part in parts:
            novelty.add(type(judged)(*(values[part] for values in judged)))
        rates = novelty.rates()
        exact = roc_auc_score(~judged.known, judged.new)
        assert rates["new_auroc"] == pytest.approx(exact, abs=1e-3)  # ties within 0.01 nats
        hits = (judged.predicted_new & ~judged.known).sum()
        assert rates["new_precision"] == hits / judged.predicted_new.sum()
        assert rates["new_recall"] == hits / (~judged.known).sum()


def test_certainty_and_impossibility_of_a_new_class_are_ordered():
    found = Forecast.empty(3)
    found.new[:] = [0.0, 1e-30, 1.0]
    novelty = Novelty()
    novelty.add(judge(found, ["a"] * 3, np.array([True, True, False])))
    assert novelty.auroc == 1.0


def test_what_is_right():
    found = Forecast.empty(4)
    found.predicted[:] = ["a", NEW_CLASS, NEW_CLASS, None]
    found.proba_true[0] = 0.0
    judged = judge(found, ["a", "b", "c", "d"], np.array([True, False, True, True]))
    assert judged.right.tolist() == [True, True, False, False]
    assert judged.loss[0] == pytest.approx(-math.log(1e-15))
    assert np.isnan(judged.loss[1:]).all()


def test_sums_do_not_depend_on_how_the_rows_are_cut():
    values = np.random.default_rng(0).random(1000)
    right = values < 0.5
    found = set()
    for parts in cuts(1000):
        mean, calibration = Mean(), ReliabilityBins(7)
        for part in parts:
            mean.add(values[part])
            calibration.add(values[part], right[part])
        found.add((mean.value, calibration.error))
    assert len(found) == 1
