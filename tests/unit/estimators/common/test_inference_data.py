"""Draws for ArviZ: shapes and names, and its diagnostics against ours."""

import sys
import warnings

import numpy as np
import pytest

from infinimix import AClassClassifier, BlockmodelBayesNet, CRPMixture, GibbsInfiniteSVC
from infinimix.estimators.common.inference_data import even_chains
from infinimix.networks import BlockmodelMarkovNet, sample_network


@pytest.fixture(scope="module")
def az():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return pytest.importorskip("arviz", reason="needs infinimix[arviz]")


@pytest.fixture(scope="module")
def net():
    rows = sample_network((2, 2), random_state=1).sample(60, random_state=0)
    model = BlockmodelBayesNet(n_iter=400, n_chains=3, alpha="learn", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


def test_kept_networks_become_chains_and_draws(az, net):
    draws, found = net._fitted.draws, net.to_arviz()
    edge = found.posterior["edge"]
    assert edge.dims == ("chain", "draw", "source", "target")
    assert edge.shape == (3, 400, 4, 4)
    assert list(edge["source"].values) == list(net._fitted.names)
    share = edge.mean(dim=("chain", "draw")).values
    np.testing.assert_allclose(share, net.edge_marginals_, atol=1e-12)  # every sweep was kept
    assert found.posterior["role"].shape == (3, 400, 4)
    assert (found.posterior["role"].values[..., 0] == 0).all()  # numbered by first appearance
    assert "alpha" in found.posterior
    assert "gamma" not in found.posterior  # it is fixed
    np.testing.assert_array_equal(found.sample_stats["lp"].values.ravel(), draws.log_joint)


def test_rhat_is_that_of_arviz(az, net):
    found = az.rhat(net.to_arviz(), var_names=["edge"], method="split")
    theirs = np.asarray(getattr(found, "posterior", found)["edge"])
    varies = np.isfinite(theirs)
    assert varies.sum() > 4
    np.testing.assert_allclose(net.rhat_[varies], theirs[varies], rtol=1e-5)
    assert (net.rhat_[~varies] == 1.0).all()  # edges that are never there


def test_effective_sizes_are_near_those_of_arviz(az, net):
    """Both sum the same autocorrelations; ArviZ lets pairs of them never rise, which sums less."""
    found = az.ess(net.to_arviz(), var_names=["edge"], method="mean")
    theirs = np.asarray(getattr(found, "posterior", found)["edge"])
    varies = net.edge_marginals_ * (1 - net.edge_marginals_) > 0.01
    ratio = net.ess_[varies] / theirs[varies]
    assert varies.sum() > 4
    assert ((ratio > 0.8) & (ratio < 1.1)).all(), ratio


def test_undirected_edges_are_counted_once(az):
    rows = sample_network((2, 1), random_state=1).sample(60, random_state=0)
    model = BlockmodelMarkovNet(n_iter=20, n_chains=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior = model.fit(rows).to_arviz().posterior
    twice = posterior["edge"].sum(dim=("source", "target")).values
    np.testing.assert_array_equal(2 * posterior["n_edges"].values, twice)


def test_states_of_sweeps_are_draws_in_their_order(az):
    rng = np.random.default_rng(0)
    X = rng.normal([[-4.0]] * 30 + [[4.0]] * 30)
    model = CRPMixture(n_islands=3, n_particles=20, sweeps=40, random_state=0).fit(X)
    found = model.to_arviz().posterior
    assert found["n_groups"].shape == (3, 20)
    mean = found["n_groups"].values.mean()
    P = model.n_groups_posterior_
    assert mean == pytest.approx(np.arange(len(P)) @ P)
    last = model._bank.classes[0][0].n_groups()[0]  # the state in which the chain is
    assert found["n_groups"].values[0, -1] == last
    assert (found["largest_group"].values <= 1.0).all()
    with pytest.raises(ValueError, match="sweeps=200"):
        CRPMixture(effort="fast", random_state=0).fit(X).to_arviz()
    with pytest.raises(ValueError, match="call fit"):
        model.partial_fit(X[:2]).to_arviz()


def test_the_chain_of_an_infinite_svm(az):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = GibbsInfiniteSVC(n_iter=12, burn_in=5, random_state=0).fit(X, X[:, 0] > 0)
    found = model.to_arviz().posterior
    assert found["hinge"].shape == (1, 7)
    np.testing.assert_array_equal(found["n_clusters"].values[0], model.traces_["n_clusters"][5:])


def test_chains_of_different_lengths_give_their_last_draws():
    values, chain = np.arange(7), np.array([0, 0, 0, 1, 1, 1, 1])
    assert even_chains(values, chain).tolist() == [[0, 1, 2], [4, 5, 6]]


def test_without_arviz_it_is_said_what_to_install(monkeypatch, net):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"infinimix\[arviz\]"):
        net.to_arviz()


def test_a_classifier_compares_its_islands_by_their_gap():
    X = [[0.0], [0.1], [7.0], [7.1]] * 9
    model = AClassClassifier(effort="fast", random_state=0).fit(X, ["a", "a", "b", "b"] * 9)
    assert (model.island_gap(X) < 0.2).all()
