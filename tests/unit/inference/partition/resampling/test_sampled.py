"""Resampling: copies are drawn in proportion to their weights, and the evidence stays."""

import numpy as np
import pytest
from scipy.stats import binom

from infinimix.inference.partition.population import COPIES, ORIGIN, UNIQUE, USED, Population
from infinimix.inference.partition.resampling.sampled import resample
from tests.oracle.worlds import WORLDS, run


def uneven(resampling="multinomial"):
    """A population of 40 copies whose weights have drifted apart."""
    f, _ = run(WORLDS["product"], 2.0, 40, resampling)
    unique = f.counters[UNIQUE]
    f.logw[:unique] -= np.linspace(0.0, 9.0, unique)[::-1]
    f.counters[USED] = 0
    return f


def resampled(f, u, systematic):
    p = Population(*(array.copy() for array in f.population()))
    particles, logw, counters = p.particles, p.logw, p.counters
    particles[ORIGIN, : counters[UNIQUE]] = np.arange(counters[UNIQUE])  # who came through
    resample(p, u, 40, systematic)
    return particles[:, : counters[UNIQUE]], logw[: counters[UNIQUE]]


@pytest.mark.parametrize("systematic", [False, True])
def test_resampling_keeps_evidence_and_number(systematic):
    f = uneven()
    before = f.log_evidence()
    particles, logw = resampled(f, np.random.default_rng(1).random(80), systematic)
    assert particles[COPIES].sum() == 40
    assert (particles[COPIES] > 0).all()
    assert np.ptp(logw) == 0.0
    assert np.logaddexp.reduce(logw + np.log(particles[COPIES])) == pytest.approx(before, abs=1e-12)


def test_systematic_copies_are_within_one_of_their_share():
    f = uneven()
    share = 40 * f.weights()
    for u in np.linspace(0.0, 0.999999, 50):
        particles, _ = resampled(f, np.full(80, u), True)
        copies = np.zeros(len(share))
        copies[particles[3]] = particles[COPIES]
        assert (np.abs(copies - share) < 1.0 + 1e-9).all()


def test_multinomial_copies_are_binomial(seed):
    """Total copies over 500 draws, tail below 1e-7 for at most 40 particles: once in 100,000."""
    f, rng = uneven(), np.random.default_rng(seed)
    copies = np.zeros(f.counters[UNIQUE], np.int64)
    for _ in range(500):
        particles, _ = resampled(f, rng.random(80), False)
        copies[particles[3]] += particles[COPIES]
    law = binom(500 * 40, f.weights())
    assert copies.sum() == 500 * 40
    assert np.minimum(law.cdf(copies), law.sf(copies - 1)).min() > 1e-7


def test_even_weights_are_left_alone():
    f, _ = run(WORLDS["product"], 2.0, 40, "multinomial")
    f.logw[:] = -3.0
    f.counters[USED] = 0
    before = f.particles.copy()
    particles, logw = resampled(f, np.random.default_rng(1).random(80), False)
    assert (particles[COPIES] == before[COPIES, : f.counters[UNIQUE]]).all()
    assert (logw == -3.0).all()
