"""Constants of partitions do not depend on what was computed before, nor on other threads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from infinimix.networks import BlockmodelBayesNet, sample_network
from infinimix.networks.engine.acyclicity import Constants, log_constant
from infinimix.networks.learning import chains

N = 7  # more than are enumerated


def ask(constants, sizes, beta):
    m = np.zeros(N + 1, np.int64)
    m[: len(sizes)] = sizes
    with np.errstate(over="ignore"):
        key = constants.hashes[m].sum()
    return log_constant(constants, key, m, np.array([0.5, *beta, 0.0, 0.0, 0.0, 0.0]))


def test_a_constant_is_that_of_its_own_beta():
    used = Constants.empty(N)
    for beta in ((1.0, 1.0), (1.0001, 1.0), (1.0, 1.0001), (1.0001, 1.0001)):
        for sizes in ((7,), (4, 3)):
            assert ask(used, sizes, beta) == ask(Constants.empty(N), sizes, beta)
    assert ask(used, (7,), (1.0, 1.0)) != ask(used, (7,), (1.0001, 1.0))


def test_an_entry_whose_value_is_of_another_key_is_not_believed():
    used, expected = Constants.empty(N), ask(Constants.empty(N), (4, 3), (1.0, 1.0))
    ask(used, (4, 3), (1.0, 1.0))
    other = Constants.empty(N)
    ask(other, (7,), (1.0, 1.0))
    used.values[used.values != 0] = other.values[other.values != 0]  # two threads met
    assert ask(used, (4, 3), (1.0, 1.0)) == expected


def test_threads_that_share_a_table_read_what_each_would_compute():
    cases = [
        (sizes, (b1, b2))
        for sizes in ((7,), (6, 1), (5, 2), (4, 3), (4, 2, 1), (3, 3, 1), (2, 2, 2, 1))
        for b1 in (0.5, 1.0, 2.0)
        for b2 in (0.5, 1.0)
    ]
    alone = Constants.empty(N)
    expected = [ask(alone, *case) for case in cases]
    shared = Constants.empty(N)
    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(lambda c=case: ask(shared, *c)) for case in cases * 20]
        assert [a.result() for a in answers] == expected * 20


def test_a_fit_does_not_depend_on_earlier_fits(monkeypatch):
    X = sample_network((3, 4), random_state=0).sample(30, random_state=0)

    def fit(b1):
        options = {"beta": (b1, 1.0), "n_iter": 100, "n_chains": 1, "random_state": 0}
        return BlockmodelBayesNet(**options).fit(X).best_state_["log_joint"]

    monkeypatch.setattr(chains, "shared_constants", Constants.empty)
    expected = fit(1.0001)
    table = Constants.empty(N)
    monkeypatch.setattr(chains, "shared_constants", lambda N: table)
    fit(1.0)
    assert fit(1.0001) == expected


COLD = """
import hashlib, warnings
warnings.simplefilter("ignore")
from infinimix.networks import BlockmodelBayesNet, sample_network
X = sample_network((3, 4), random_state=0).sample(30, random_state=0)
model = BlockmodelBayesNet(n_iter=30, n_chains=2, n_jobs=2, random_state=0).fit(X)
print(hashlib.sha256(repr((model.edge_marginals_.tolist(), model.states_)).encode()).hexdigest())
"""


def test_a_fit_that_compiles_gives_what_one_with_kernels_on_disk_gives(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COLD]
    cold, cached = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert len(cold.strip()) == 64
    assert cold == cached
