import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from infinimix.evaluation import calibration, intervals, predictions
from infinimix.evaluation.folds import deal
from infinimix.evaluation.predictions import Predictions


@pytest.mark.parametrize(("k", "n"), [(0, 5), (5, 5), (3, 10), (480, 500)])
def test_wilson_is_where_the_score_test_does_not_reject(k, n):
    """The ends solve (k / n - p)^2 = z^2 p (1 - p) / n, a quadratic equation in p."""
    z2 = 1.959963984540054**2
    low, high = np.sort(np.roots([1 + z2 / n, -(2 * k + z2) / n, (k / n) ** 2]))
    found = intervals.wilson(k, n)
    assert found.value == k / n
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_errors_of_groups_are_those_of_their_sums():
    rng = np.random.default_rng(0)
    values, own = rng.normal(size=60), np.arange(60)
    alone = intervals.standard_error(values)
    assert alone == pytest.approx(values.std(ddof=1) / np.sqrt(60))
    assert intervals.standard_error(values, own) == pytest.approx(alone)
    twice, pairs = np.repeat(values, 2), np.repeat(own, 2)
    assert intervals.standard_error(twice, pairs) == pytest.approx(alone)
    assert intervals.standard_error(twice) < 0.75 * alone
    right = np.repeat(values > 0, 2)
    assert intervals.share_interval(right, pairs).low < intervals.share_interval(right).low


def test_every_class_is_dealt_out_evenly():
    codes = np.random.default_rng(0).choice(3, 103, p=[0.7, 0.2, 0.1])
    fold_of = deal(codes, 5, 0)
    for c in range(3):
        sizes = np.bincount(fold_of[codes == c], minlength=5)
        assert np.ptp(sizes) <= 1


class Memory:
    """A classifier that is sure of the rows it has seen, and of nothing else."""

    def __init__(self):
        self.seen = {}

    def get_params(self, deep=False):
        return {}

    def set_params(self, **_):
        return self

    def __sklearn_clone__(self):
        return Memory()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.seen = dict(zip(X[:, 0].tolist(), y.tolist(), strict=True))
        return self

    def predict_proba(self, X):
        assert not any(x in self.seen for x in X[:, 0].tolist())
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_no_row_is_predicted_by_a_model_that_has_learned_it():
    X, y = np.arange(30.0)[:, None], np.array(["a", "b", "c"] * 10)
    found = predictions.cross_validate(Memory(), X, y)
    assert found.losses == pytest.approx(np.log(3))
    assert len(found.models) == 5


def test_rows_without_label_are_learned_by_models_that_can():
    class Batches(Memory):
        predict_batch = predict_proba_batch = None

        def __sklearn_clone__(self):
            return Batches()

        def fit(self, X, y):
            assert sum(label is None for label in y) == 5
            known = np.array([label is not None for label in y])
            return super().fit(X[known], np.array(y[known].tolist()))

    X, y = np.arange(30.0)[:, None], np.array(["a", "b", "c"] * 10, dtype=object)
    y[:5] = None
    found = predictions.cross_validate(Batches(), X, y)
    assert found.places.tolist() == list(range(5, 30))


def test_a_class_that_a_fold_lacks_gets_no_probability():
    y = np.array(["a"] * 10 + ["b"] * 9 + ["c"])
    found = predictions.cross_validate(DummyClassifier(strategy="prior"), np.zeros((20, 1)), y)
    assert found.labels == ["a", "b", "c"]
    assert found.p_true[-1] == 0
    assert np.isfinite(found.losses).all()
    assert found.proba.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("y", [["a"] * 20, ["a", "b"]])
def test_too_little_to_judge(y):
    assert predictions.cross_validate(DummyClassifier(), np.zeros((len(y), 1)), y) is None


def test_labels_of_several_types_have_an_order():
    y = ["a", 1, 2.5, "b", True] * 4
    found = predictions.labelled_rows(np.zeros((20, 1)), y)
    assert len(found[1]) == 20


def test_calibration_by_hand():
    confidence = np.array([0.6] * 10 + [0.9] * 10)
    right = np.array([True] * 5 + [False] * 5 + [True] * 9 + [False])
    low, high = calibration.equal_bins(confidence, right)
    assert (low.rows, low.confidence, low.right.value) == (10, pytest.approx(0.6), 0.5)
    assert (high.confidence, high.right.value) == (pytest.approx(0.9), 0.9)
    assert calibration.mean_distance([low, high]) == pytest.approx(0.05)


def test_confusion_counts():
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    none = np.zeros(3, int)
    found = Predictions(["a", "b"], None, none, np.array([0, 0, 1]), proba, none, [], "")
    assert found.confusion.tolist() == [[1, 1], [1, 0]]
    assert found.right.tolist() == [True, False, False]
    assert found.p_true.tolist() == [0.9, 0.2, 0.4]
