"""Rows drawn from a model follow the density that the model gives to rows."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from infinimix import AClassClassifier, CRPMixture

N = 20_000
ALARM = 1e-5  # probability that a test fails although all is right, for each seed


def chi_squared(found, expected):
    """P-value of counts against probabilities; rare cells are joined."""
    order = np.argsort(-expected)
    found, expected = found[order], expected[order]
    kept = max(int((expected * N >= 10).sum()), 1)
    found = np.append(found[:kept], found[kept:].sum())
    expected = np.append(expected[:kept], expected[kept:].sum())
    some = expected > 0
    return stats.chisquare(found[some], N * expected[some] / expected[some].sum()).pvalue


@pytest.mark.parametrize("bound", [None, 2])
def test_discrete_rows(seed, bound):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, 40)
    X = np.column_stack([group, rng.random(40) < 0.2 + 0.6 * group, group + rng.integers(0, 2, 40)])
    model = CRPMixture(
        {0: "binary", 1: "binary", 2: "categorical"},
        n_particles=5,
        n_islands=2,
        max_groups=bound,
        random_state=seed,
    ).fit(X)
    cells = np.array(list(product([0, 1], [0, 1], [0, 1, 2])))
    density = np.exp(model.score_samples(cells))
    assert np.isclose(density.sum(), 1)
    drawn = model.sample(N).astype(int)
    place = drawn @ [6, 3, 1]
    assert chi_squared(np.bincount(place, minlength=12), density) > ALARM
    some = model.sample(N, given={0: 1, 2: 1}).astype(int)
    assert (some[:, [0, 2]] == 1).all()
    pair = density[(cells[:, 0] == 1) & (cells[:, 2] == 1)]
    assert chi_squared(np.bincount(some[:, 1], minlength=2), pair / pair.sum()) > ALARM


def test_real_rows(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(-3, 1, 30), rng.normal(4, 0.5, 20)])[:, None]
    model = CRPMixture("real", n_particles=5, n_islands=2, random_state=seed).fit(X)
    edges = np.linspace(-12, 12, 4001)
    middle = 0.5 * (edges[1:] + edges[:-1])
    mass = np.exp(model.score_samples(middle[:, None])) * np.diff(edges)
    coarse = mass.reshape(40, 100).sum(axis=1)
    drawn = model.sample(N)[:, 0]
    found = np.histogram(drawn, bins=edges[::100])[0]
    outside = N - found.sum()
    probability = np.append(coarse, max(1 - coarse.sum(), 1e-12))
    assert chi_squared(np.append(found, outside), probability) > ALARM


def test_labels_of_classes(seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(["p", "q", "r"], 60, p=[0.6, 0.3, 0.1])
    X = (rng.random((60, 2)) < np.where(y == "p", 0.8, 0.3)[:, None]).astype(float)
    model = AClassClassifier(
        "binary", gamma=2.0, n_particles=5, n_islands=2, calibrate=False, random_state=seed
    ).fit(X, y)
    cells = np.array(list(product([0, 1], repeat=2)))
    joint = model.predict_proba(cells) * np.exp(model.score_samples(cells))[:, None]
    assert np.isclose(joint.sum(), 1)
    drawn, labels = model.sample(N)
    place = (drawn.astype(int) @ [2, 1]) * 3 + np.searchsorted(model.classes_, labels)
    assert chi_squared(np.bincount(place, minlength=12), joint.ravel()) > ALARM
    given, labels = model.sample(N, given={1: 0})
    rows = joint[cells[:, 1] == 0]
    place = given[:, 0].astype(int) * 3 + np.searchsorted(model.classes_, labels)
    assert chi_squared(np.bincount(place, minlength=6), (rows / rows.sum()).ravel()) > ALARM
