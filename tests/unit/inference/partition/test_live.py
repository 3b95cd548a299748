"""Few rows are scored from the filters as they are, many from a table of all groups: alike."""

import numpy as np
import pytest

from infinimix import AClassClassifier


@pytest.mark.parametrize("max_groups", [None, 2])
@pytest.mark.parametrize("n_islands", [1, 3])
def test_few_rows_are_answered_as_many_are(n_islands, max_groups):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.integers(3, size=90)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0] = np.nan
    model = AClassClassifier("real", n_islands=n_islands, max_groups=max_groups, random_state=0)
    for i in range(0, 90, 30):
        model.partial_fit(X[i : i + 30], y[i : i + 30], classes=[0, 1, 2])
        many = model.predict_proba(X)
        few = np.concatenate([model.predict_proba(X[j : j + 3]) for j in range(0, 90, 3)])
        np.testing.assert_allclose(few, many, rtol=1e-11)
        (row,) = model.predict_proba(X[:1])
        assert (row == many[0]).all()  # nothing is known of it, so the weights decide


def test_each_answer_sees_the_row_before_it():
    rng = np.random.default_rng(1)
    X, y = rng.integers(2, size=(40, 5)), rng.integers(2, size=40)
    one, other = (
        AClassClassifier("binary", random_state=0).partial_fit(X[:9], y[:9]) for _ in "ab"
    )
    for i in range(9, 40):
        found = one.predict_proba(X[i : i + 1])
        one.partial_fit(X[i : i + 1], y[i : i + 1])
        assert not (one.predict_proba(X[i : i + 1]) == found).all()
    other.partial_fit(X[9:], y[9:])
    assert (one.predict_proba(X) == other.predict_proba(X)).all()
    assert (one.predict_proba(X[:1]) == other.predict_proba(X[:1])).all()
