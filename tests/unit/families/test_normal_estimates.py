"""Estimated Normals are scored by matrix products: against SciPy's density, cell by cell."""

import numpy as np
import pytest
from scipy.stats import norm

from infinimix.families import NormalInverseChiSquared, seam
from infinimix.families.normal import PLACE, TIGHTNESS


@pytest.mark.parametrize("far", [0.0, 1.7e9])  # time stamps keep their digits
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("grain", [np.zeros(3), np.array([0.1, 0.0, 70.0])])
def test_point_estimates_have_the_density_of_their_normal(far, share, grain):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 0.01, 30.0] + far
    X[rng.random(X.shape) < share] = np.nan
    prior = np.array([np.full(3, far), np.ones(3), np.ones(3), [1.0, 1e-4, 900.0]])
    family = NormalInverseChiSquared(prior, grain)
    stats = seam.empty(family, 4)
    seam.count_rows(family, stats, rng.random((50, 4)), X)
    seam.estimate_point(family, stats, False)
    live = np.array([2, 0, 3])
    found = np.ones((50, 3))  # is added to
    seam.score_rows(family, stats, live, X, found)
    place, sd = stats.t[live, PLACE], np.sqrt(1.0 / (seam.MANY * stats.t[live, TIGHTNESS]))
    exact = norm.logpdf(X[:, None, :], place, sd) - 0.5 * grain / sd**2
    assert np.allclose(found, 1.0 + np.nansum(exact, axis=2), rtol=0, atol=1e-4 if far else 1e-9)
