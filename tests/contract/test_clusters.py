"""Serial, threads, processes, Dask: the same model, bit for bit, of every estimator that splits.

`INFINIMIX_SEEDS` also asks clusters of one and of four workers, and kills a worker in 20 runs.
"""

import os
import random
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from infinimix import (
    AClassClassifier,
    BlockmodelBayesNet,
    CRPImputer,
    CRPMixture,
    CRPRegressor,
    execution,
)
from infinimix.networks import BlockmodelDynamicNet, BlockmodelMarkovNet, NetworkFranchise

distributed = pytest.importorskip("distributed", reason="needs infinimix[dask]")
MANY = "INFINIMIX_SEEDS" in os.environ
WORKERS = (1, 2, 4) if MANY else (2,)
rng = np.random.default_rng(0)
Y = rng.integers(3, size=90)
X = rng.normal(size=(90, 4)) + Y[:, None]
X[rng.random(X.shape) < 0.1] = np.nan
BITS = pd.DataFrame(rng.random((60, 4)) < 0.5, columns=list("abcd")).astype(int)
FEW = {"n_islands": 3, "n_particles": 4, "random_state": 0}
CHAINS = {"n_iter": 40, "n_chains": 2, "random_state": 0}


def stream():
    model = AClassClassifier(**FEW).partial_fit(X[:50], Y[:50])
    return model.partial_fit(X[50:], Y[50:]).predict_proba(X)


MODELS = {
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


@contextmanager
def start_cluster(n_workers):
    with (
        distributed.LocalCluster(
            n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


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
