import warnings

import numpy as np
import pytest

from infinimix.reports.comparison import ABOUT, Result, Split, describe, make_peers, measure


@pytest.fixture(scope="module")
def split():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 40)
    X = (rng.random((120, 12)) < 0.2 + 0.25 * y[:, None]).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    return Split(X[::2], X[1::2], y[::2], y[1::2])


class Fixed:
    """A classifier that knows its answers beforehand."""

    classes_ = np.array([0, 1])

    def __init__(self, proba):
        self.proba = np.array(proba)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.proba


def test_measure_by_hand():
    split = Split(np.zeros((2, 1)), np.zeros((4, 1)), np.array([0, 1]), np.array([0, 0, 1, 1]))
    result = measure("x", Fixed([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.5, 0.5]]), split)
    assert result.right.tolist() == [True, False, True, False]
    assert result.error == 0.5
    assert result.log_loss == pytest.approx(-np.log([0.9, 0.4, 0.8, 0.5]).mean())
    assert result.seconds >= 0


@pytest.mark.parametrize("name", list(ABOUT))
def test_peers_work_without_warnings(name, split):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = measure(name, make_peers(0)[name], split)
    assert result.error < 0.6
    assert 0 < result.log_loss < 1.1


def test_every_peer_is_explained():
    assert list(make_peers(0)) == list(ABOUT)


def make_result(name, right, log_loss):
    right = np.array(right, dtype=bool)
    return Result(name, None, right, 1 - right.mean(), log_loss, 0.1)


def test_the_sentences_count():
    own = make_result("own", [1, 1, 1, 0], np.log(2))
    peers = [make_result("good", [0, 1, 0, 1], 1.0), make_result("bad", [0, 0, 0, 1], np.log(4))]
    errors, beliefs = describe(own, peers)
    assert errors == (
        "own errs on 1 of 4 test rows; good, the best of the others, on 2. "
        "On 2 rows only own is right, on 1 only good."
    )
    assert "0.50 on (geometric) average, good 0.37" in beliefs
