"""The compiled chain of dpMNL, a baseline of the papers, against one in plain NumPy."""

import numpy as np
import pytest

from infinimix.papers.m2dpm import dpmnl
from infinimix.papers.m2dpm.dpmnl import DPMNL
from tests.oracle.dpmnl import SlowDPMNL, log_predictive


def rows(seed, classes, n=70, d=3):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 4, n)
    X = 0.4 * rng.normal(size=(n, d)) + z[:, None] - 1.5
    y = ((X @ rng.normal(size=d) > 0) + z) % classes
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("alpha", [1.0, 20.0])
def test_it_visits_the_same_states(seed, classes, alpha, monkeypatch):
    monkeypatch.setattr(dpmnl, "ROOM", 3)  # so that arrays must grow
    X, y = rows(seed, classes)
    options = {"alpha": alpha, "n_iter": 12, "burn_in": 4, "n_samples": 4, "random_state": seed}
    fast, slow = (make(**options).fit(X[:50], y[:50]) for make in (DPMNL, SlowDPMNL))
    assert np.array_equal(fast.z, slow.z)
    assert len(fast.kept) == len(slow.kept) == 4
    for ours, theirs in zip(fast.kept, slow.kept, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert np.allclose(one, other, rtol=1e-9, atol=1e-9)
    assert np.allclose(fast.predict_proba(X[50:]), slow.predict_proba(X[50:]), atol=1e-9)


def test_the_density_of_many_rows_is_that_of_each():
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(5, 2)), np.array([0.0, 1.0, 4.0])
    total = rng.normal(size=(3, 2)) * n[:, None]
    square = total**2 + n[:, None]
    each = [log_predictive(x, n, total, square) for x in X]
    assert np.allclose(dpmnl.log_predictive(X[:, None], n, total, square), each, atol=1e-12)
