"""Resampling: copies are drawn in proportion to their weights, and the evidence stays."""

import numpy as np
import pytest
from scipy.stats import binom

from infinimix.inference.partition.population import COPIES, UNIQUE, USED
from infinimix.inference.partition.resampling.sampled import resample
from tests.oracle.worlds import WORLDS, run


def uneven(resampling="multinomial"):
    """A population of 40 copies whose weights have drifted apart."""
    f, _ = run(WORLDS["product"], 2.0, 40, resampling)
    unique = f.tally[UNIQUE]
    f.logw[:unique] -= np.linspace(0.0, 9.0, unique)[::-1]
    f.tally[USED] = 0
    return f


def resampled(f, u, systematic):
    arrays = [a.copy() for a in (f.slots, f.groups, f.crowd, f.logw, f.tally)]
    crowd, logw, tally = arrays[2:]
    crowd[3, : tally[UNIQUE]] = np.arange(tally[UNIQUE])  # so that it is known who came through
    resample(*arrays, u, 40, systematic)
    return crowd[:, : tally[UNIQUE]], logw[: tally[UNIQUE]]


@pytest.mark.parametrize("systematic", [False, True])
def test_resampling_keeps_evidence_and_number(systematic):
    f = uneven()
    before = f.log_evidence()
    crowd, logw = resampled(f, np.random.default_rng(1).random(80), systematic)
    assert crowd[COPIES].sum() == 40
    assert (crowd[COPIES] > 0).all()
    assert np.ptp(logw) == 0.0
    assert np.logaddexp.reduce(logw + np.log(crowd[COPIES])) == pytest.approx(before, abs=1e-12)


def test_systematic_copies_are_within_one_of_their_share():
    f = uneven()
    share = 40 * f.weights()
    for u in np.linspace(0.0, 0.999999, 50):
        crowd, _ = resampled(f, np.full(80, u), True)
        copies = np.zeros(len(share))
        copies[crowd[3]] = crowd[COPIES]
        assert (np.abs(copies - share) < 1.0 + 1e-9).all()


def test_multinomial_copies_are_binomial(seed):
    """Total copies over 500 draws, tail below 1e-7 for at most 40 particles: once in 100,000."""
    f, rng = uneven(), np.random.default_rng(seed)
    copies = np.zeros(f.tally[UNIQUE], np.int64)
    for _ in range(500):
        crowd, _ = resampled(f, rng.random(80), False)
        copies[crowd[3]] += crowd[COPIES]
    law = binom(500 * 40, f.weights())
    assert copies.sum() == 500 * 40
    assert np.minimum(law.cdf(copies), law.sf(copies - 1)).min() > 1e-7


def test_even_weights_are_left_alone():
    f, _ = run(WORLDS["product"], 2.0, 40, "multinomial")
    f.logw[:] = -3.0
    f.tally[USED] = 0
    before = f.crowd.copy()
    crowd, logw = resampled(f, np.random.default_rng(1).random(80), False)
    assert (crowd[COPIES] == before[COPIES, : f.tally[UNIQUE]]).all()
    assert (logw == -3.0).all()
