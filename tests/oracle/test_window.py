"""Sweeps over a window while streaming: against all partitions, and whatever the calls."""

import os

import numpy as np
import pytest

from infinimix.inference.partition.filter import ParticleFilter
from infinimix.inference.partition.soundness import check_population
from infinimix.inference.partition.window import Window
from tests.oracle.enumeration import Enumeration
from tests.oracle.worlds import WORLDS, N

RUNS = 3000 if "INFINIMIX_SEEDS" in os.environ else 300


def streamed(name, size, window, seed, cuts=(N,), resampling="optimal"):
    world, rng = WORLDS[name], np.random.default_rng(seed)
    f = ParticleFilter(world.families, 1.5, size, resampling, None, rng)
    rows, held = np.arange(N), Window(window)
    for part in np.split(rows, cuts):
        if len(part):
            held.update(f, world.X, part)
    return f, held


@pytest.mark.parametrize(("window", "size"), [(N + 1, 1), (4, 3)])
def test_weighted_states_stand_for_the_posterior(window, size):
    """The evidence stays unbiased, and weighted co-assignments go to the exact ones.

    Means over independent runs are judged at 5.5 standard errors, two in each of two cases: by
    the normal approximation a false alarm in six million runs.
    """
    name = "product-holes"
    truth = Enumeration(WORLDS[name].families, WORLDS[name].X, 1.5)
    last = np.arange(N - 2, N)
    weight, together = np.empty(RUNS), np.empty(RUNS)
    for seed in range(RUNS):
        f, held = streamed(name, size, window, seed)
        weight[seed] = np.exp(f.log_evidence() - truth.log_evidence)
        at = held.z[:, -2:]
        together[seed] = f.weights() @ (at[:, 0] == at[:, 1])
    check_population(f)
    error = weight.std() / np.sqrt(RUNS)
    assert abs(weight.mean() - 1.0) < 5.5 * error
    excess = weight * (together - truth.co_assignment()[last[0], last[1]])
    assert abs(excess.mean()) < 5.5 * excess.std() / np.sqrt(RUNS)


@pytest.mark.parametrize("resampling", ["optimal", "systematic"])
def test_any_cutting_leaves_the_same_bits(resampling):
    whole, one = streamed("product-holes", 3, 4, 0, (N,), resampling)
    for cuts in ([1, 2, 3, 4, 5, 6], [5]):
        f, held = streamed("product-holes", 3, 4, 0, cuts, resampling)
        assert (held.z == one.z).all()
        assert (f.logw[: f.n_particles] == whole.logw[: whole.n_particles]).all()
        for a, b in zip(f.stats, whole.stats, strict=True):
            assert (a.n == b.n).all()
        for a, b in zip(held.blocks, one.blocks, strict=True):
            np.testing.assert_array_equal(a, b)


def test_memory_is_bounded():
    _, held = streamed("product-holes", 3, 4, 0)
    assert held.z.shape[1] == 4
    assert all(len(block) == 4 for block in held.blocks)
