"""Densities of rows in networks: rows with the same missing cells go together, in chunks."""

import numpy as np
import pytest

from infinimix.networks import BlockmodelBayesNet, BlockmodelDynamicNet
from infinimix.networks.answers import predictive


@pytest.fixture(scope="module")
def codes():
    X = np.random.default_rng(0).integers(0, 3, (40, 5))
    X[:, 1] = (X[:, 0] + X[:, 1] // 2) % 3
    return X


def holed(X, seed=1, share=0.3):
    X = X.astype(float)
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


@pytest.fixture(scope="module")
def net(codes):
    return BlockmodelBayesNet(columns="categorical", n_iter=20, n_chains=2, random_state=0).fit(
        codes
    )


@pytest.mark.parametrize("most", [256, 4])  # cells are listed, or eliminated
@pytest.mark.parametrize("chunk", [2000, 7])
def test_rows_with_holes_have_the_densities_they_have_alone(net, codes, most, chunk, monkeypatch):
    X = holed(codes)
    alone = [float(net.score_samples(x[None])[0]) for x in X]
    monkeypatch.setattr(predictive, "MOST_COMPLETIONS", most)
    monkeypatch.setattr(predictive, "CHUNK", chunk)
    assert np.allclose(net.score_samples(X), alone, rtol=1e-12)


def test_a_hole_is_the_sum_over_its_values(net, codes):
    X = codes[:6].astype(float)
    X[:, 2] = np.nan
    filled = np.repeat(codes[:6], 3, axis=0)
    filled[:, 2] = np.tile([0, 1, 2], 6)
    each = np.exp(net.score_samples(filled)).reshape(6, 3).sum(axis=1)
    assert np.allclose(np.exp(net.score_samples(X)), each, rtol=1e-12)


def test_steps_of_a_sequence_with_holes_are_those_of_pairs_of_rows(codes):
    net = BlockmodelDynamicNet(columns="categorical", n_iter=20, n_chains=2, random_state=0)
    net.fit(codes)
    X = holed(codes)
    alone = [float(net.score_steps(X[t - 1 : t + 1])[1]) for t in range(1, len(X))]
    assert np.allclose(net.score_steps(X)[1:], alone, rtol=1e-12)
