"""Linear Gaussian networks: the network of a fitted model, its moments, and other forms."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

from infinimix import BlockmodelBayesNet
from infinimix.networks import LinearGaussianNet, sample_network

TRUTH = LinearGaussianNet(
    ("rain", "river", "harvest"),
    ((), (0,), (1, 0)),
    np.array([100.0, 3.0, -2.0]),
    (np.zeros(0), np.array([0.05]), np.array([-4.0, 0.7])),
    np.array([400.0, 0.25, 9.0]),
)


@pytest.fixture(scope="module")
def model():
    X = pd.DataFrame(TRUTH.sample(3000, random_state=0), columns=list(TRUTH.names))
    known = {"required": [("rain", "river"), ("river", "harvest"), ("rain", "harvest")]}
    fitted = BlockmodelBayesNet(n_iter=60, n_chains=2, random_state=0, **known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fitted.fit(X)


def test_its_density_is_that_of_a_normal_with_its_moments():
    X = TRUTH.sample(50, random_state=1)
    expected = multivariate_normal(*TRUTH.moments()).logpdf(X)
    np.testing.assert_allclose(TRUTH.log_density(X), expected, rtol=1e-9)


def test_samples_have_its_moments():
    """Five standard errors of 40,000 rows: a false alarm has a probability below 1e-5."""
    mean, cov = TRUTH.moments()
    X = TRUTH.sample(40_000, random_state=2)
    scale = np.sqrt(np.diag(cov))
    assert (np.abs(X.mean(axis=0) - mean) < 5 * scale / 200).all()
    assert (np.abs(np.cov(X.T) - cov) < 5 * np.sqrt(2) * np.outer(scale, scale) / 200).all()


def test_the_network_of_a_model_is_in_the_units_of_its_columns(model):
    """With 3,000 rows and the graph known, parameters are those of the truth within 5 errors."""
    found = model.gaussian_network().check()
    assert found.names == TRUTH.names
    assert (found.adjacency == TRUTH.adjacency).all()
    graph = found.to_networkx()
    wanted = TRUTH.to_networkx()
    errors = {
        ("rain", "river"): 0.5 / 20, ("river", "harvest"): 3 / 0.5, ("rain", "harvest"): 3 / 10,
    }  # fmt: skip
    for edge, error in errors.items():
        distance = graph.edges[edge]["coefficient"] - wanted.edges[edge]["coefficient"]
        assert abs(distance) < 5 * error / np.sqrt(3000)
    assert found.variances == pytest.approx(TRUTH.variances, rel=5 * np.sqrt(2 / 3000))


def test_its_moments_are_those_that_the_model_answers_with(model):
    """Of a standardised table the model has them as joint normal of the best network."""
    mean, cov = model._fitted.best_mixture.moments(0)
    columns = model._fitted.columns
    found_mean, found_cov = model.gaussian_network().moments()
    np.testing.assert_allclose(found_mean, columns.centre + columns.scale * mean, rtol=1e-9)
    np.testing.assert_allclose(found_cov, cov * np.outer(columns.scale, columns.scale), rtol=1e-9)


def test_json_is_read_back(model):
    net = model.gaussian_network()
    again = LinearGaussianNet.from_json(net.to_json())
    assert again.names == net.names
    assert again.parents == net.parents
    assert (again.variances == net.variances).all()
    assert all((a == b).all() for a, b in zip(again.coefficients, net.coefficients, strict=True))
    assert json.loads(net.to_json())["nodes"][1]["coefficients"].keys() == {"rain"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tree: tree.update(format="other"), '"format"'),
        (lambda tree: tree.pop("nodes"), "nodes"),
        (lambda tree: tree["nodes"][1]["coefficients"].update(wind=1.0), "wind"),
        (lambda tree: tree["nodes"][2].update(name="rain"), "one name"),
        (lambda tree: tree["nodes"][0].update(variance=0.0), "above 0"),
        (lambda tree: tree["nodes"][0].update(intercept="high"), "could not convert"),
        (lambda tree: tree["nodes"][0].update(coefficients={"harvest": 1.0}), "cycle"),
    ],
)
def test_text_that_is_no_network_is_refused(change, said):
    tree = json.loads(TRUTH.to_json())
    change(tree)
    with pytest.raises(ValueError, match=f"no linear Gaussian network: .*({said})"):
        LinearGaussianNet.from_json(json.dumps(tree))
    with pytest.raises(ValueError, match="no linear Gaussian network"):
        LinearGaussianNet.from_json("{")


def test_each_kind_of_network_names_the_other(model):
    with pytest.raises(ValueError, match=r"gaussian_network\(\)"):
        model.to_bif()
    rows = sample_network((2, 1), random_state=1).sample(40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        discrete = BlockmodelBayesNet(n_iter=10, n_chains=1, random_state=0).fit(rows)
    with pytest.raises(ValueError, match=r"network\(\) returns its tables"):
        discrete.gaussian_network()


def test_dot_has_every_edge():
    assert TRUTH.to_dot().count(" -> ") == 3
    assert '"rain" -> "harvest"' in TRUTH.to_dot()


def test_pgmpy_has_the_same_joint_normal(model):
    pytest.importorskip("pgmpy", reason="pgmpy is not installed: it is in infinimix[bench]")
    for net in (TRUTH, model.gaussian_network()):
        theirs = net.to_pgmpy()
        assert theirs.check_model()
        mean, cov = theirs.to_joint_gaussian()
        order = [net.names.index(name) for name in _order(theirs)]
        ours = net.moments()
        np.testing.assert_allclose(mean, ours[0][order], rtol=1e-6)
        np.testing.assert_allclose(cov, ours[1][np.ix_(order, order)], rtol=1e-2)
    assert type(model.to_pgmpy()).__name__ == "LinearGaussianBayesianNetwork"


def _order(network):
    """Return the variables as pgmpy orders its moments: parents before children."""
    import networkx as nx

    return list(nx.topological_sort(network))
