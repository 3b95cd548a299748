"""Serial, threads, processes, Dask: the same model, bit for bit, of every estimator that splits.

`INFINIMIX_SEEDS` also asks clusters of one and of four workers, and kills a worker in 20 runs.
"""

import os
import random
import signal
import threading
import time
from unittest.mock import patch

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from infinimix import (
    AClassClassifier,
    BlockmodelBayesNet,
    CRPImputer,
    CRPMixture,
    CRPRegressor,
    FiniteMixtureClassifier,
    MaxMarginDPMeans,
    OnlineCRPClassifier,
    execution,
    read_partitions,
)
from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet, NetworkFranchise
from tests.clusters import start_cluster

pytest.importorskip("distributed", reason="needs infinimix[dask]")
MANY = "INFINIMIX_SEEDS" in os.environ
WORKERS = (1, 2, 4) if MANY else (2,)
rng = np.random.default_rng(0)
Y = rng.integers(3, size=90)
X = rng.normal(size=(90, 4)) + Y[:, None]
X[rng.random(X.shape) < 0.1] = np.nan
BITS = pd.DataFrame(rng.random((60, 4)) < 0.5, columns=list("abcd")).astype(int)
TEXTS = [f"w{c} w{c + i % 2} w{i % 5}" for i, c in enumerate(Y)]
FEW = {"n_islands": 3, "n_particles": 4, "random_state": 0}
CHAINS = {"n_iter": 40, "n_chains": 2, "random_state": 0}


def stream():
    model = AClassClassifier(**FEW).partial_fit(X[:50], Y[:50])
    return model.partial_fit(X[50:], Y[50:]).predict_proba(X)


def apart():
    """Filters of classes, not islands, are what travels where there are more workers than these."""
    model = AClassClassifier(n_islands=1, n_particles=4, effort="fast", random_state=0).fit(X, Y)
    return np.append(model.predict_proba(X).ravel(), model.loo_log_loss_)


def shards():
    """Rows of EM in shards, as those of many rows are."""
    with patch("infinimix.inference.finite.shards.ROWS", 32):
        model = FiniteMixtureClassifier(n_components=2, n_init=2, max_iter=5, random_state=0)
        return model.fit(X, [None if i % 4 == 0 else c for i, c in enumerate(Y)]).predict_proba(X)


def spans():
    """Assignment and experts of a descent in parts, as those of many rows are."""
    with (
        patch("infinimix.maxmargin.objective.problem.SPAN", 1024),
        patch("infinimix.maxmargin.descent.passes.SPAN", 1024),
    ):
        rows, labels = np.tile(X, (16, 1)), np.tile(Y, 16)
        model = MaxMarginDPMeans(lam=60.0, s=1.0, max_iter=4, random_state=0).fit(rows, labels)
        return np.concatenate([model.coef_.ravel(), model.objective_history_, model.labels_])


MODELS = {
    "classes apart": apart,
    "finite mixture": shards,
    "max-margin": spans,
    "online in shards": lambda: OnlineCRPClassifier(n_shards=3, shard_rows=20, random_state=0)
    .fit(TEXTS, Y).predict_proba(TEXTS),
    "aclass": lambda: AClassClassifier(**FEW).fit(X, Y).predict_proba(X),
    "some labels": lambda: AClassClassifier(**FEW, unlabelled=0).fit(X, Y).predict_proba(X),
    "aclass in a stream": stream,
    "mixture": lambda: CRPMixture(**FEW, sweeps=3).fit(X).score_samples(X),
    "imputer": lambda: CRPImputer(**FEW).fit(X).transform(X),
    "regressor": lambda: CRPRegressor(**FEW).fit(X[:, :3], Y + 0.5 * np.sin(Y)).predict(X[:, :3]),
    "bayes net": lambda: BlockmodelBayesNet(**CHAINS).fit(BITS).run(n_iter=10).edge_marginals_,
    "ordered net": lambda: BlockmodelBayesNet(prior="ordered", **CHAINS).fit(BITS).edge_marginals_,
    "markov net": lambda: BlockmodelMarkovNet(**CHAINS).fit(BITS).edge_marginals_,
    "dynamic net": lambda: BlockmodelDynamicNet(**CHAINS).fit(BITS).edge_marginals_,
    "franchise": lambda: np.concatenate(
        [net.edge_marginals_.ravel() for net in NetworkFranchise(**CHAINS)
         .fit({"one": BITS, "two": BITS[::-1]}).networks_.values()]
    ),
}  # fmt: skip


def answers():
    return {name: learn() for name, learn in MODELS.items()}


@pytest.fixture(scope="module")
def alone():
    with execution.serial():
        return answers()


def assert_equal(found, expected):
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.fixture(scope="module", params=WORKERS)
def client(request):
    with start_cluster(request.param) as client:
        yield client


@pytest.mark.filterwarnings("ignore:Chains disagree")
@pytest.mark.parametrize("make", [execution.threads, execution.processes])
def test_local_executors_learn_the_same(alone, make):
    with make(2):
        assert_equal(answers(), alone)


@pytest.mark.filterwarnings("ignore:Chains disagree")
def test_a_cluster_learns_the_same(alone, client):
    with execution.dask(client):
        assert_equal(answers(), alone)


def test_partitions_on_a_cluster(client, tmp_path):
    pl = pytest.importorskip("polars", reason="Parquet needs polars or PyArrow")
    frame = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(4)}, "y": Y})
    for i in range(3):
        frame.slice(30 * i, 30).write_parquet(tmp_path / f"{i}.parquet")
    rows = frame.drop("y")
    expected = AClassClassifier(**FEW).fit(rows, Y).predict_proba(rows)
    with execution.dask(client):
        model = AClassClassifier(**FEW).fit(read_partitions(tmp_path), "y")
        found = [*model.predict_proba(read_partitions(tmp_path, drop=["y"]))]
    np.testing.assert_array_equal(np.concatenate(found), expected)


def test_a_search_on_a_cluster_finds_the_same(client):
    model = AClassClassifier(n_islands=1, effort="fast", random_state=0)
    search = GridSearchCV(model, {"gamma": [0.1, 10.0]}, cv=2, scoring="neg_log_loss")
    expected = clone(search).fit(X, Y).cv_results_["mean_test_score"]
    with client.as_current(), joblib.parallel_config(backend="dask"):
        found = clone(search).fit(X, Y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:Chains disagree")
def test_chains_on_a_cluster_end_in_time(client):
    net = BlockmodelBayesNet(n_iter=10**6, n_chains=2, random_state=0)
    with execution.dask(client):
        start = time.monotonic()
        net.fit_for(BITS, 1.0)
    assert net.edge_marginals_.shape == (4, 4)
    assert 0.5 < time.monotonic() - start < 30.0  # on a busy machine, too


@pytest.mark.skipif(not MANY, reason="20 clusters; a worker is killed in test_remote, too")
@pytest.mark.parametrize("run", range(20))
def test_a_worker_killed_at_any_time_changes_nothing(run):
    rows, codes = np.tile(X, (20, 1)), np.tile(Y, 20)
    seconds = 2 * random.Random(run).random()
    expected = AClassClassifier(random_state=0).fit(rows, codes).predict_proba(X)
    with start_cluster(2) as client:
        victim = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(seconds, os.kill, (victim, signal.SIGKILL))
        timer.start()
        with execution.dask(client):
            found = AClassClassifier(random_state=0).fit(rows, codes).predict_proba(X)
        timer.join()
    np.testing.assert_array_equal(found, expected)
